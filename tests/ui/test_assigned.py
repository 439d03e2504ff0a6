"""ui/assigned.py: what was assigned is not undone by a message that was sent before it was heard."""

import pytest
import streamlit as st

from ui import assigned


@pytest.fixture(autouse=True)
def clock(monkeypatch) -> list[float]:
    """[the seconds that it is]"""
    now = [100.0]
    monkeypatch.setattr(assigned.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(st, "session_state", {"T": 7, "row": 4})
    monkeypatch.setattr(st, "query_params", {})
    return now


def reported(**values: int) -> dict[str, int]:
    """What the inputs hold in a run for which the browser has reported these."""
    st.session_state.update(values)
    assigned.settle()
    return {key: st.session_state[key] for key in values}


def test_an_echo_counts_as_what_was_assigned():
    assigned.assign({"T": 8})
    assert reported(T=7, row=4) == {"T": 8, "row": 4}
    assigned.assign({"T": 9})
    assert reported(T=7) == {"T": 9}
    assert reported(T=8) == {"T": 9}
    assert reported(T=9) == {"T": 9}


def test_another_value_is_the_readers_own():
    assigned.assign({"T": 8})
    assert reported(T=12) == {"T": 12}


def test_there_and_back_is_where_the_reader_went_last():
    assigned.assign({"T": 8})
    assigned.assign({"T": 7})
    assert reported(T=8) == {"T": 7}
    assert reported(T=7) == {"T": 7}


def test_later_the_old_value_is_meant(clock):
    assigned.assign({"T": 8})
    clock[0] += 1.01 * assigned.ECHO_SECONDS
    assert reported(T=7) == {"T": 7}
    assert not assigned.is_echo("T")
