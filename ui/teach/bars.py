"""A poll's votes as bars."""

from collections.abc import Mapping
from html import escape

import streamlit as st

from core import quiz
from core.quiz import Bar, Item
from ui import presenter, text
from ui.poll_store import PollStore, Question


def show(store: PollStore, asked: Question, item: Item) -> None:
    """The bars of this round; once revealed, which answer is right, why, and the bars of the round before."""
    counts = store.counts(asked)
    total(counts)
    st.html(_drawn(quiz.bars(item, counts), asked.revealed))
    if asked.revealed:
        st.markdown(text.literal(item.reason))
        earlier(store, asked, item)


def total(counts: Mapping[str, int]) -> None:
    """How many have voted, and not for what."""
    votes = sum(counts.values())
    st.markdown(f"**{votes}** {'vote' if votes == 1 else 'votes'}")


def earlier(store: PollStore, asked: Question, item: Item) -> None:
    """What the class thought before it talked."""
    if asked.round < 2:
        return
    before = Question(asked.code, asked.item, asked.seed, asked.round - 1)
    with presenter.screen("vote_before"):
        st.markdown("The vote before:")
        st.html(_drawn(quiz.bars(item, store.counts(before)), asked.revealed))


def _drawn(bars: tuple[Bar, ...], revealed: bool) -> str:
    """One line an option: its text, a bar as long as its share, its votes."""
    lines = []
    for bar in bars:
        right = revealed and bar.right
        lines.append(
            f'<div class="{"bar right" if right else "bar"}"><span>{escape(bar.text)}{" ✓" if right else ""}'
            f'</span><i><u style="width:{bar.share:.1%}"></u></i><b>{bar.votes}</b></div>'
        )
    return f'<div class="poll">{"".join(lines)}</div>'
