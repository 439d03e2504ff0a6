"""Bound inputs that get their value from another part of the page, and not from the reader's own hand.

A picked cell is written into the boxes of the sidebar, a slider hands its number to the box beside it. Until
the answer with the new number has reached the browser, everything that the reader does comes with the box's
old number, which would undo the first action. Such an echo is known by its value and by how soon it comes.
"""

import time
from collections.abc import Mapping

import streamlit as st

ECHO_SECONDS = 0.8  # an answer is there by then; sooner nobody types the old number again
_ASSIGNED = "assigned"  # session_state: key -> (its value, the values before, when)


def assign(values: Mapping[str, int | float | str]) -> None:
    """In a callback, or before they are drawn: give inputs these values.

    Streamlit tells the browser of an address that changes. Where a reader was there and back before the first
    answer came, nothing changes, yet that answer is under way with the address of the first move: so say
    the address once more.
    """
    state = st.session_state
    if all(state.get(key) == value for key, value in values.items()):
        st.query_params.update()
    for key, value in values.items():
        _, before, _ = _latest().get(key, (None, set(), 0.0))
        state[_ASSIGNED] = _latest() | {key: (value, (before | {state.get(key)}) - {value}, time.monotonic())}
    state.update(values)


def settle() -> None:
    """Before any input of a run is asked or drawn: an echo counts as what was assigned."""
    for key, (value, _, _) in _latest().items():
        if is_echo(key):
            st.session_state[key] = value


def is_echo(key: str) -> bool:
    """Whether the input's value is one from before the latest assignment."""
    _, before, _ = _latest().get(key, (None, set(), 0.0))
    return st.session_state.get(key) in before


def _latest() -> dict[str, tuple[int | float | str, set, float]]:
    """The assignments that the browser may not have heard of yet."""
    now = time.monotonic()
    assigned = st.session_state.get(_ASSIGNED, {})
    return {key: entry for key, entry in assigned.items() if now - entry[2] < ECHO_SECONDS}
