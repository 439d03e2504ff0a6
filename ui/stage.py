"""Blocks that the pages share: the matrices, the selected cell's arithmetic, the code, the pitfalls."""

import ast
import inspect
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import streamlit as st

from core.arithmetic import Arithmetic, pipeline_row, projection_cell
from core.ladder import address
from core.leak import LeakTest
from core.numbers import number
from core.readouts import count_moved
from core.syntax import parse
from ui import controls, presenter, real_controls, text
from ui.ahead import pictures
from ui.board import MAX_HEIGHT, show_matrices
from ui.frame import walk_links
from ui.matrix import Ahead, Matrix
from ui.tensors import (
    TENSORS,
    all_heads,
    leak_strips,
    matrix,
    rung_corner,
)
from ui.view import View

Draw = Callable[[View], Sequence[Matrix]]  # the matrices of a page, of any view
FIRST_BOARD = "matrices"  # the key of a page's main matrices, the same on every page
PAINT_SECONDS = 0.03


def show(
    view: View,
    matrices: Sequence[Matrix],
    label: str,
    key: str = FIRST_BOARD,
    max_height: int = MAX_HEIGHT,
    main: str = "",
    ahead: Sequence[Ahead] = (),
) -> None:
    """Draw the page's matrices; a picked cell and an edited number go to the URL."""

    def keep_edit(tensor: str, row: int, col: int, value: float) -> None:
        name, _, head = tensor.partition(".")
        if name == "kT":
            name, row, col = "k", col, row
        controls.keep_edit(view.setup, name, int(head or view.head), row, col, value)

    show_matrices(
        matrices,
        view.selected,
        key=key,
        label=label,
        on_pick=controls.pick,
        on_edit=keep_edit,
        max_height=presenter.room(max_height),
        main=main,
        scale=presenter.scale(),
        ahead=ahead,
    )
    if key == FIRST_BOARD:
        paint_first()


def paint_first() -> None:
    """Hold back the rest of the page until the browser has taken up the matrices, and only them.

    The other elements of a page cost the browser several times what the matrices cost, and what arrives
    together is drawn together. Without the pause a move that is not drawn ahead takes half as long
    again: 92 ms, with it 61 (T = 64, two cores).
    """
    time.sleep(PAINT_SECONDS)


def pick_real(example: str, cell: dict[str, int]) -> None:
    """Callback: a cell of a real head was picked, so that head's example is the walk's from now on."""
    real_controls.adopt(example)
    controls.pick(cell)


def trace(shown: View, view: View) -> None:
    """The way from a real head into the walk; `shown` is on the page, `view` in the walk."""
    label = f"Trace head {shown.setup.real_head} step by step"
    if shown is view:
        walk_links(label)
        return
    st.button(label, on_click=real_controls.adopt, args=(shown.setup.example,), key="trace", type="primary")
    st.caption(
        f"The walk and the sidebar show the example {view.setup.example}. "
        "Whatever you pick here takes its place."
    )


def show_step(view: View, draw: Draw, name: str, max_height: int = MAX_HEIGHT) -> None:
    """The matrices of one head, or the page's own tensor `name` of all heads, as the reader chose."""
    every = partial(every_head, name=name)
    label = f"Step: {TENSORS[name].title}"
    show_live(view, every if view.selection.head is None else draw, label, max_height, main=name)


def show_live(view: View, draw: Draw, label: str, max_height: int = MAX_HEIGHT, main: str = "") -> None:
    """The page's matrices, and with them those that the next step of a slider will bring."""
    now = draw(view)
    ahead = tuple(pictures(view, now, draw))
    show(view, now, label, max_height=max_height, main=main, ahead=ahead)


def every_head(view: View, name: str) -> list[Matrix]:
    """The same tensor of all heads, with the numbers where they can be read."""
    return all_heads(view, name, small=presenter.crowded(*getattr(view.one, name).shape))


def idea(slug: str) -> None:
    """Row 2: one sentence."""
    st.markdown(text.part(slug, "Idea"))


def origin(view: View) -> None:
    """Where q, k and v come from; a class is told by its teacher."""
    if not (view.setup.is_real or presenter.presenting()):
        text.caption("score", "Where q, k and v come from")


def block(slug: str, heading: str) -> None:
    """A further part of a page begins: a rule, then its words."""
    st.divider()
    st.markdown(text.part(slug, heading))


def given(view: View) -> None:
    """Q, K and V as they are, to compute with by hand."""
    places = {"q": (0, 0), "k": (0, 1), "v": (0, 2)}
    matrices = [matrix(view, name, place, sources={}, editable=False) for name, place in places.items()]
    selected = {"query": view.selection.row, "key": view.selection.col}
    show_matrices(
        matrices, selected, key="given", label="Q, K and V",
        max_height=presenter.rest(MAX_HEIGHT), scale=presenter.scale(),
    )  # fmt: skip


def columns(left: int = 13, right: int = 8) -> list:
    """Row 3: the matrices and their code at the left, the selected cell's arithmetic at the right."""
    return st.columns([left, right], gap="medium")


def thirds() -> list:
    """Three columns, for a page whose matrices stand above them in full width."""
    return st.columns([8, 6, 7], gap="medium")


def arithmetic(
    view: View, cell: Callable[..., Arithmetic], col: int | None = None, *, wide: bool = False
) -> None:
    """The selected cell of one head, written out by `cell`; `col` where its columns are not the keys.

    `wide` where the page's matrices leave a class no room beside them.
    """
    worked = cell(view.one, view.selection.row, view.selection.col if col is None else col, view.inputs)
    with presenter.beside(len(worked.columns), wide=wide):
        if view.selection.head is None:
            st.caption(f"Written out for head {view.head}.")
        written(worked)


def written(worked: Arithmetic) -> None:
    """Question, table of terms (one a line, as on paper), the sum."""
    with st.container(key="written", gap="small"):
        st.markdown(f"**{text.literal(worked.question)}**")
        if worked.rows:
            header = ["term", *(label for label, _ in worked.rows)]
            terms = zip(worked.columns, *(cells for _, cells in worked.rows), strict=True)
            st.markdown(text.table(header, list(terms)))
        st.markdown("  \n".join(text.literal(line) for line in worked.lines))
        if worked.note:
            st.caption(text.literal(worked.note))


def code(*functions: Callable) -> None:
    """The lines that made what is on screen: the source that really runs."""
    lines = "\n\n".join(source(function) for function in functions)
    with presenter.code_place(lines.count("\n") + 1):
        st.code(lines, language="python", wrap_lines=True)


@cache  # of the few functions that pages show
def source(function: Callable) -> str:
    """A function's own text, without its docstring and the types of its signature."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    (tree,) = parse("\n".join(lines)).body
    assert isinstance(tree, ast.FunctionDef)
    first = tree.body[1] if ast.get_docstring(tree) else tree.body[0]
    names = ", ".join(argument.arg for argument in tree.args.args)
    return "\n".join([f"def {tree.name}({names}):", *lines[first.lineno - 1 :]])


def pitfalls(slug: str) -> None:
    """What goes wrong here."""
    with st.expander("What goes wrong here", expanded=presenter.presenting(), key="pitfalls"):
        st.markdown(text.part(slug, "What goes wrong here"))


def row_story(view: View) -> None:
    """The selected word's own row on its way through the steps, its keys side by side as in the matrices."""
    row, col, channel = view.selection.row, view.selection.col, view.value_channel
    worked = pipeline_row(view.one, row, channel, col, view.inputs)
    with st.container(key="written", gap="small"):
        st.markdown(f"**{text.literal(worked.question)}**")
        st.markdown(text.table(["step", *worked.columns], [[label, *cells] for label, cells in worked.rows]))
        if worked.note:
            st.caption(text.literal(worked.note))


def leak(view: View, leaks: Mapping[str, LeakTest]) -> None:
    """How far each output row moved when one word was replaced, without and with the mask."""
    moved = {name: test.moved[view.head] for name, test in leaks.items()}
    counts = [f"{name}: **{count_moved(rows)} of {len(rows)}** rows move" for name, rows in moved.items()]
    st.markdown("; ".join(counts).replace("none:", "no mask:"))
    (told,) = {test.told(view.head) for test in leaks.values()}  # the word is the same under every mask
    st.caption(text.literal(f"{told} (head {view.head})" if view.setup.n_heads > 1 else told))
    show(view, [leak_strips(view, moved)], "Leak test", key="leak", max_height=presenter.rest(120))


def compare_heads(view: View) -> None:
    """The weight of the selected pair in every head, in words."""
    beside = presenter.beside(len(view.inputs.key_tokens), wide=view.setup.n_heads > 2)
    with beside, st.container(key="pair", gap="small"):
        _compare_heads(view)


def _compare_heads(view: View) -> None:
    row, col = view.selection.row, view.selection.col
    query, key = view.inputs.query_tokens[row], view.inputs.key_tokens[col]
    st.markdown(f"**{text.literal(f'{query} → {key}')}** in each head")
    header = ["head", "score", "scaled", "weight"]
    heads = view.steps.heads
    rows = [
        [f"head {h}", *(number(t[h, row, col]) for t in (heads.scores, heads.masked_scores, heads.weights))]
        for h in range(view.setup.n_heads)
    ]
    st.markdown(text.table(header, rows))


def addresses(view: View) -> None:
    """Where the selected element of Q stands on each rung."""
    with st.container(key="addresses", gap="small"):
        _addresses(view)


def _addresses(view: View) -> None:
    n_heads, d_k = view.setup.n_heads, view.setup.d_k
    packed = view.head * d_k + view.channel
    word, channel = view.inputs.query_tokens[view.selection.row], view.inputs.channels[view.channel]
    st.markdown(f"**{text.literal(f'{word}, {channel}, head {view.head}')}**: one number, three addresses")
    names = ("(B, T, d_model)", "(B, T, h, d_k)", "(B, h, T, d_k)")
    places = address(view.selection.row, packed, n_heads * d_k, n_heads)
    st.markdown(text.table(["shape", "index"], list(zip(names, places, strict=True))))
    n_rows, width = rung_corner(view)
    if view.selection.row >= n_rows or view.channel >= width:
        st.caption("The selected number lies outside the corner that is drawn.")


def projection(view: View) -> None:
    """One number of the joined output, term by term."""
    worked = projection_cell(view.steps, view.selection.row, view.channel, view.inputs)
    with presenter.beside(len(worked.columns)):
        written(worked)
