"""The trace card: one cell through the four steps, 8 → 4 → 0.854 → 7.85, with less and less given.

It shares its place with the written-out calculation: "By hand" puts blanks where the numbers stood, and
the card shows none of them before it was found.
"""

from collections.abc import Callable
from html import escape

import streamlit as st

from core.trace import LEVEL_OF, Blank, Card, Checked, card_of, check_card, is_complete
from ui import text
from ui.view import View

BY_HAND = "by_hand"  # URL parameter
_ICONS = {"right": ":material/check:", "wrong": ":material/close:", "unreadable": ":material/question_mark:"}
_NARROW = 12  # characters of a line that leaves room for others beside it


def show(view: View, slug: str, written: Callable[[], None]) -> None:
    """The selected cell: its calculation written out, or with blanks to fill; then the chain of the steps."""
    card = card_of(
        view.one, view.inputs, LEVEL_OF[slug], view.selection.row, view.selection.col, view.value_channel
    )
    worked = st.container(gap="small")
    with st.container(key="trace", horizontal=True, vertical_alignment="center", gap="small"):
        chain = st.container(width="content")
        by_hand = bool(card.blanks) and st.toggle("By hand", key=BY_HAND, bind="query-params")
    with worked:
        complete = fill(card, f"{slug} {view.setup} {view.selection}") if by_hand else written()
    with chain:
        _chain(card.question, card.chain if by_hand and not complete else card.solved)


def alone(card: Card) -> None:
    """The card with nothing given and nothing written out beside it."""
    complete = fill(card, "alone")
    _chain(card.question, card.solved if complete else card.chain)
    if complete:
        st.markdown(text.part("check", "Alone done"))


def fill(card: Card, place: str) -> bool:
    """The blanks, checked as they are filled; whether all are right. `place` tells equal cards apart."""
    keys = {blank.id: f"trace {place} {blank.id}" for blank in card.blanks}
    checked = check_card(card, {name: st.session_state.get(key, "") for name, key in keys.items()})
    with st.container(key="by_hand_blanks", gap="small"):
        st.markdown(f"**{text.literal(card.question)}**, by hand")
        narrow = all(len(_words(line)) <= _NARROW for line in card.lines)
        with st.container(horizontal=narrow, gap="small"):
            for line in card.lines:
                _line(line, keys, checked)
        for name, result in checked.items():
            if result.state in ("wrong", "unreadable"):
                label = next(blank.label for blank in card.blanks if blank.id == name)
                st.markdown(f":orange[{_ICONS[result.state]}] {text.literal(f'{label}: {result.sentence}')}")
        if is_complete(checked):
            st.markdown(":green[:material/check:] All right.")
    return is_complete(checked)


def _line(line: tuple[str | Blank, ...], keys: dict[str, str], checked: dict[str, Checked]) -> None:
    """One line of the card, its words above its blank."""
    words = _words(line)
    with st.container(width=92 if len(words) <= _NARROW else "stretch", gap=None):
        st.markdown(text.literal(words))
        for blank in (part for part in line if isinstance(part, Blank)):
            st.text_input(
                blank.label, key=keys[blank.id], max_chars=40, autocomplete="off", width=92,
                icon=_ICONS.get(checked[blank.id].state), label_visibility="collapsed",
                persist_state="session",
            )  # fmt: skip


def _words(line: tuple[str | Blank, ...]) -> str:
    return "".join(part for part in line if isinstance(part, str)).strip().rstrip(":")


def _chain(question: str, chain: tuple[tuple[str, str], ...]) -> None:
    """Four boxes. Only the core's own numbers are in them; what is not known yet is a question mark."""
    boxes = "<i>→</i>".join(
        f"<span><small>{step}</small><b>{escape(number or '?')}</b></span>" for step, number in chain
    )
    st.html(f'<div class="chain" role="group" aria-label="{escape(question)}">{boxes}</div>')
