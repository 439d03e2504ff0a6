"""Your tensors: q, k and v from any model, head by head, two captures side by side."""

import streamlit as st

from ui import captures_board, real_controls, stage, text
from ui.frame import walk_links
from ui.view import View


def ask() -> None:
    """The file, the capture and the head, on the page itself."""
    stage.idea("your_tensors")
    real_controls.keep_to(real_controls.captures_offered())
    file, capture, head = st.columns([6, 3, 2])
    with file:
        real_controls.ask_file()
    with capture:
        real_controls.ask_capture()
    with head:
        real_controls.ask_head(st.session_state["example"])


def render(view: View) -> None:
    """One capture, or two side by side; the way into the walk; what the file must hold."""
    example, head = view.setup.example, view.setup.real_head
    captures_board.all_heads(example)
    walk_links(f"Trace head {head} step by step")
    left, right = st.columns(2, gap="medium")
    with right:
        other, other_head = captures_board.ask_other()
        if other:
            captures_board.show(other, other_head, "other_map")
            captures_board.about(other)
        else:
            st.markdown(text.part("your_tensors", "The file"))
    with left:
        captures_board.show(example, head, "matrices")
        captures_board.about(example)
    captures_board.snippet()
    stage.pitfalls("your_tensors")


if __name__ == "__main__":
    from app import main

    main()
