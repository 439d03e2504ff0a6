"""ui/controls/sidebar.py: what a message that no widget of ours sends does to the inputs."""

import pytest
import streamlit as st

from core.setup import Setup
from ui.assigned import assign, settle
from ui.controls import sidebar


@pytest.mark.parametrize("name", ["no such example", "yours"])
def test_an_example_that_is_not_offered_changes_nothing(monkeypatch, name: str) -> None:
    held = {"example": name, "seq_len": 9, "edits": "q.0.0.0=1"}
    monkeypatch.setattr(st, "session_state", held.copy())
    sidebar._take_natural_size()
    assert st.session_state == held


def test_an_example_that_is_offered_brings_its_size(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {"example": Setup().example, "seq_len": 9})
    sidebar._take_natural_size()
    assert st.session_state["seq_len"] == Setup().seq_len


def test_its_size_is_not_undone_by_what_was_assigned_a_moment_before(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {"example": Setup().example, "seq_len": Setup().seq_len})
    assign({"seq_len": 9})
    sidebar._take_natural_size()
    settle()
    assert st.session_state["seq_len"] == Setup().seq_len
