"""The selected cell: its inputs in the sidebar, and whatever else changes it."""

from dataclasses import dataclass

import streamlit as st

from core.examples import EXAMPLES
from core.setup import Inputs, Setup
from ui.assigned import assign
from ui.text import literal

FIRST_CELL = EXAMPLES[Setup().example]
ALL_HEADS = "all"


@dataclass(frozen=True, slots=True)
class Selection:
    """The cell that the reader looks at, as indices into the tensors."""

    row: int  # which query
    col: int  # which key
    channel: int  # which channel of q and k, and which of v and the output
    head: int | None  # None = all heads side by side


def within(selection: Selection, arrays: Inputs) -> Selection:
    """The selected cell, or the nearest one that there is."""
    most = {key: size - 1 for key, size in _index_sizes(arrays).items()}
    row, col, channel = (min(getattr(selection, key), most[key]) for key in ("row", "col", "channel"))
    return Selection(row, col, channel, selection.head)


def heads_shown(n_heads: int) -> list[str]:
    """What there is to show: one head or all of them."""
    return [str(head) for head in range(n_heads)] + [ALL_HEADS] * (n_heads > 1)


def draw(arrays: Inputs, n_heads: int) -> Selection:
    """Draw the selected cell's indices: the keyboard's way to any cell, and what the URL keeps."""
    heading = st.empty()
    starts = {"row": FIRST_CELL.row, "col": FIRST_CELL.col, "channel": 0}
    labels = {"row": "Query", "col": "Key", "channel": "Channel"}
    for column, (key, size) in zip(st.columns(3), _index_sizes(arrays).items(), strict=True):
        with column:
            _index(labels[key], key, size, starts[key])
    selection = held(n_heads)
    query, key = arrays.query_tokens[selection.row], arrays.key_tokens[selection.col]
    heading.markdown(f"**Selected** {literal(f'{query} → {key}')}")
    return selection


def _index_sizes(arrays: Inputs) -> dict[str, int]:
    """How many there are to select from, by the index's key."""
    n_channels = max(len(arrays.channels), len(arrays.value_channels))
    return {"row": len(arrays.query_tokens), "col": len(arrays.key_tokens), "channel": n_channels}


def clamp(arrays: Inputs) -> None:
    """Hold every index within the arrays, whose sizes can shrink."""
    for key, size in _index_sizes(arrays).items():
        _clamp(key, size)


def _clamp(key: str, size: int) -> None:
    if st.session_state.get(key, 0) > size - 1:
        st.session_state[key] = size - 1


def _index(label: str, key: str, size: int, start: int) -> None:
    """One bound index, counted from 0 as in the code; clamped first, for the sizes can shrink."""
    _clamp(key, size)
    st.number_input(label, 0, size - 1, min(start, size - 1), key=key, bind="query-params")


def held(n_heads: int) -> Selection:
    """The selected cell, as its widgets hold it."""
    state = st.session_state
    shown = state["head"] if n_heads > 1 else "0"
    return Selection(state["row"], state["col"], state["channel"], None if shown == ALL_HEADS else int(shown))


def pick(cell: dict[str, int]) -> None:
    """Callback of every matrix: the picked cell's axes become the selection."""
    names = {"query": "row", "key": "col", "channel": "channel", "value_channel": "channel"}
    assign({names[axis]: index for axis, index in cell.items() if axis in names})
