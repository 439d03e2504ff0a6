"""The room with the lesson plans: each stop links to its page in the state that it needs."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core import quiz
from ui import presenter, text
from ui.choice import one_of
from ui.teach import address
from ui.teaching import PLANS, Stop, plan
from ui.view import View

LENGTHS = {f"{minutes} minutes": minutes for minutes in PLANS}


def show(_: View, titles: Mapping[str, str]) -> None:
    """One plan as a table; the minutes add up from stop to stop."""
    length = one_of(
        "Length", list(LENGTHS), default="50 minutes", key="plan",
        label_visibility="collapsed",
    )  # fmt: skip
    chosen = plan(LENGTHS[length])
    st.markdown(f"**{chosen.title}.** {chosen.about}")
    lines = rows(chosen.stops, titles)
    first = (len(lines) + 1) // 2 if presenter.presenting() else len(lines)
    _table("plan_table", lines[:first])
    if lines[first:]:
        with presenter.screen("second_half"):
            _table("plan_table_rest", lines[first:])


def rows(stops: tuple[Stop, ...], titles: Mapping[str, str]) -> list[str]:
    """The stops as rows in Markdown, each with the minute at which it begins; the end of the lesson last."""
    lines, begin = [], 0
    for stop in stops:
        lines.append(f"| {begin} | {_page(stop, titles)} | {_question(stop)} | {stop.what} |")
        begin += stop.minutes
    return [*lines, f"| {begin} | | | *End* |"]


def _table(key: str, lines: Sequence[str]) -> None:
    header = ["| Minute | Page | Question | What you do |", "| --: | :-- | :-- | :-- |"]
    with st.container(key=key):
        st.markdown("\n".join([*header, *lines]))


def _page(stop: Stop, titles: Mapping[str, str]) -> str:
    """The stop's page, in the state of its question."""
    query = address.of_item(stop.item) if stop.item else address.of_start()
    slug = "" if stop.page == next(iter(titles)) else stop.page
    return f"[{titles[stop.page]}]({address.relative(slug, query)})"


def _question(stop: Stop) -> str:
    """The question, linked to the room where it is put to the class."""
    if not stop.item:
        return ""
    asked = text.literal(quiz.item(stop.item).question)
    if stop.item not in quiz.POLLS:
        return f"{stop.item}: {asked}"
    return f"[{stop.item}]({address.relative('teach', address.to_poll(stop.item))}): {asked}"
