"""Addresses of the tutor's pages: relative ones for links in its text, whole ones to hand out."""

from urllib.parse import urlencode, urljoin

import streamlit as st

from core import link, quiz
from core.setup import Setup
from ui import presenter
from ui.view import View

LOCAL = "http://localhost:8501/"  # where `streamlit run` answers, if the browser has not said


def here(slug: str) -> str:
    """The whole address of a page as this browser reaches it; "" is the start page."""
    return urljoin(st.context.url or LOCAL, slug or ".")


def whole(slug: str, query: str) -> str:
    """The whole address of a page in a state."""
    return f"{here(slug)}?{query}" if query else here(slug)


def state(view: View, **more: str) -> str:
    """The query part for what is on screen: the choices and the selected cell."""
    cell = view.selection
    head = "all" if cell.head is None else str(cell.head)
    return link.query(view.setup, row=cell.row, col=cell.col, channel=cell.channel, head=head, **more)


def of_item(item_id: str, seed: int = 0) -> str:
    """The query part for the state that shows an item."""
    item = quiz.item(item_id, seed)
    return link.query(item.setup, row=item.row, col=item.col, **kept())


def of_start() -> str:
    """The query part for the state that the tutor starts with."""
    return link.query(Setup(), **kept())


def kept() -> dict[str, str]:
    """What goes along with every link inside the tutor: the two switches."""
    switches = {"present": presenter.presenting(), "notes": presenter.with_notes()}
    return {name: "true" for name, on in switches.items() if on}


def relative(slug: str, query: str) -> str:
    """A link for Markdown that works under any base path; followed in the same session (see ui/steps.py)."""
    return f"{slug or '.'}?{query}" if query else (slug or ".")


def to_poll(item_id: str) -> str:
    """The query part of the room where an item is put to the class."""
    return urlencode({"room": "Poll", "poll": item_id, **kept()})


def to_vote(code: str) -> str:
    """The whole address where a learner votes."""
    return f"{here('teach')}?{urlencode({'code': code})}"
