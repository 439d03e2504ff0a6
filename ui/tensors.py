"""How each tensor is drawn, the same on every page: its title, axes, colours and sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.experiments.prose import sizes
from core.heads import merge_heads
from core.ladder import Rung, ladder
from ui.matrix import Matrix
from ui.view import View

MOST_CHANNELS = 8  # of q and k are drawn; the arithmetic holds all
FEW_CHANNELS = 4  # when the sequence is long, so that the cells keep their size


@dataclass(frozen=True, slots=True)
class Tensor:
    """How one tensor is drawn, the same on every page."""

    title: str
    symbol: str
    rows: str  # axis names: query, key, channel, value_channel
    cols: str
    colours: str
    decimals: int
    sources: Mapping[str, Sequence[str]]


TENSORS = {
    "q": Tensor("Queries Q", "Q", "query", "channel", "diverging", 1, {}),
    "k": Tensor("Keys K", "K", "key", "channel", "diverging", 1, {}),
    "v": Tensor("Values V", "V", "key", "value_channel", "sequential", 1, {}),
    "scores": Tensor("Scores S", "S", "query", "key", "diverging", 1, {"q": ["query"], "k": ["key"]}),
    "scaled_scores": Tensor(
        "Scaled scores Z", "Z", "query", "key", "diverging", 1, {"scores": ["query", "key"]}
    ),
    "masked_scores": Tensor(
        "Masked scores", "Z", "query", "key", "diverging", 1, {"scaled_scores": ["query", "key"]}
    ),
    "weights": Tensor(
        "Weights A", "A", "query", "key", "share", 2, {"masked_scores": ["query"], "scaled_scores": ["query"]}
    ),
    "output": Tensor(
        "Output O",
        "O",
        "query",
        "value_channel",
        "sequential",
        1,
        {"weights": ["query"], "v": ["value_channel"]},
    ),
}


def matrix(
    view: View, name: str, place: tuple[int, int] = (0, 0), head: int | None = None, **more: Any
) -> Matrix:
    """The tensor `name` of one head, ready to be drawn; `more` overrides fields of Matrix."""
    head = view.head if head is None else head
    tensor = TENSORS[name]
    values = getattr(view.steps.heads, name)[head]
    marks = view.changed[name][head] if view.changed else None
    labels = {
        "query": view.inputs.query_tokens,
        "key": view.inputs.key_tokens,
        "channel": view.inputs.channels,
        "value_channel": view.inputs.value_channels,
    }
    drawn: dict[str, Any] = {
        "id": name,
        "title": tensor.title,
        "symbol": tensor.symbol,
        "values": values,
        "row_labels": labels[tensor.rows],
        "col_labels": labels[tensor.cols],
        "row_axis": tensor.rows,
        "col_axis": tensor.cols,
        "colours": _signed(tensor.colours, values),
        "decimals": tensor.decimals,
        "place": place,
        "shape": sizes(values),
        "sources": tensor.sources,
        "changed": marks,
        "editable": name in ("q", "k", "v"),
    }
    made = Matrix(**drawn | more)
    return cut_channels(made, value_channels_drawn(view)) if tensor.cols == "value_channel" else made


def all_heads(view: View, name: str, small: bool = False) -> list[Matrix]:
    """The same tensor of every head, side by side in rows of four; small ones show colours only."""
    return [
        matrix(
            view, name, divmod(head, 4), head,
            id=f"{name}.{head}", title=f"Head {head}", editable=False, small=small,
        )
        for head in range(view.setup.n_heads)
    ]  # fmt: skip


def channels_drawn(view: View) -> slice:
    """Which channels of q and k are drawn: a window that holds the selected one."""
    most = MOST_CHANNELS if view.setup.seq_len <= 10 else FEW_CHANNELS
    start = view.channel // most * most
    return slice(start, min(start + most, len(view.inputs.channels)))


def value_channels_drawn(view: View) -> slice:
    """The same for v and the output; only trained heads are so wide that a part must do."""
    start = view.value_channel // MOST_CHANNELS * MOST_CHANNELS
    return slice(start, min(start + MOST_CHANNELS, len(view.inputs.value_channels)))


def cut_channels(drawn: Matrix, shown: slice) -> Matrix:
    """Only some columns of a matrix; its labels, picks and printed shape stay those of the whole."""
    if shown.start == 0 and shown.stop >= drawn.values.shape[1]:
        return drawn
    return replace(
        drawn,
        title=f"{drawn.title}, columns {shown.start} to {shown.stop - 1}",
        values=drawn.values[:, shown],
        col_labels=drawn.col_labels[shown],
        col_start=shown.start,
        changed=None if drawn.changed is None else drawn.changed[:, shown],
    )


def transposed(drawn: Matrix, title: str) -> Matrix:
    """The same numbers with the axes swapped, as in Kᵀ; the id says so, since an edit comes back by it."""
    _, cut, part = drawn.title.partition(", columns ")
    return replace(
        drawn,
        id=f"{drawn.id}T",
        title=f"{title}, rows {part}" if cut else title,
        values=drawn.values.T,
        row_labels=drawn.col_labels,
        col_labels=drawn.row_labels,
        row_axis=drawn.col_axis,
        col_axis=drawn.row_axis,
        row_start=drawn.col_start,
        col_start=drawn.row_start,
        shape=" × ".join(reversed(drawn.shape.split(" × "))),
        changed=None if drawn.changed is None else drawn.changed.T,
    )


def _signed(colours: str, values: np.ndarray) -> str:
    """A sequential scale cannot show a sign: numbers below 0 ask for the diverging one."""
    return "diverging" if colours == "sequential" and (values < 0).any() else colours


def sums(view: View, values: np.ndarray, axis: str, place: tuple[int, int]) -> Matrix:
    """What the weights add up to along one axis: a column of row sums or a row of column sums."""
    labels: dict[str, Any]
    axes: dict[str, Any]
    if axis == "row":
        labels = {"row_labels": view.inputs.query_tokens, "col_labels": ["sum"]}
        axes = {"row_axis": "query", "col_axis": "sum", "sources": {"weights": ["query"]}}
    else:
        labels = {"row_labels": ["sum"], "col_labels": view.inputs.key_tokens}
        axes = {"row_axis": "sum", "col_axis": "key", "sources": {"weights": ["key"]}}
    return Matrix(
        id=f"{axis}_sums",
        title=f"{axis.capitalize()} sums",
        symbol=f"{axis} sum",
        values=values,
        colours="sequential",
        limits=(0.0, float(view.inputs.q.shape[-2])),  # a key collects at most 1 from each query
        decimals=2,
        place=place,
        **labels,
        **axes,
    )


def leak_strips(view: View, leaks: Mapping[str, np.ndarray]) -> Matrix:
    """How far each output row moved when a word was replaced: one row for each mask."""
    return Matrix(
        id="leak",
        title="How far each output row moves",
        symbol="moved",
        values=np.stack(list(leaks.values())),
        row_labels=[mask if mask != "none" else "no mask" for mask in leaks],
        col_labels=view.inputs.query_tokens,
        row_axis="mask",
        col_axis="query",
        colours="sequential",
        decimals=1,
    )


MOST_RUNG_ROWS = 16  # rows drawn of the rungs that have one row for each position and head
MOST_RUNG_COLUMNS = 16  # columns drawn of the rungs that have all heads side by side


def rung_corner(view: View) -> tuple[int, int]:
    """How many words, and how many channels of each head, the rungs draw."""
    n_heads, n_q, d_k = view.inputs.q.shape
    return min(n_q, max(2, MOST_RUNG_ROWS // n_heads)), min(d_k, MOST_RUNG_COLUMNS // n_heads)


def rungs(view: View) -> list[Matrix]:
    """Q on its way into the heads and back, every element coloured by the word that it belongs to."""
    n_heads = view.setup.n_heads
    n_rows, width = rung_corner(view)
    # The corner that is drawn is a tensor of its own: fewer words and channels, the same heads.
    corner = merge_heads(view.inputs.q[None, :, :n_rows, :width])
    words, heads = view.inputs.query_tokens[:n_rows], range(n_heads)
    packed = [f"h{head} {name}" for head in heads for name in view.inputs.channels[:width]]
    by_word = [f"{word}, h{head}" for word in words for head in heads]
    by_head = [f"h{head}, {word}" for head in heads for word in words]
    shapes = _rung_shapes(view)
    rows = (words, by_word, by_head, words)
    columns = (packed, view.inputs.channels[:width], view.inputs.channels[:width], packed)
    return [
        _rung(rung, number, shapes[number], rows[number], columns[number])
        for number, rung in enumerate(ladder(corner, n_heads))
    ]


def _rung(rung: Rung, number: int, shape: str, rows: Sequence[str], columns: Sequence[str]) -> Matrix:
    """One rung as a matrix: all axes but the last go down, the last goes across."""
    return Matrix(
        id=f"rung{number}",
        title=f"{number + 1}. {rung.name}",
        symbol="Q",
        values=rung.tensor.reshape(-1, rung.tensor.shape[-1]),
        origin=rung.position.reshape(-1, rung.tensor.shape[-1]),
        row_labels=rows,
        col_labels=columns,
        row_axis="query" if number in (0, 3) else f"rung{number} row",
        col_axis="packed channel" if number in (0, 3) else "rung channel",
        colours="origin",
        decimals=1,
        place=(0, number),
        shape=shape,
    )


def _rung_shapes(view: View) -> tuple[str, str, str, str]:
    """The whole tensor's shape on each rung, though only its corner is drawn."""
    n_heads, n_q, d_k = view.inputs.q.shape
    packed = f"1 × {n_q} × {n_heads * d_k}"
    return packed, f"1 × {n_q} × {n_heads} × {d_k}", f"1 × {n_heads} × {n_q} × {d_k}", packed


def join(view: View) -> list[Matrix]:
    """The heads' outputs side by side, W_O on top, their product where they meet."""
    steps, names = view.steps, view.inputs.value_channels
    side_by_side = [f"h{head} {name}" for head in range(view.setup.n_heads) for name in names]
    model_channels = [str(channel) for channel in range(view.setup.d_model)]
    words = view.inputs.query_tokens
    concat = Matrix(
        id="concat", title="Concat", values=steps.concat, row_labels=words, col_labels=side_by_side,
        row_axis="query", col_axis="concat channel", colours="diverging", decimals=1, place=(1, 0),
        shape=sizes(steps.concat), changed=view.changed.get("concat"),
    )  # fmt: skip
    w_o = Matrix(
        id="w_o", title="W_O", values=steps.w_o, row_labels=side_by_side, col_labels=model_channels,
        row_axis="concat channel", col_axis="model channel", colours="diverging", place=(0, 1),
        shape=sizes(steps.w_o),
    )  # fmt: skip
    projected = Matrix(
        id="projected", title="Output", values=steps.output, row_labels=words, col_labels=model_channels,
        row_axis="query", col_axis="model channel", colours="diverging", decimals=1, place=(1, 1),
        shape=sizes(steps.output), changed=view.changed.get("projected"),
        sources={"concat": ["query"], "w_o": ["model channel"]},
    )  # fmt: skip
    return [concat, w_o, projected]
