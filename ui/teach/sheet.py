"""The room with the worksheet: look at it, download it, open it to print."""

from collections.abc import Mapping

import streamlit as st

from core import quiz
from core.worksheet import worksheet
from ui import printing, text
from ui.teach import address
from ui.view import View


def show(view: View, _: Mapping[str, str]) -> None:
    """The variant's number, the two ways to paper, and the sheet itself."""
    st.markdown(text.part("teach", "Worksheet"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input("Variant", 0, quiz.MAX_SEED, 0, key="sheet", bind="query-params", width=160)
        page = _sheet(view, seed)
        name = f"attention-worksheet-{seed}.html"
        st.download_button("Download", page, name, "text/html", on_click="ignore")
        printing.open_button("Open to print", page, key="open_sheet")
    st.iframe(page, height=560)


def _sheet(view: View, seed: int) -> str:
    """The page of HTML, with the address of its state printed on it."""
    query = address.state(view)
    return worksheet(view.setup, seed, address.here("") + (f"?{query}" if query else ""))
