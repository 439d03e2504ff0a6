"""What is sent ahead of a slider's move is what the page draws once the slider has been moved."""

import base64
import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES
from tests.pages.conftest import drawn
from ui.ahead import MOST_NEWS, SLIDERS

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


def whole(step: dict, page: dict[str, dict]) -> list[dict]:
    """A next picture with all its numbers, each new one in its place among those that `page` has already."""
    return [
        matrix | {"values": _put_together(matrix, page.get(matrix["id"])), "news": None}
        for matrix in step["matrices"]
    ]


def _put_together(matrix: dict, there: dict | None) -> str:
    if matrix["news"] is None:
        return matrix["values"]
    shape = matrix["rows"], matrix["cols"]
    bits = np.frombuffer(base64.b64decode(matrix["news"]), np.uint8)
    news = np.unpackbits(bits, count=shape[0] * shape[1]).reshape(shape).astype(bool)
    numbers = np.full(shape, np.nan)
    common = tuple(slice(min(sizes)) for sizes in zip(shape, there["values"].shape, strict=True))
    numbers[common] = there["values"][common]
    numbers[news] = np.frombuffer(base64.b64decode(matrix["values"]))
    return base64.b64encode(numbers.tobytes()).decode()


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
    here, page = board(app), drawn(app)
    assert {step["slider"] for step in here["ahead"]} == set(SLIDERS)
    for step in here["ahead"]:
        field, _ = SLIDERS[step["slider"]]
        assert step["start"] == state.get(field, {"seq_len": "7", "d_k": "4"}[field])
        there = board(move(app, field, int(step["stop"])))
        assert whole(step, page) == there["matrices"]
        assert step["selected"] == there["selected"]
        assert whole(step, page) != here["matrices"]
        app = open_page(slug, **state)


def test_the_steps_are_the_sliders_own(open_page):
    def steps(**state: str) -> list[tuple[str, str]]:
        return [(step["slider"], step["stop"]) for step in board(open_page("start", **state))["ahead"]]

    assert steps(d_k="8") == [("seq_len_dragged", "6"), ("seq_len_dragged", "8"), ("d_k", "4"), ("d_k", "16")]
    steps = [
        (step["slider"], step["stop"]) for step in board(open_page("start", seq_len="2", d_k="1"))["ahead"]
    ]
    assert steps == [("seq_len_dragged", "3"), ("d_k", "2")]


@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("slug", [page.slug for page in PAGES[:6]])
def test_a_long_sequence_has_its_next_lengths_too_and_sends_few_numbers(open_page, slug, mask):
    app = open_page(slug, seq_len="63", mask=mask)
    here, page = board(app), drawn(app)
    assert [step["stop"] for step in here["ahead"]] == ["62", "64"]
    for step in here["ahead"]:
        assert sum(len(matrix["values"]) for matrix in step["matrices"]) <= MOST_NEWS * 8 * 4 / 3 + 16
        there = board(move(app, "seq_len", int(step["stop"])))
        assert whole(step, page) == there["matrices"]
        app = open_page(slug, seq_len="63", mask=mask)


@pytest.mark.parametrize(
    "large",
    [{"n_heads": "8", "d_k": "64"}, {"example": "model"}, {"n_heads": "8", "head": "all", "seq_len": "64"}],
    ids=str,
)
def test_nothing_large_is_sent_ahead(open_page, large):
    assert board(open_page("start", **large))["ahead"] == []
