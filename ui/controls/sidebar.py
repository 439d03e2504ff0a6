"""The shared inputs, each once: its label, its range and its key.

One name all the way: the field of Setup is the widget's key is the parameter in the URL. The selected
cell (row, col, channel, head) is kept the same way, so that a link shows the same cell.
"""

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from core.examples import EXAMPLES
from core.offered import D_KS, GIVEN, HEADS, MASKS
from core.real import REAL, notes
from core.setup import Setup, choices, inputs
from ui import real_controls
from ui.assigned import assign
from ui.controls import editing, length, selection
from ui.controls.selection import Selection
from ui.text import literal

FIRST = Setup()
ASK = "ask_the_widgets"  # set for the one run that must not go by held()
# The fields of Setup that these widgets hold. The others belong to trained heads; pages of theirs have
# widgets with the same names, which say nothing about the walk.
SHARED = ("example", "seq_len", "d_k", "mask", "n_heads", "seed", "n_pad", "window", "edits")


def draw() -> tuple[Setup, Selection]:
    """Draw the whole sidebar; return what the reader chose and the cell that is looked at."""
    shared, cell = st.container(), st.container()
    edits, numbers = editing.draw()
    with shared:
        setup = _choose(edits)
    arrays = inputs(setup)
    with cell:
        chosen = selection.draw(arrays, setup.n_heads)
    if numbers is not None:
        with numbers:
            editing.draw_numbers(setup, arrays, chosen)
    return setup, chosen


def held() -> tuple[Setup, Selection] | None:
    """What `draw` will return, from the widgets' state at the start of a rerun.

    None on the first run, and for a trained head, whose sizes only its own inputs know. The state of a
    rerun is complete before any widget is drawn again. It lags behind only where the address was changed
    without a widget, so the caller compares it with what `draw` then returns. Where they differ, the next run
    has None too and goes by `draw` alone: it ends, whatever the two disagreed about.
    """
    state = st.session_state
    if (
        state.pop(ASK, False)
        or any(key not in state for key in ("edits", "head", "row", "col", "channel"))
        or state["example"] in REAL
    ):
        return None
    chosen = {field: state.get(field, getattr(FIRST, field)) for field in SHARED}
    # Streamlit keeps what a bound slider held that is no longer drawn; draw() does not see it.
    if "padding" not in chosen["mask"]:
        chosen["n_pad"] = FIRST.n_pad
    if chosen["mask"] != "window":
        chosen["window"] = FIRST.window
    try:
        setup = Setup(**chosen)
    except ValueError:  # a choice that only the example before had; its widget falls back when it is drawn
        return None
    if state["head"] not in selection.heads_shown(setup.n_heads):
        state["head"] = "0"
    selection.clamp(inputs(setup))
    return setup, selection.held(setup.n_heads)


def ask_in_the_next_run() -> None:
    """The next run shall not go by `held`."""
    st.session_state[ASK] = True


def _choose(edits: str) -> Setup:
    """The inputs that every page shares."""
    real_controls.note_lost_file()
    example = st.selectbox(
        "Example", [*EXAMPLES, *real_controls.offered()], key="example", bind="query-params",
        on_change=_take_natural_size,
    )  # fmt: skip
    if example in REAL:
        return _choose_real(example, edits)
    _drop_from_address("real_head", "sentence")
    real_controls.tell_lost_file()
    st.caption(f"**{EXAMPLES[example].title}.** {EXAMPLES[example].about}")
    seq_len = length.draw()
    d_k = st.select_slider("Width of a query, d_k", D_KS, FIRST.d_k, key="d_k", bind="query-params")
    left, right = st.columns(2)
    with left:
        mask = st.selectbox("Mask", MASKS, key="mask", bind="query-params")
    with right:
        n_heads = st.selectbox("Heads", HEADS, key="n_heads", bind="query-params")
    n_pad, window = _mask_sizes(mask)
    left, right = st.columns(2)
    with left:
        heads = selection.heads_shown(n_heads)
        st.selectbox("Show head", heads, key="head", bind="query-params", disabled=n_heads == 1)
    with right:
        seed = st.number_input(
            "Seed", 0, 9999, FIRST.seed, key="seed", bind="query-params",
            help="Chooses the random numbers: the random example, extra channels and heads, and W_O.",
        )  # fmt: skip
    st.caption(f"d_model = heads × d_k = {n_heads} × {d_k} = {n_heads * d_k}")
    return Setup(example, seq_len, d_k, mask, n_heads, seed, n_pad, window, edits)


def _choose_real(example: str, edits: str) -> Setup:
    """A head of a trained model: its width and its number are its own; length and mask can be changed.

    Every bound input stands where it stands for the other examples (second below the example, and so on):
    one that moves on the page loses its hold on the URL.
    """
    _drop_from_address("d_k", "n_heads", "head", "seed")
    with st.container():
        chosen = real_controls.choose(example)
    seq_len = length.shorter(chosen.heads.most)
    about = st.empty()
    left, _ = st.columns(2)
    with left:
        offered = [*MASKS, GIVEN] if chosen.heads.mask == GIVEN else MASKS
        mask = st.selectbox("Mask", offered, key="mask", bind="query-params")
    n_pad, window = _mask_sizes(mask)
    d_k, d_v = chosen.heads.q.shape[-1], chosen.heads.v.shape[-1]
    told = [f"T is {chosen.heads.most} at most. One head, d_k = {d_k} and d_v = {d_v}, as in the model."]
    about.caption(literal(" ".join(told + notes(chosen.heads, seq_len, mask))))
    return Setup(
        example, seq_len, d_k, mask, 1, FIRST.seed, n_pad, window, edits,
        chosen.sentence, chosen.real_head, chosen.capture,
    )  # fmt: skip


def _drop_from_address(*names: str) -> None:
    """Leave out what the chosen example has no input for: it would come back with the next example."""
    for name in names:
        if name in st.query_params and name not in st.session_state:
            del st.query_params[name]


def _mask_sizes(mask: str) -> tuple[int, int]:
    """The one more number that a padding mask or a window needs."""
    n_pad, window = FIRST.n_pad, FIRST.window
    if "padding" in mask:
        n_pad = st.slider("Padded positions at the end", 1, 8, n_pad, key="n_pad", bind="query-params")
    if mask == "window":
        window = st.slider("Window: keys nearer than", 1, 8, window, key="window", bind="query-params")
    return n_pad, window


def _take_natural_size() -> None:
    """A newly chosen example starts at the size it was made for, at its own cell, without edits."""
    name = st.session_state["example"]
    if name not in (*EXAMPLES, *real_controls.offered()):  # it falls back when it is drawn
        return
    if name in REAL:
        real_controls.take_natural_size(name)
        return
    st.session_state.pop(real_controls.LOST, None)
    fields = ("seq_len", "d_k", "n_heads", "row", "col")
    size = {field: getattr(EXAMPLES[name], field) for field in fields}
    assign(size | {"channel": 0, "head": "0", "edits": ""})


def open_state(
    setup: Setup, row: int, col: int, more: Mapping[str, int | float | str] = MappingProxyType({})
) -> None:
    """Callback: put a whole state on screen; `more`: inputs of the page's own, or edits."""
    wanted = choices(setup) | {"row": row, "col": col, "channel": 0, "head": "0"} | dict(more)
    # Streamlit tells the address of inputs that it draws already; what is about to be drawn we tell it.
    st.query_params.update({name: str(value) for name, value in more.items() if name not in st.session_state})
    assign(wanted)
