"""The keys that turn the pages, for readers and for a clicker in front of a class: one small component."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

SCRIPT = Path(__file__).parents[1] / "assets" / "steps" / "steps.js"

_component = st.components.v2.component("lesson_steps", js=SCRIPT.read_text(encoding="utf-8"))


def listen(
    slugs: Sequence[str], page: str, *, present: bool, notes: bool, on_leave: Callable[[], None]
) -> None:
    """Turn pages by key. `slugs` are all pages, the start page "" as in its address; `page` is the one shown.

    Left and right step when nothing with the focus uses them. In presenter mode a page is shown one screen at
    a time: up and down go between its screens, Page Up and Page Down also on to the pages beside it, wherever
    the focus is but in a text box or an open list; 1 to 9 open a page, R reveals, S opens the sidebar, Escape
    leaves (`on_leave` is called). Links in a page's text that lead to a page in a given state are followed in
    the same session.
    """
    _component(
        key="steps",
        data={"pages": list(slugs), "page": page, "present": present, "notes": notes},
        on_leave_change=on_leave,
        on_again_change=_run_again,
    )


def _run_again() -> None:
    """Callback for a page that has found its server again. The run is all that it is for."""
