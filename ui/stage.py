"""Blocks that the pages share: the matrices, the selected cell's arithmetic, the code, the pitfalls."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from core.arithmetic import Arithmetic, number, projection_cell
from core.ladder import address
from core.leak import LeakTest
from core.readouts import count_moved
from ui import controls, text
from ui.matrix import Matrix, show_matrices
from ui.tensors import (
    MOST_RUNG_ROWS,
    MOST_RUNG_WIDTH,
    TENSORS,
    all_heads,
    leak_strips,
    row_of,
)
from ui.view import View


def show(view: View, matrices: Sequence[Matrix], label: str, key: str = "matrices") -> None:
    """Draw the page's matrices; a picked cell and an edited number go to the URL."""

    def keep_edit(tensor: str, row: int, col: int, value: float) -> None:
        name, _, head = tensor.partition(".")
        if name == "kT":
            name, row, col = "k", col, row
        controls.keep_edit(view.setup, name, int(head or view.head), row, col, value)

    selected = {
        "query": view.selection.row,
        "key": view.selection.col,
        "channel": view.channel,
        "value_channel": view.value_channel,
    }
    show_matrices(matrices, selected, key=key, label=label, on_pick=controls.pick, on_edit=keep_edit)


def show_step(view: View, matrices: Sequence[Matrix], name: str) -> None:
    """The matrices of one head, or the page's own tensor `name` of all heads, as the reader chose."""
    label = f"Step: {TENSORS[name].title}"
    show(view, all_heads(view, name) if view.selection.head is None else matrices, label)


def idea(slug: str) -> None:
    """Row 2: one sentence."""
    st.markdown(text.part(slug, "Idea"))


def columns() -> list:
    """Row 3: the matrices, and beside them the selected cell's arithmetic and code."""
    return st.columns([11, 9], gap="large")


def arithmetic(view: View, cell: Callable[..., Arithmetic], col: int | None = None) -> None:
    """The selected cell of one head, written out by `cell`; `col` where its columns are not the keys."""
    with st.container(key="arithmetic"):
        if view.selection.head is None:
            st.caption(f"Written out for head {view.head}.")
        written(cell(view.one, view.selection.row, view.selection.col if col is None else col, view.inputs))


def written(worked: Arithmetic) -> None:
    """Question, table of terms, the sum."""
    st.markdown(f"**{text.literal(worked.question)}**")
    if worked.rows:
        header = ["", *worked.columns]
        rows = [[label, *cells] for label, cells in worked.rows]
        st.markdown(text.table(header, rows))
    for line in worked.lines:
        st.markdown(text.literal(line))
    if worked.note:
        st.caption(text.literal(worked.note))


def code(*functions: Callable) -> None:
    """The lines that made what is on screen: the source that really runs, without its docstring."""
    st.code("\n\n".join(source(function) for function in functions), language="python")


def source(function: Callable) -> str:
    """A function's own text, its docstring left out."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    body = ast.parse("\n".join(lines)).body[0].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del lines[body[0].lineno - 1 : body[0].end_lineno]
    return "\n".join(lines)


def pitfalls(slug: str) -> None:
    """What goes wrong here."""
    with st.expander("What goes wrong here"):
        st.markdown(text.part(slug, "What goes wrong here"))


def row_story(view: View, matrices: Sequence[Matrix]) -> None:
    """The selected word's own row on its way through the steps."""
    word = text.literal(view.inputs.query_tokens[view.selection.row])
    st.markdown(f"The row of **{word}** alone")
    strips = [
        replace(row_of(drawn, view.selection.row), place=(number, 0), title="", lead="")
        for number, drawn in enumerate(matrices[:-1])
    ]
    show(view, strips, "One row", key="row")


def leak(view: View, leaks: Mapping[str, LeakTest]) -> None:
    """How far each output row moved when one word was replaced, without and with the mask."""
    test = next(iter(leaks.values()))
    counts = {name: f"{count_moved(t.moved[view.head])} of {t.moved.shape[-1]}" for name, t in leaks.items()}
    st.markdown(
        f"Leak test: **{text.literal(test.word)}** is replaced by another word. "
        f"Output rows that move: {', '.join(f'{count} with mask {name}' for name, count in counts.items())}."
    )
    show(view, [leak_strips(view, {n: t.moved[view.head] for n, t in leaks.items()})], "Leak test", key="leak")


def compare_heads(view: View) -> None:
    """The weight of the selected pair in every head, in words."""
    row, col = view.selection.row, view.selection.col
    query, key = view.inputs.query_tokens[row], view.inputs.key_tokens[col]
    st.markdown(f"**{text.literal(f'{query} → {key}')}** in each head")
    header = ["", "score", "scaled", "weight"]
    heads = view.steps.heads
    rows = [
        [f"head {h}", *(number(t[h, row, col]) for t in (heads.scores, heads.masked_scores, heads.weights))]
        for h in range(view.setup.n_heads)
    ]
    st.markdown(text.table(header, rows))


def addresses(view: View) -> None:
    """Where the selected element of Q stands on each rung."""
    n_heads, d_k = view.setup.n_heads, view.setup.d_k
    packed = view.head * d_k + view.channel
    word, channel = view.inputs.query_tokens[view.selection.row], view.inputs.channels[view.channel]
    st.markdown(f"**{text.literal(f'{word}, {channel}, head {view.head}')}**: one number, three addresses")
    names = ("(B, T, d_model)", "(B, T, h, d_k)", "(B, h, T, d_k)")
    places = address(view.selection.row, packed, n_heads * d_k, n_heads)
    st.markdown(text.table(["shape", "index"], list(zip(names, places, strict=True))))
    if view.channel >= MOST_RUNG_WIDTH or view.selection.row >= MOST_RUNG_ROWS // n_heads:
        st.caption("The selected number lies outside the corner that is drawn.")


def projection(view: View) -> None:
    """One number of the joined output, term by term."""
    written(projection_cell(view.steps, view.selection.row, view.channel, view.inputs))
