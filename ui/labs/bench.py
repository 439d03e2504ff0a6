"""What every lab stands on: its place in the chooser, its words, its table, its board."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import streamlit as st

from core.experiments.prose import Table
from ui import presenter, stage, tensors, text
from ui.choice import one_of
from ui.matrix import Matrix
from ui.view import View

Lab = Callable[[View], None]
ANCHOR = "labs"  # where a link within the page leads to
WITH, WITHOUT = "with the scale", "without the scale"


class Record(Protocol):
    """What an experiment hands back."""

    @property
    def caption(self) -> str:
        """What to look at, with the numbers."""

    @property
    def note(self) -> str:
        """When it holds."""


def pair(with_it, without_it) -> dict:  # noqa: ANN001
    """Two series in the order that every chart has: with the scale first."""
    return {WITH: with_it, WITHOUT: without_it}


def choose(slug: str, labs: Mapping[str, Lab], view: View) -> None:
    """The chooser and the one lab that is open; only that one is computed. The first is open at the start."""
    with st.container(key="labs"):
        st.header(text.part("labs/labs", "Heading"), ANCHOR, divider="gray")
        name = one_of(
            "Lab", list(labs), default=next(iter(labs)), key=f"{slug}_lab", label_visibility="collapsed",
        )  # fmt: skip
        st.markdown(text.part(f"labs/{slug}", name))
        labs[name](view)


def halves() -> list:
    """A picture, and the words that tell what to look at."""
    return st.columns([13, 8], gap="medium")


def tell(*records: Record) -> None:
    """The captions with their numbers, then the conditions in small print."""
    for record in records:
        st.markdown(text.literal(record.caption))
    for record in records:
        st.caption(text.literal(record.note))


def tell_below(*records: Record, place: str = "") -> None:
    """The same, for a class on the next screen; `place` tells apart what one run draws several times."""
    with presenter.screen("read", place):
        tell(*records)


def table(rows: Table) -> None:
    """A table of the core, its header first."""
    with st.container(key="lab_table"):
        st.markdown(text.table(rows[0], rows[1:]))


def matrix(view: View, name: str, values: np.ndarray, slot: tuple[int, int], **more: Any) -> Matrix:
    """Other values of the page's tensor `name`, with its axes and labels; `more` holds id and title.

    What belonged to the page's own values (sources, marks of edits) is left out.
    """
    others: dict[str, Any] = {"values": values, "sources": {}, "changed": None, "editable": False}
    return tensors.matrix(view, name, slot, None, **others | more)


def board(
    view: View, matrices: Sequence[Matrix], label: str, max_height: int = 300, key: str = "lab_board"
) -> None:
    """Matrices of a lab; what is picked in them is picked on the whole page."""
    stage.show(view, matrices, label, key=key, max_height=presenter.rest(max_height))
