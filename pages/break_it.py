"""Break it: one fault at a time, right beside wrong, and which checks notice."""

import streamlit as st

from core.faults.broken import Broken, broken
from ui import break_board, predict, presenter, stage, text
from ui.frame import page_link
from ui.view import View


def render(view: View) -> None:
    """The chosen or hidden fault on the reader's example; then what only looks wrong."""
    stage.idea("break_it")
    choose, hide = st.columns([4, 5], gap="medium", vertical_alignment="bottom")
    with hide:
        seed = break_board.ask_mystery()
    with choose:
        if seed:
            st.markdown(text.part("break_it", "Mystery"))
        chosen = None if seed else break_board.ask_fault()
    try:
        label = chosen or break_board.mystery_label(view.setup, seed)
        made = broken(view.setup, label)
    except ValueError as error:
        st.info(text.literal(str(error)), icon=":material/info:")
    else:
        one_fault(break_board.view_for(view, label), made, hidden=bool(seed))
    with presenter.screen("looks_wrong"), st.expander("Looks wrong, is right", expanded=True):
        text.caption("break_it", "Looks wrong")
        break_board.looks_wrong(view)
    ask, pitfalls = st.columns(2, gap="medium")
    with ask:
        predict.show(view, "break_it")
    with pitfalls:
        stage.pitfalls("break_it")


def one_fault(shown: View, made: Broken, hidden: bool) -> None:
    """Right beside wrong, the checks, the code."""
    if break_board.unseen(made):
        text.caption("break_it", "Nothing to see")
    stage.show(
        shown, break_board.matrices(shown, made), "Right beside broken", max_height=presenter.rest(300)
    )
    with presenter.screen("checks"):
        checks, code = st.columns(2, gap="medium")
    with checks:
        break_board.checks(shown, made)
    with code:
        if not hidden or break_board.ask_step(made.fault.label):
            break_board.code(made)
        text.caption("break_it", "To the clinic")
        page_link("clinic", "Clinic", icon=":material/medical_services:")


if __name__ == "__main__":
    from app import main

    main()
