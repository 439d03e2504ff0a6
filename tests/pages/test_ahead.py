"""What is sent ahead of a slider's move is what the page draws once the slider has been moved."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES
from ui.ahead import SLIDERS

STATES = (
    {},
    {"mask": "causal", "row": "6", "col": "6"},  # the last word, which a shorter sequence does not have
    {"mask": "padding", "n_pad": "3", "seq_len": "9", "d_k": "1"},
    {"n_heads": "2", "head": "all", "example": "river", "seq_len": "5", "d_k": "8"},
    {"edits": "q.0.4.0=5;v.0.1.2=-3", "seq_len": "2", "d_k": "3", "channel": "2"},
)


def board(app: AppTest) -> dict:
    """The payload of the page's main matrices."""
    (found,) = [
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.id.endswith("-matrices")
    ]
    return found


def move(app: AppTest, field: str, stop: int) -> AppTest:
    """The page once the slider has been moved."""
    input = app.number_input(key=field) if field == "seq_len" else app.select_slider(key=field)
    return input.set_value(stop).run()


PAGES_AND_STATES = [(page.slug, state) for page in PAGES[:7] for state in STATES[:2]]


@pytest.mark.parametrize(
    ("slug", "state"), PAGES_AND_STATES + [("start", state) for state in STATES[2:]], ids=str
)
def test_each_picture_is_the_one_that_the_page_will_draw(open_page, slug, state):
    app = open_page(slug, **state)
    here = board(app)
    assert {step["slider"] for step in here["ahead"]} == set(SLIDERS)
    for step in here["ahead"]:
        field, _ = SLIDERS[step["slider"]]
        assert step["start"] == state.get(field, {"seq_len": "7", "d_k": "4"}[field])
        there = board(move(app, field, int(step["stop"])))
        assert step["matrices"] == there["matrices"]
        assert step["selected"] == there["selected"]
        assert step["matrices"] != here["matrices"]
        app = open_page(slug, **state)


def test_the_steps_are_the_sliders_own(open_page):
    def steps(**state: str) -> list[tuple[str, str]]:
        return [(step["slider"], step["stop"]) for step in board(open_page("start", **state))["ahead"]]

    assert steps(d_k="8") == [("seq_len_dragged", "6"), ("seq_len_dragged", "8"), ("d_k", "4"), ("d_k", "16")]
    steps = [
        (step["slider"], step["stop"]) for step in board(open_page("start", seq_len="2", d_k="1"))["ahead"]
    ]
    assert steps == [("seq_len_dragged", "3"), ("d_k", "2")]


@pytest.mark.parametrize(
    "large", [{"seq_len": "64"}, {"n_heads": "8", "d_k": "64"}, {"example": "model"}], ids=str
)
def test_nothing_large_is_sent_ahead(open_page, large):
    assert board(open_page("start", **large))["ahead"] == []
