"""Your tensors: q, k and v from any model, head by head, two captures side by side."""

import streamlit as st

from ui import captures_board, captures_told, presenter, real_controls, stage, text
from ui.view import View


def render(view: View) -> None:
    """One capture, or two side by side; the way into the walk; what the file must hold."""
    stage.idea("your_tensors")
    walk, view = view, view.real(ask())
    example, head = view.setup.example, view.setup.real_head
    captures_told.beyond(example)
    captures_board.all_heads(view)
    if not presenter.presenting():
        stage.trace(view, walk)
    with presenter.screen("map"):
        left, right = st.columns(2, gap="medium")
    with right:
        if presenter.presenting():  # on the first screen the maps take all the room
            stage.trace(view, walk)
        other, other_head = captures_board.ask_other()
        if other:
            captures_board.show(view, other, other_head, "other_map")
            with presenter.screen("where", "about_other"):
                captures_told.beyond(other)
                captures_told.about(other)
        else:
            with presenter.screen("file"):
                st.markdown(text.part("your_tensors", "The file"))
    with left:
        captures_board.show(view, example, head, "matrices")
        with presenter.screen("where", "about"):
            captures_told.about(example)
    if not presenter.presenting():
        captures_board.snippet()
    stage.pitfalls("your_tensors")


def ask() -> str:
    """The file, the capture, the head, and which of its weights are drawn."""
    file, capture, head, drawn = st.columns([5, 3, 2, 3])
    with file:
        real_controls.ask_file()
    with capture:
        example = real_controls.ask_capture()
    with head:
        real_controls.ask_head(example)
    with drawn:
        captures_board.ask_drawn(example)
    return example


if __name__ == "__main__":
    from app import main

    main()
