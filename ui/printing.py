"""A button that opens a page of HTML in a new tab, where the browser's own Print finds nothing else."""

from pathlib import Path

import streamlit as st

ASSETS = Path(__file__).parents[1] / "assets" / "printing"

_component = st.components.v2.component(
    "open_to_print",
    html='<button type="button"></button>\n',
    css=(ASSETS / "printing.css").read_text(encoding="utf-8"),
    js=(ASSETS / "printing.js").read_text(encoding="utf-8"),
)


def open_button(label: str, page: str, *, key: str) -> None:
    """A button `label` that opens `page`, HTML made by core/printed.py, in a tab of its own."""
    _component(key=key, data={"label": label, "page": page}, width="content")
