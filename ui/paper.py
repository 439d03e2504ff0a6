"""Pages for paper: to download, to look at, and to open in a tab of their own for printing."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

ASSETS = Path(__file__).parents[1] / "assets" / "paper"

_opener = st.components.v2.component(
    "open_to_print",
    html='<button type="button"></button>\n',
    css=(ASSETS / "paper.css").read_text(encoding="utf-8"),
    js=(ASSETS / "paper.js").read_text(encoding="utf-8"),
)


def show(name: str, label: str, page: Callable[[], str], key: str, *, look: bool = False) -> None:
    """One page of HTML made by the core: download it as `name`, look at it below, open it in a tab to print.

    look: whether it is looked at from the start.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            f"{label} (.html)", lambda: page().encode(), name, "text/html",
            key=f"{key}_file", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        opener = st.container(width="content")
        looked_at = st.toggle("Look at it and print", look, key=f"{key}_look")
    if looked_at:
        made = page()
        with opener:
            _opener(key=f"{key}_open", data={"label": "Open to print", "page": made}, width="content")
        st.iframe(made, height=600, alt=label)
