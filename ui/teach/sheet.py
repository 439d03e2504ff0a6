"""The room with the worksheet: a variant for each seed, to look at, download and print."""

from collections.abc import Mapping

import streamlit as st

from core import quiz
from core.worksheet import worksheet
from ui import paper, presenter, text
from ui.teach import address
from ui.view import View


def show(view: View, _: Mapping[str, str]) -> None:
    """The variant's number, the ways to paper, and the sheet itself."""
    st.markdown(text.part("teach", "Worksheet"))
    seed = st.number_input("Variant", 0, quiz.MAX_SEED, 0, key="sheet", bind="query-params", width=160)
    # Asked for here: the download is made outside of a run, where nobody knows the browser's address.
    link = address.whole("", address.state(view))
    name = f"attention-worksheet-{seed}.html"
    paper.show(
        name, "Worksheet", lambda: worksheet(view.setup, seed, link), "worksheet",
        look=not presenter.presenting(),
    )  # fmt: skip
