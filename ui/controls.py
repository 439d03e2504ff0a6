"""The shared inputs, each once: its label, its range and its key.

One name all the way: the field of Setup is the widget's key is the parameter in the URL. The selected
cell (row, col, channel, head) is kept the same way, so that a link shows the same cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from core.examples import EXAMPLES
from core.real import REAL, notes
from core.setup import D_KS, GIVEN, HEADS, MASKS, SEQ_LENS, Inputs, Setup, inputs, parse_edits, with_edit
from ui import real_controls
from ui.choice import one_of
from ui.text import literal

FIRST = Setup()
FIRST_CELL = EXAMPLES[FIRST.example]
ALL_HEADS = "all"
DRAGGED = "seq_len_dragged"  # the slider beside the box that holds seq_len
ASK = "ask_the_widgets"  # set for the one run that must not go by held()
UNHEARD = "seq_len_unheard"  # what it was moved to before this session had a callback for it
# The fields of Setup that these widgets hold. The others belong to trained heads; pages of theirs have
# widgets with the same names, which say nothing about the walk.
SHARED = ("example", "seq_len", "d_k", "mask", "n_heads", "seed", "n_pad", "window", "edits")


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


def draw() -> tuple[Setup, Selection]:
    """Draw the whole sidebar; return what the reader chose and the cell that is looked at."""
    shared, cell = st.container(), st.container()
    edited = bool(st.session_state.get("edits") or st.query_params.get("edits"))
    editing = st.expander("Edit Q, K and V by hand", expanded=edited, key="editing", on_change="rerun")
    with editing:
        numbers = st.container()
        edits = st.text_input(
            "All edits", key="edits", bind="query-params", placeholder="none", max_chars=2000
        )
        st.button("Undo all edits", on_click=_undo_edits, disabled=not parse_edits(edits))
    with shared:
        setup = _choose(edits)
    arrays = inputs(setup)
    with cell:
        selection = _select(arrays, setup.n_heads)
    if editing.open:
        with numbers:
            _edit(setup, arrays, selection)
    return setup, selection


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
    choices = {field: state.get(field, getattr(FIRST, field)) for field in SHARED}
    # Streamlit keeps what a bound slider held that is no longer drawn; draw() does not see it.
    if "padding" not in choices["mask"]:
        choices["n_pad"] = FIRST.n_pad
    if choices["mask"] != "window":
        choices["window"] = FIRST.window
    try:
        setup = Setup(**choices)
    except ValueError:  # a choice that only the example before had; its widget falls back when it is drawn
        return None
    if state["head"] not in _heads(setup.n_heads):
        state["head"] = "0"
    arrays = inputs(setup)
    for key, size in _index_sizes(arrays).items():
        if state.get(key, 0) > size - 1:
            state[key] = size - 1
    return setup, _selection(setup.n_heads)


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
    st.caption(EXAMPLES[example].about)
    seq_len = _seq_len()
    d_k = st.select_slider("Width of a query, d_k", D_KS, FIRST.d_k, key="d_k", bind="query-params")
    left, right = st.columns(2)
    with left:
        mask = st.selectbox("Mask", MASKS, key="mask", bind="query-params")
    with right:
        n_heads = st.selectbox("Heads", HEADS, key="n_heads", bind="query-params")
    n_pad, window = _mask_sizes(mask)
    left, right = st.columns(2)
    with left:
        st.selectbox("Show head", _heads(n_heads), key="head", bind="query-params", disabled=n_heads == 1)
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
    seq_len = _shorter(chosen.heads.most)
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


def _shorter(most: int) -> int:
    """The slider of T where the sequence ends after `most` positions: beyond them it springs back.

    A box takes its first value from the address and from nowhere else, so there the address is mended.
    """
    if most < SEQ_LENS[0]:
        st.caption(f"Sequence length T = {most}")
        return most
    if "seq_len" not in st.session_state and _number_in_address("seq_len") > most:
        st.query_params["seq_len"] = str(most)
        st.rerun()
    if st.session_state.get("seq_len", FIRST.seq_len) > most:
        st.session_state["seq_len"] = most
    return min(most, _seq_len())


def _number_in_address(name: str) -> float:
    """The number behind a name in the address; 0 where there is none."""
    try:
        return float(st.query_params.get(name, 0))
    except ValueError:
        return 0


def _drop_from_address(*names: str) -> None:
    """Leave out what the chosen example has no input for: it would come back with the next example."""
    for name in names:
        if name in st.query_params and name not in st.session_state:
            del st.query_params[name]


def _seq_len() -> int:
    """The length, to drag and to type: the same widgets for every example, with the same range.

    Only the box is bound to the URL. Binding costs the browser about 11 ms at each move of a slider, before
    it sends anything; so the slider hands its value to the box, which is drawn after the matrices.
    """
    drag, typed = st.columns([7, 3], vertical_alignment="bottom")
    with typed:
        seq_len = st.number_input(
            "T", SEQ_LENS[0], SEQ_LENS[-1], FIRST.seq_len, key="seq_len", bind="query-params"
        )
    first = DRAGGED not in st.session_state
    if not first and st.session_state[DRAGGED] != seq_len:
        # Only then: what is assigned is also put back in the browser, where the slider may be further by now.
        st.session_state[DRAGGED] = seq_len
    with drag:
        dragged = st.slider(
            "Sequence length T", SEQ_LENS[0], SEQ_LENS[-1], seq_len if first else SEQ_LENS[0],
            key=DRAGGED, on_change=_take_dragged,
        )  # fmt: skip
    if first and dragged != seq_len:
        # A restarted server hears of an open page with the first move on it, and calls nobody back for it.
        st.session_state[UNHEARD] = dragged
        st.rerun()
    return seq_len


def _take_dragged() -> None:
    _assign({"seq_len": st.session_state[DRAGGED]})


def _assign(values: Mapping[str, int]) -> None:
    """In a callback: give bound inputs these values.

    Streamlit tells the browser of an address that changes. Where a reader was there and back before the first
    answer came, nothing changes, yet that answer is under way with the address of the first move: so say
    the address once more.
    """
    if all(st.session_state.get(key) == value for key, value in values.items()):
        st.query_params.update()
    st.session_state.update(values)


def take_unheard() -> None:
    """Before any widget of a run: a move of the slider that came before the session knew it."""
    if UNHEARD in st.session_state:
        st.session_state["seq_len"] = st.session_state.pop(UNHEARD)


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
    if name in REAL:
        real_controls.take_natural_size(name)
        return
    st.session_state.pop(real_controls.LOST, None)
    example = EXAMPLES[name]
    for field in ("seq_len", "d_k", "n_heads", "row", "col"):
        st.session_state[field] = getattr(example, field)
    st.session_state.update(channel=0, head="0", edits="")


def open_state(setup: Setup, row: int, col: int) -> None:
    """Callback: put a whole state on screen."""
    st.session_state.update(asdict(setup) | {"row": row, "col": col, "channel": 0, "head": "0"})


def _heads(n_heads: int) -> list[str]:
    """What there is to show: one head or all of them."""
    return [str(head) for head in range(n_heads)] + [ALL_HEADS] * (n_heads > 1)


def _select(arrays: Inputs, n_heads: int) -> Selection:
    """Draw the selected cell's indices: the keyboard's way to any cell, and what the URL keeps."""
    heading = st.empty()
    starts = {"row": FIRST_CELL.row, "col": FIRST_CELL.col, "channel": 0}
    labels = {"row": "Query", "col": "Key", "channel": "Channel"}
    for column, (key, size) in zip(st.columns(3), _index_sizes(arrays).items(), strict=True):
        with column:
            _index(labels[key], key, size, starts[key])
    selection = _selection(n_heads)
    query, key = arrays.query_tokens[selection.row], arrays.key_tokens[selection.col]
    heading.markdown(f"**Selected** {literal(f'{query} → {key}')}")
    return selection


def _index_sizes(arrays: Inputs) -> dict[str, int]:
    """How many there are to select from, by the index's key."""
    n_channels = max(len(arrays.channels), len(arrays.value_channels))
    return {"row": len(arrays.query_tokens), "col": len(arrays.key_tokens), "channel": n_channels}


def _index(label: str, key: str, size: int, start: int) -> None:
    """One bound index, counted from 0 as in the code; clamped first, for the sizes can shrink."""
    if st.session_state.get(key, 0) > size - 1:
        st.session_state[key] = size - 1
    st.number_input(label, 0, size - 1, min(start, size - 1), key=key, bind="query-params")


def _selection(n_heads: int) -> Selection:
    """The selected cell, as its widgets hold it."""
    state = st.session_state
    shown = state["head"] if n_heads > 1 else "0"
    return Selection(state["row"], state["col"], state["channel"], None if shown == ALL_HEADS else int(shown))


def pick(cell: dict[str, int]) -> None:
    """Callback of every matrix: the picked cell's axes become the selection."""
    names = {"query": "row", "key": "col", "channel": "channel", "value_channel": "channel"}
    _assign({names[axis]: index for axis, index in cell.items() if axis in names})


def _edit(setup: Setup, arrays: Inputs, selection: Selection) -> None:
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
    st.session_state["edits"] = with_edit(setup, tensor, head, row, channel, value)


def _undo_edits() -> None:
    st.session_state["edits"] = ""


def replaced_word(arrays: Inputs) -> int:
    """The mask page's own control: the position whose word the leak test replaces."""
    words = [f"{position} {word}" for position, word in enumerate(arrays.key_tokens)]
    label, choice = st.columns([3, 4], vertical_alignment="center")
    with label:
        st.markdown("**Leak test:** replace")
    with choice:
        chosen = st.selectbox(
            "Word to replace", ["the last", *words], key="replace", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
    return words.index(chosen) if chosen in words else len(words) - 1


def heads_part(parts: Sequence[str]) -> str:
    """The heads page's own control: which of its parts is shown in numbers."""
    return one_of(
        "Part", parts, default=parts[0], key="part",
        label_visibility="collapsed",
    )  # fmt: skip
