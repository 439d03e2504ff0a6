"""Pages for paper: to download, and to look at and print from here."""

from collections.abc import Callable

import streamlit as st


def show(name: str, label: str, page: Callable[[], str], key: str) -> None:
    """Two buttons for one page of HTML made by the core: download it as `name`, or look at it below."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            f"{label} (.html)", lambda: page().encode(), name, "text/html",
            key=f"{key}_file", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        look = st.toggle("Look at it and print", key=f"{key}_look")
    if look:
        st.iframe(page(), height=600, alt=label)
