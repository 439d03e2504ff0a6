"""Long experiments: started by a button, drawn while they run, stopped by a button.

A click on Stop makes Streamlit run the page anew, and that ends the run which is under way at its next
drawing. Hence no fragment here: a fragment's run cannot be interrupted by its own buttons. What had been
measured by then is kept for this session, together with the settings it belongs to.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from ui import text

KEPT = "kept_run"  # session_state: the last long experiment of this session
REDRAW_AFTER = 0.1  # seconds from one drawing to the next

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Kept(Generic[Record]):
    """An experiment, its settings, and how far it has come."""

    name: str
    settings: Hashable
    record: Record | None


@dataclass(frozen=True, slots=True)
class Experiment(Generic[Record]):
    """What `show` needs to know: the settings, how to start, how to draw, how far a record has come."""

    name: str
    settings: Hashable
    start: Callable[[], Iterator[Record]]
    draw: Callable[[Record, str], None]  # a record, and a name that no other drawing of this run has
    done: Callable[[Record], tuple[int, int]]  # (7, 20): 7 of 20 rounds are done
    rounds: str  # "steps"


def show(experiment: Experiment[Record]) -> None:
    """The first time it starts by itself, so that a link shows its point; then only by its button."""
    kept = st.session_state.get(KEPT)
    kept = kept if kept and kept.name == experiment.name else None
    buttons = st.container(horizontal=True, vertical_alignment="center")
    started = buttons.button("Train", key="train")
    status, picture = buttons.empty(), st.empty()
    if started or kept is None:
        _run(experiment, status, picture)
    elif kept.record is None:
        status.caption("Stopped before anything was measured.")
    else:
        _tell(experiment, kept.settings, kept.record, status)
        with picture.container():
            experiment.draw(kept.record, "kept")


def _run(experiment: Experiment[Record], status, picture) -> None:  # noqa: ANN001 - Streamlit's own type
    """Draw and keep every record; a rerun (by Stop, or by any other control) leaves from here."""
    st.session_state[KEPT] = Kept(experiment.name, experiment.settings, None)
    with status.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop", key="stop")
        bar = st.progress(0.0, width=240)
    drawn = 0.0
    for record in experiment.start():
        st.session_state[KEPT] = Kept(experiment.name, experiment.settings, record)
        done, of = experiment.done(record)
        bar.progress(done / of, f"{done} of {of} {experiment.rounds}")
        if done == of or time.monotonic() - drawn > REDRAW_AFTER:
            with picture.container():
                experiment.draw(record, f"frame{done}")
            drawn = time.monotonic()
    status.empty()


def _tell(experiment: Experiment[Record], settings: Hashable, record: Record, status) -> None:  # noqa: ANN001
    """Say it where the curves were stopped, and where they belong to other settings."""
    done, of = experiment.done(record)
    words = [] if done == of else [f"Stopped after {done} of {of} {experiment.rounds}."]
    if settings != experiment.settings:
        words.append(text.part("labs/labs", "Other settings"))
    if words:
        status.caption(" ".join(words))
