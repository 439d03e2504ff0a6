"""The Heads page's labs: right and wrong ways to cut and join, and what several heads are worth."""

import numpy as np
import streamlit as st

from core.experiments.heads_compared import cost_lab, mixing_lab, width_lab
from core.experiments.prose import sizes
from core.experiments.splitting import loop_lab, merge_lab, split_lab
from core.heads import merge_heads
from core.setup import allowed
from ui import charts, figures, presenter, text
from ui.labs import bench
from ui.matrix import Matrix
from ui.view import View

MOST_WORDS, MOST_COLUMNS = 8, 16  # of the maps of origins are drawn
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
WIDTHS = (64, 128, 256, 512, 1024)


def show(view: View) -> None:
    """The chooser and the open lab; `view` has two heads or more."""
    bench.choose("heads", LABS, view)


def split(view: View) -> None:
    """K cut into heads, with the transpose and without."""
    given = view.inputs
    if _one_query(view):
        return
    lab = split_lab(*(merge_heads(x) for x in (given.q, given.k, given.v)), view.setup.n_heads)
    h, seq_len, d_k = lab.right_origins.shape
    words = [f"h{head} {word}" for head in range(h) for word in given.key_tokens]
    rows = [f"h{head} row {row}" for head in range(h) for row in range(seq_len)]
    sides = (
        ("right", "reshape, then transpose", lab.right.k, lab.right_origins, words),
        ("wrong", "reshape alone", lab.wrong.k, lab.wrong_origins, rows),
    )
    drawn = [
        _origins(
            id, title, values.reshape(h * seq_len, d_k), origin.reshape(h * seq_len, d_k), slot, labels,
            given.channels,
        )
        for slot, (id, title, values, origin, labels) in enumerate(sides)
    ]  # fmt: skip
    weights = [
        bench.matrix(
            view, "weights", steps.weights[view.head], (0, 2 + slot), id=f"{id}_weights",
            title=f"Weights, {id}",
        )
        for slot, (id, steps) in enumerate((("right", lab.right), ("wrong", lab.wrong)))
    ]  # fmt: skip
    beside = not presenter.presenting() or h * seq_len * d_k <= presenter.FEW_NUMBERS
    bench.board(view, drawn + weights * beside, "K cut into heads, right and wrong", 340)
    if not beside:
        with presenter.screen("weights"):
            bench.board(view, weights, "The weights, right and wrong", key="lab_weights")
    bench.tell_below(lab)


def merge(view: View) -> None:
    """The heads' outputs joined, with the transpose and without."""
    lab = merge_lab(view.steps.heads.output)
    columns = [str(column) for column in range(lab.right.shape[1])]
    sides = (
        ("right", "transpose, then reshape", lab.right, lab.right_origins),
        ("wrong", "reshape alone", lab.wrong, lab.wrong_origins),
    )
    drawn = [
        _origins(id, title, values, origin, slot, view.inputs.query_tokens, columns)
        for slot, (id, title, values, origin) in enumerate(sides)
    ]
    bench.board(view, drawn, "The heads joined, right and wrong")
    bench.tell_below(lab)


def _origins(
    id: str, title: str, values: np.ndarray, origin: np.ndarray, slot: int, rows, columns,  # noqa: ANN001
) -> Matrix:  # fmt: skip
    """The upper left corner of a tensor, every element coloured by the word that it came from."""
    corner = slice(2 * MOST_WORDS), slice(MOST_COLUMNS)
    return Matrix(
        id=id, title=title, values=values[corner], origin=origin[corner], row_labels=rows[corner[0]],
        col_labels=columns[corner[1]], row_axis="lab row", col_axis="lab column", colours="origin",
        decimals=1, place=(0, slot), shape=sizes(values),
    )  # fmt: skip


def loop(view: View) -> None:
    """One head after the other, all at once, and what happens without the transpose."""
    if _one_query(view):
        return
    lab = loop_lab(view.inputs.q, view.inputs.k, view.inputs.v)
    row, heads = view.selection.row, [f"head {head}" for head in range(len(lab.loop))]
    passes = (("loop", "Loop", lab.loop), ("batched", "One product", lab.batched))
    drawn = [
        bench.matrix(view, "output", values[view.head], (0, slot), id=id, title=title)
        for slot, (id, title, values) in enumerate(passes)
    ]
    drawn.append(
        Matrix(
            id="between", title=f"No transpose: {view.inputs.query_tokens[row]}",
            values=lab.between_heads[row], row_labels=heads, col_labels=heads, row_axis="from head",
            col_axis="to head", colours="share",
            decimals=2, place=(0, 2), shape=f"{len(heads)} × {len(heads)}",
        )
    )  # fmt: skip
    bench.board(view, drawn, "A loop over heads and one product")
    bench.tell_below(lab)


def width(view: View) -> None:
    """One wide head against several narrow ones."""
    given = view.inputs
    lab = width_lab(given.q, given.k, given.v, given.query_tokens, given.key_tokens, allowed(view.setup))
    maps = [("wide", "One wide head", lab.wide.weights)]
    maps += [(f"narrow{head}", f"Head {head}", weights) for head, weights in enumerate(lab.narrow.weights)]
    bench.board(
        view,
        [
            bench.matrix(view, "weights", values, divmod(slot, 3), id=id, title=title)
            for slot, (id, title, values) in enumerate(maps)
        ],
        "One wide head and several narrow ones",
    )
    with presenter.screen("read"):
        st.markdown(text.literal(lab.row_caption(view.selection.row)))
        bench.tell(lab)


def cost(view: View) -> None:  # noqa: ARG001 - its sizes are those of a real layer
    """Multiply-adds and softmax entries for 1, 2, 4 and 8 heads."""
    left, right = st.columns(2, gap="medium")
    with left:
        seq_len = st.select_slider("Sequence length T", LENGTHS, 128, key="cost_len", bind="query-params")
    with right:
        d_model = st.select_slider("Width d_model", WIDTHS, 512, key="cost_width", bind="query-params")
    lab = cost_lab(seq_len, d_model)
    first = lab.costs[0]
    series = {
        "multiply-adds of Q Kᵀ": np.array([one.scores / first.scores for one in lab.costs]),
        "softmax entries": np.array([one.softmax_entries / first.softmax_entries for one in lab.costs]),
    }
    bench.table(lab.table)
    with presenter.screen("picture"):
        picture, words = bench.halves()
    with picture:
        labels = [f"{one.n_heads} heads" if one.n_heads > 1 else "1 head" for one in lab.costs]
        charts.show(
            figures.grouped_bars(labels, series, charts.theme(), y_title="times as much as with 1 head"),
            taller=presenter.ALONE,
        )
    with words:
        bench.tell(lab)


def mixing(view: View) -> None:
    """W_O between the identity, which leaves the heads side by side, and the example's own."""
    amount = st.slider("From identity (0) to W_O (1)", 0.0, 1.0, 0.5, 0.05, key="mixing", bind="query-params")
    lab = mixing_lab(view.steps.heads.output, view.steps.w_o, amount)
    inner = [f"h{head} {name}" for head in range(view.setup.n_heads) for name in view.inputs.value_channels]
    outer = [str(channel) for channel in range(lab.output.shape[1])]
    words, heads = view.inputs.query_tokens, [f"head {head}" for head in range(view.setup.n_heads)]
    parts = (
        ("Concat", lab.concat, words, inner, ("query", "concat channel"), "diverging"),
        ("W_O at this setting", lab.w_o, inner, outer, ("concat channel", "model channel"), "diverging"),
        ("Output", lab.output, words, outer, ("query", "model channel"), "diverging"),
        ("Share of each head", lab.head_shares.T, heads, outer, ("head", "model channel"), "share"),
    )
    most = MOST_COLUMNS if presenter.presenting() else None
    drawn = [
        Matrix(
            id=f"mix{i}", title=title, values=values[:most, :MOST_COLUMNS], row_labels=rows[:most],
            col_labels=columns[:MOST_COLUMNS], row_axis=axes[0], col_axis=axes[1], colours=colours,
            decimals=2 if colours == "share" else 1, place=divmod(i, 2),
            shape=sizes(values),
        )
        for i, (title, values, rows, columns, axes, colours) in enumerate(parts)
    ]  # fmt: skip
    first = 2 if presenter.presenting() else len(drawn)
    bench.board(view, drawn[:first], "Concatenate, then mix", 460)
    if drawn[first:]:
        with presenter.screen("output"):
            bench.board(view, drawn[first:], "The mixed output", key="lab_output")
    bench.tell_below(lab)


def _one_query(view: View) -> bool:
    """Whether this example has one query for many keys, where these labs have nothing to compare."""
    if view.inputs.q.shape[1] == view.inputs.k.shape[1]:
        return False
    st.info(text.part("labs/labs", "One query"))
    return True


LABS = {
    "Wrong reshape": split,
    "Wrong merge": merge,
    "Loop or product": loop,
    "One wide head": width,
    "Cost": cost,
    "W_O mixes": mixing,
}
