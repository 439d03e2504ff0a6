"""Q, K and V by hand: the numbers that meet in the selected cell, and the list of all edits."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.edits import parse_edits
from core.setup import Inputs, Setup, with_edit
from ui.assigned import assign
from ui.controls.selection import Selection
from ui.text import literal


def draw() -> tuple[str, DeltaGenerator | None]:
    """-> all edits as text, and the place for `draw_numbers`: None while the fold is closed."""
    edited = bool(st.session_state.get("edits") or st.query_params.get("edits"))
    fold = st.expander("Edit Q, K and V by hand", expanded=edited, key="editing", on_change="rerun")
    with fold:
        numbers = st.container()
        edits = st.text_input(
            "All edits", key="edits", bind="query-params", placeholder="none", max_chars=2000
        )
        st.button("Undo all edits", on_click=_undo, disabled=not parse_edits(edits))
    return edits, numbers if fold.open else None


def draw_numbers(setup: Setup, arrays: Inputs, selection: Selection) -> None:
    """The three numbers that meet in the selected cell, to be changed by hand."""
    head, row, col = selection.head or 0, selection.row, selection.col
    channel = min(selection.channel, len(arrays.channels) - 1)
    value_channel = min(selection.channel, len(arrays.value_channels) - 1)
    query, key = arrays.query_tokens[row], arrays.key_tokens[col]
    name, value_name = arrays.channels[channel], arrays.value_channels[value_channel]
    _number(f"Q: {literal(query)}, {literal(name)}", setup, "q", arrays.q, (head, row, channel))
    _number(f"K: {literal(key)}, {literal(name)}", setup, "k", arrays.k, (head, col, channel))
    _number(f"V: {literal(key)}, {literal(value_name)}", setup, "v", arrays.v, (head, col, value_channel))


def _number(label: str, setup: Setup, tensor: str, array: Any, cell: tuple[int, int, int]) -> None:
    """One cell of q, k or v as a number to type."""
    key = f"edit_{tensor}"
    st.session_state[key] = float(array[cell])

    def keep() -> None:
        keep_edit(setup, tensor, *cell, st.session_state[key])

    st.number_input(label, -99.0, 99.0, step=1.0, format="%g", key=key, on_change=keep)


def keep_edit(setup: Setup, tensor: str, head: int, row: int, channel: int, value: float) -> None:
    """Callback: write one edited number into the URL's list of edits."""
    assign({"edits": with_edit(setup, tensor, head, row, channel, value)})


def _undo() -> None:
    assign({"edits": ""})
