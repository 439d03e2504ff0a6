"""The length T: a slider to drag and a box to type, which hold one number between them."""

import streamlit as st

from core.offered import SEQ_LENS
from core.setup import Setup
from ui.assigned import assign, is_echo

FIRST = Setup().seq_len
DRAGGED = "seq_len_dragged"  # the slider beside the box that holds seq_len


def shorter(most: int) -> int:
    """The slider of T where the sequence ends after `most` positions: beyond them it springs back.

    A box takes its first value from the address and from nowhere else, so there the address is mended.
    """
    if most < SEQ_LENS[0]:
        st.caption(f"Sequence length T = {most}")
        return most
    if "seq_len" not in st.session_state and _number_in_address("seq_len") > most:
        st.query_params["seq_len"] = str(most)
        st.rerun()
    if st.session_state.get("seq_len", FIRST) > most:
        st.session_state["seq_len"] = most
    return min(most, draw())


def _number_in_address(name: str) -> float:
    """The number behind a name in the address; 0 where there is none."""
    try:
        return float(st.query_params.get(name, 0))
    except ValueError:
        return 0


def draw() -> int:
    """The length, to drag and to type: the same widgets for every example, with the same range.

    Only the box is bound to the URL. Binding costs the browser about 11 ms at each move of a slider, before
    it sends anything; so the slider hands its value to the box, which is drawn after the matrices.
    """
    drag, typed = st.columns([7, 3], vertical_alignment="bottom")
    with typed:
        seq_len = st.number_input("T", SEQ_LENS[0], SEQ_LENS[-1], FIRST, key="seq_len", bind="query-params")
    first = DRAGGED not in st.session_state
    if not first and st.session_state[DRAGGED] != seq_len:
        # Only then: what is assigned is also put back in the browser, where the slider may be further by now.
        assign({DRAGGED: seq_len})
    with drag:
        st.slider(
            "Sequence length T", SEQ_LENS[0], SEQ_LENS[-1], seq_len, key=DRAGGED, on_change=_take_dragged
        )
    return seq_len


def _take_dragged() -> None:
    if not is_echo(DRAGGED):
        assign({"seq_len": st.session_state[DRAGGED]})
