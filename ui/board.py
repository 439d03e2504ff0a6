"""Matrices that are touched: one component draws all of a page's, and hears what the reader picks or edits.

    show_matrices([Matrix("scores", "Scores S", s, words, words, "query", "key", "diverging")],
                  {"query": 4, "key": 1}, key="board", label="Scores", on_pick=pick)

The browser's half is in assets/matrix: it gets the tensor itself (float64, base64) and makes every text and
colour from it, so that what is drawn is what was computed.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from ui.matrix import Ahead, Matrix, news

ASSETS = Path(__file__).resolve().parent.parent / "assets" / "matrix"
# Joined in this order, they are one JavaScript module.
SCRIPTS = ("numbers.js", "colours.js", "layout.js", "view.js", "paint.js", "board.js")
MAX_HEIGHT = 420


def _sent_form(name: str) -> str:
    """The lines of a file without indentation and `//` lines, for Streamlit sends it with every rerun."""
    lines = map(str.strip, (ASSETS / name).read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


_component = st.components.v2.component(
    "attention_matrices",
    css=_sent_form("matrix.css"),
    js="\n".join(map(_sent_form, SCRIPTS)),
)


def show_matrices(
    matrices: Sequence[Matrix],
    selected: Mapping[str, int],
    *,
    key: str,
    label: str,
    on_pick: Callable[[dict[str, int]], None] | None = None,
    on_edit: Callable[[str, int, int, float], None] | None = None,
    on_choose: Callable[[str], None] | None = None,
    max_height: int = MAX_HEIGHT,
    main: str = "",
    scale: float = 1.0,
    ahead: Sequence[Ahead] = (),
) -> None:
    """Draw the matrices as one board, with the cell (selected[row_axis], selected[col_axis]) of each boxed.

    on_pick gets {row_axis: index, col_axis: index} of a picked cell, on_choose the id of the matrix that it
    was picked in; on_edit gets (matrix id, row, column, value) of an edited one. All run before the script
    does, so they may assign the keys of bound widgets.
    max_height (CSS pixels; 0 = to the end of the window) is kept as long as the cells stay readable. main is
    the id of the matrix whose selected number is told until the reader has used another. scale draws
    everything larger, in a room that is max_height × scale high. One key, one board for a page's life.
    ahead: what to show in its place as soon as a slider is moved, until Python has answered.
    """
    _component(
        key=key,
        data=payload(
            matrices,
            selected,
            label=label,
            answered=st.session_state.get(_answered(key), 0),
            pickable=on_pick is not None,
            max_height=max_height,
            main=main,
            scale=scale,
            ahead=ahead,
        ),
        on_sent_change=partial(
            _receive, key, {matrix.id for matrix in matrices}, on_pick, on_edit, on_choose
        ),
    )


def payload(
    matrices: Sequence[Matrix],
    selected: Mapping[str, int],
    *,
    label: str,
    answered: int = 0,
    pickable: bool = True,
    max_height: int = MAX_HEIGHT,
    main: str = "",
    scale: float = 1.0,
    ahead: Sequence[Ahead] = (),
) -> dict[str, Any]:
    """What the browser receives: JSON, with each tensor as base64 of its little-endian bytes, row by row.

    A next picture brings of each matrix only the numbers that do not stand at the same place already, and in
    "news" a bit for each cell that says which these are; null means all.
    answered is the number of the browser's last message that Python has seen: until its own last message is
    answered, the browser keeps its own selection, so that quick keys never jump back.
    """
    return {
        "label": label,
        **_picture(matrices, selected),
        "answered": answered,
        "pickable": pickable,
        "maxHeight": max_height,
        "main": main,
        "scale": scale,
        "ahead": [
            {"slider": step.slider, "start": step.start, "stop": step.stop}
            | _picture(step.matrices, step.selected, matrices)
            for step in ahead
        ],
    }


def _picture(
    matrices: Sequence[Matrix], selected: Mapping[str, int], present: Sequence[Matrix] = ()
) -> dict[str, Any]:
    there = {matrix.id: matrix for matrix in present}
    ids = [matrix.id for matrix in matrices]
    if len(set(ids)) < len(ids):
        raise ValueError(f"Matrices on one board need different ids, found {', '.join(ids)}.")
    return {
        "selected": {axis: int(index) for axis, index in selected.items()},
        "matrices": [_describe(matrix, there.get(matrix.id)) for matrix in matrices],
    }


def _describe(matrix: Matrix, present: Matrix | None) -> dict[str, Any]:
    new = None if present is None else news(matrix, present)
    n_rows, n_cols = matrix.values.shape
    return {
        "id": matrix.id,
        "title": matrix.title,
        "symbol": matrix.symbol or matrix.title,
        "shape": matrix.shape,
        "lead": matrix.lead,
        "place": list(matrix.place),
        "rows": n_rows,
        "cols": n_cols,
        "values": _base64(matrix.values if new is None else matrix.values[new], "<f8"),
        "news": None if new is None else _base64(np.packbits(new), "u1"),
        "rowLabels": [str(text) for text in matrix.row_labels],
        "colLabels": [str(text) for text in matrix.col_labels],
        "rowAxis": matrix.row_axis,
        "colAxis": matrix.col_axis,
        "rowStart": matrix.row_start,
        "colStart": matrix.col_start,
        "colours": matrix.colours,
        "decimals": matrix.decimals,
        "limits": None if matrix.limits is None else [float(limit) for limit in matrix.limits],
        "sources": {id: list(axes) for id, axes in matrix.sources.items()},
        "changed": None if matrix.changed is None else _base64(matrix.changed, "u1"),
        "origin": None if matrix.origin is None else _base64(matrix.origin, "<i4"),
        "editable": matrix.editable,
        "small": matrix.small,
        "switches": matrix.switches,
    }


def _base64(array: np.ndarray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def _answered(key: str) -> str:
    return f"{key}_answered"


def _receive(
    key: str,
    ids: set[str],
    on_pick: Callable[[dict[str, int]], None] | None,
    on_edit: Callable[[str, int, int, float], None] | None,
    on_choose: Callable[[str], None] | None = None,
) -> None:
    """Hand one message of the browser on. It repeats what it has no answer to, so old edits are skipped."""
    board = st.session_state.get(key)
    if board is None:  # the reader has turned the page; the message was for a board that is gone
        return
    message = board["sent"]
    answered = st.session_state.get(_answered(key), 0)
    st.session_state[_answered(key)] = message["n"]
    if on_edit:
        for edit in message["edits"]:
            if edit["n"] > answered and edit["id"] in ids:
                on_edit(edit["id"], int(edit["row"]), int(edit["col"]), float(edit["value"]))
    if on_pick and message["pick"]:
        on_pick({axis: int(index) for axis, index in message["pick"].items()})
    if on_choose and message["pick"] and message["id"] in ids:
        on_choose(message["id"])
