"""What a reader takes along from a state: programs, tensors, a page of matrices."""

import streamlit as st

from core import export, link
from core.export import MOST_NUMBERS
from ui import paper, text
from ui.view import View

_DATA = "application/octet-stream"


def show(view: View, version: str, *, blanks: bool) -> None:
    """All downloads for the state on screen. Each file is made when it is asked for."""
    with st.container(key="exports", gap="small"):
        st.markdown(text.part("code", "Take along"))
        with st.container(horizontal=True, gap="small"):
            _programs(view, version, blanks=blanks)
            _tensors(view)
        paper.show(
            export.file_name(view.setup, "matrices", "html"), "The matrices to print",
            lambda: export.matrices_page(view.setup, _address(view)), "matrices_page",
        )  # fmt: skip


def _programs(view: View, version: str, *, blanks: bool) -> None:
    makers = {"py": export.as_python, "ipynb": export.as_notebook}
    name = f"{version}_blanks" if blanks else version
    for ending, make in makers.items():
        _file(
            f"Program .{ending}", export.file_name(view.setup, name, ending),
            lambda make=make: make(view.setup, version, blanks=blanks).encode(),
        )  # fmt: skip


def _tensors(view: View) -> None:
    too_large = export.count(view.inputs, view.steps) > MOST_NUMBERS
    _file("Tensors .npz", export.file_name(view.setup, "tensors", "npz"), lambda: export.to_npz(view.setup))
    for ending, make in {"csv": export.to_csv, "json": export.to_json}.items():
        _file(
            f"Tensors .{ending}", export.file_name(view.setup, "tensors", ending),
            lambda make=make: make(view.setup).encode(), disabled=too_large,
        )  # fmt: skip
    if too_large:
        text.caption("code", "Too large")


def _file(label: str, name: str, data, *, disabled: bool = False) -> None:  # noqa: ANN001 - a callable
    st.download_button(
        label, data, name, _DATA, key=f"file {label}", on_click="ignore", disabled=disabled,
        icon=":material/download:",
    )  # fmt: skip


def _address(view: View) -> str:
    """Where this state is found."""
    base = (st.context.url or "").partition("?")[0]
    query = link.query(view.setup, row=view.selection.row, col=view.selection.col)
    return f"{base}?{query}".rstrip("?") if base else ""
