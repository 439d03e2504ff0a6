"""Clinic: bring q, k, v and an output, be told which step went wrong."""

import streamlit as st

from core.clinic import LIMITS
from ui import clinic_answer, clinic_input, predict, presenter, stage, text
from ui.view import View


def render(view: View) -> None:
    """Files and beliefs at the left, the answer at the right, how to make a file below.

    Of the view only the question takes something: the clinic looks at the reader's own numbers.
    """
    stage.idea("clinic")
    ask, answer = st.columns([5, 7], gap="medium")
    with ask:
        files = clinic_input.ask_files()
        beliefs = clinic_input.ask_beliefs()
    with answer:
        if files:
            with presenter.screen("answer"):  # a class says first which step it is
                clinic_answer.show(clinic_answer.examine(files, beliefs))
        else:
            clinic_answer.forget()
            st.markdown(text.part("clinic", "Before the first file"))
        predict.show(view, "clinic")
    how()


def how() -> None:
    """The files, the snippet that makes one, the same check in a terminal and in a test."""
    files, terminal = st.columns(2, gap="medium")
    opened = presenter.presenting()
    with files, presenter.screen("files"), st.expander("What a file may hold", expanded=opened):
        st.markdown(text.part("clinic", "The files"))
        st.caption(LIMITS)
    with files, presenter.screen("save"), st.expander("Save your own tensors", expanded=opened):
        st.markdown(text.part("clinic", "Save"))
    in_a_terminal = "In a terminal, a notebook or a test"
    with terminal, presenter.screen("terminal"), st.expander(in_a_terminal, expanded=opened):
        st.markdown(text.part("clinic", "Terminal"))
    with terminal:
        stage.pitfalls("clinic")


if __name__ == "__main__":
    from app import main

    main()
