"""From formula to code: each part of the formula is one line, and each line makes one tensor."""

import streamlit as st

from ui import code, exports, predict, presenter, stage
from ui.view import View


def render(view: View) -> None:
    """The code beside what the chosen line makes, or beside its blanks; then everything to take along."""
    stage.idea("code")
    part, version, blanks = code.choose()
    program, values = stage.columns()
    with values:
        if blanks:
            code.fill_in()
        else:
            if presenter.presenting():  # the whole program follows on a screen of its own
                code.chosen_lines(part, version)
            code.value(view, part)
    with program, presenter.screen("program"):
        code.program(part, version, blanks=blanks)
    with presenter.screen("take_along"):
        exports.show(view, version, blanks=blanks)
    ask, pitfalls = st.columns(2, gap="medium")
    with ask:
        predict.show(view, "code")
    with pitfalls:
        stage.pitfalls("code")


if __name__ == "__main__":
    from app import main

    main()
