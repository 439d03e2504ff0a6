"""Real heads: a trained model's eight maps, what they do, and what changes when one is broken."""

import streamlit as st

from core.real import MODEL
from ui import heads_board, presenter, real_controls, stage, text
from ui.view import View


def render(view: View) -> None:
    """Maps and next words; a change and its price; the measured scores; the plane; what is true."""
    stage.idea("real_heads")
    ask()
    walk, view = view, view.real(MODEL)
    maps = st.container()
    with presenter.screen("change"):
        words, changes = st.columns(2, gap="medium")
    with changes:
        change = heads_board.ask_change(view)
    runs = heads_board.run(view, change)
    with maps:
        heads_board.maps(view, runs)
    with words:
        heads_board.selected_head(view, runs)
        heads_board.next_words(view, runs)
        stage.trace(view, walk)
    with changes, presenter.screen("held_out"):
        heads_board.held_out_scores(view, runs)
    with presenter.screen("jobs"):
        st.markdown("**What each head does**, measured on held-out sentences")
        heads_board.scores(view, runs)
    plane, true = st.columns(2, gap="medium")
    with plane, presenter.screen("plane"):
        st.markdown(f"**Queries and keys of {view.setup.real_head}** in a plane")
        heads_board.plane(view, runs)
        text.caption("real_heads", "The plane")
    with true:
        with presenter.screen("true"):
            st.markdown("**What is true of these heads**")
            heads_board.findings()
        stage.pitfalls("real_heads")


def ask() -> None:
    """The sentence and the head."""
    sentence, start, word, head = st.columns([6, 3, 3, 2])
    with sentence:
        real_controls.ask_sentence()
    with start:
        real_controls.ask_start()
    with word:
        real_controls.ask_word()
    with head:
        real_controls.ask_head(MODEL)


if __name__ == "__main__":
    from app import main

    main()
