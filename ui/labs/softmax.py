"""The Softmax page's labs: how hard the choice is, what leaves it as it is, what floats do to it."""

from dataclasses import replace

import numpy as np
import streamlit as st

from core.experiments.dilution import dilution_lab
from core.experiments.formats import formats_lab
from core.experiments.hardness import axis_lab, hardness_lab, shift_lab, soft_hard_lab
from core.readouts import column_sums, row_sums
from ui import charts, figures, tensors
from ui.choice import one_of
from ui.labs import bench
from ui.matrix import Matrix
from ui.view import View

LARGE_ROW = (1000.0, 1001.0, 1002.0)


def show(view: View) -> None:
    """The chooser and the open lab."""
    bench.choose("softmax", LABS, view)


def _row(view: View):  # noqa: ANN202
    """The selected row, as it goes into softmax."""
    return view.one.masked_scores[view.selection.row]


def hardness(view: View) -> None:
    """From equal shares to the winner taking all, by one multiplier."""
    multiplier = st.slider("Scores times", 0.0, 10.0, 3.0, 0.5, key="hardness", bind="query-params")
    lab = hardness_lab(_row(view), multiplier, view.inputs.key_tokens)
    _bars(view, {f"scores times {multiplier:g}": lab.weights, "scores as they are": lab.usual}, lab)


def shift(view: View) -> None:
    """A constant added to every score of the row."""
    amount = st.slider("Added to every score", -1000, 1000, 100, 50, key="shift", bind="query-params")
    lab = shift_lab(_row(view), float(amount))
    names = "before", f"with {amount:+d}".replace("-", "−")
    _bars(view, dict(zip(names, (lab.before, lab.after), strict=True)), lab)


def _bars(view: View, series: dict, record: bench.Record) -> None:
    """Weights of the selected row as bars, twice, with what they tell."""
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures.grouped_bars(
                view.inputs.key_tokens, series, charts.theme(), y_title="weight", y_range=(0, 1.08),
                x_title=f"the row of {view.inputs.query_tokens[view.selection.row]}",
            )
        )  # fmt: skip
    with words:
        bench.tell(record)


def axis(view: View) -> None:
    """Softmax over the rows, and over the columns by mistake."""
    lab = axis_lab(view.one.masked_scores, view.inputs.key_tokens)
    board = _with_sums(view, lab.by_row, "Over each row", "by row", 0)
    board += _with_sums(view, lab.by_column, "Over each column: wrong", "by column", 2)
    bench.board(view, board, "Softmax over rows and over columns")
    bench.tell_below(lab)


def _with_sums(view: View, weights: np.ndarray, title: str, way: str, slot: int) -> list[Matrix]:
    """Weights, the sums of their rows at the right and of their columns below."""
    rows = tensors.sums(view, row_sums(weights), "row", (0, slot + 1))
    columns = tensors.sums(view, column_sums(weights), "column", (1, slot))
    return [
        bench.matrix(view, "weights", weights, (0, slot), id=way, title=title),
        replace(rows, id=f"{way} rows", title=f"Row sums, {way}", sources={}),
        replace(columns, id=f"{way} columns", title=f"Column sums, {way}", sources={}),
    ]


def soft_and_hard(view: View) -> None:
    """How one channel of the output follows each score: a blend, and the winner alone."""
    channel, names = view.value_channel, view.inputs.value_channels
    lab = soft_hard_lab(_row(view), view.one.v, channel, names[channel], view.inputs.key_tokens)
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures.grouped_bars(
                view.inputs.key_tokens, {"soft": lab.soft_slopes, "hard": lab.hard_slopes}, charts.theme(),
                y_title=f"slope of the output {names[channel]}", x_title="by the score of",
            )
        )  # fmt: skip
    with words:
        bench.tell(lab)


def formats(view: View) -> None:
    """The same row in four number formats."""
    rows = {"1000, 1001, 1002": LARGE_ROW, "the selected row": None}
    chosen = one_of("Scores", list(rows), default="1000, 1001, 1002", key="format_row")
    lab = formats_lab(_row(view) if rows[chosen] is None else np.array(LARGE_ROW))
    bench.table(lab.table)
    bench.tell(lab)


def dilution(view: View) -> None:  # noqa: ARG001 - its keys are its own
    """The same gap among more and more keys."""
    gap = st.slider("One score is above the others by", 0.0, 20.0, 4.0, 0.5, key="gap", bind="query-params")
    lab = dilution_lab(gap)
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures.grouped_bars(
                [f"{n} keys" for n in lab.n_keys], {"weight of the one that stands out": lab.needle},
                charts.theme(), y_title="weight", y_range=(0, 1.08),
            )
        )  # fmt: skip
    with words:
        bench.tell(lab)


LABS = {
    "Hardness": hardness,
    "Shift": shift,
    "Rows or columns": axis,
    "Soft or hard": soft_and_hard,
    "Number formats": formats,
    "Dilution": dilution,
}
