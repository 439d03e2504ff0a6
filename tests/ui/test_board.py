import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tests.ui.matrices import make
from ui import board
from ui.board import ASSETS, SCRIPTS, payload
from ui.matrix import Ahead, Matrix

WORDS = ("The", "kite", "The")


def sent(drawn: Matrix) -> dict:
    """What the browser receives of one matrix, through strict JSON."""
    message = json.dumps(payload([drawn], {"query": 1}, label="Board"), allow_nan=False)
    return json.loads(message)["matrices"][0]


def decoded(text: str, dtype: str, description: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype).reshape(description["rows"], description["cols"])


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and np.array_equal(a.view(np.int64), b.view(np.int64))


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2)))
def test_the_browser_receives_the_tensor_bit_by_bit(values):
    description = sent(make(values))

    assert same_bits(decoded(description["values"], "<f8", description), values)


def test_special_numbers_survive():
    values = np.array([[-np.inf, np.inf, np.nan], [-0.0, 5e-324, 1e-300]])

    description = sent(make(values))

    assert same_bits(decoded(description["values"], "<f8", description), values)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "bool"])
def test_other_numbers_arrive_with_their_exact_value(dtype):
    values = np.array([[0, 1, 1], [1, 0, 0]], dtype) / np.array(1, dtype)

    description = sent(make(values))

    assert np.array_equal(decoded(description["values"], "<f8", description), values)


def test_a_transposed_view_arrives_as_it_reads():
    values = np.arange(12.0).reshape(3, 4).T

    description = sent(make(values))

    assert np.array_equal(decoded(description["values"], "<f8", description), values)


@given(st.lists(st.text(), min_size=3, max_size=3))
def test_labels_are_sent_as_they_are(labels):
    description = sent(make(np.zeros((3, 3)), row_labels=labels, col_labels=WORDS))

    assert description["rowLabels"] == labels
    assert description["colLabels"] == ["The", "kite", "The"]


def test_marks_and_categories_are_sent_cell_by_cell():
    changed = np.array([[True, False], [False, True]])
    origin = np.array([[0, 300], [-1, 2]])

    description = sent(make(np.zeros((2, 2)), colours="origin", changed=changed, origin=origin))

    assert np.array_equal(decoded(description["changed"], "u1", description), changed)
    assert np.array_equal(decoded(description["origin"], "<i4", description), origin)


def test_the_message_says_what_the_board_needs():
    drawn = make(
        np.zeros((2, 2)), place=(1, 2), row_start=8, sources={"q": ("query",)}, limits=(-1, np.float32(2))
    )

    message = payload([drawn], {"query": np.int64(4)}, label="Board", answered=7, pickable=False)

    assert message | {"matrices": None} == {
        "label": "Board",
        "selected": {"query": 4},
        "answered": 7,
        "pickable": False,
        "maxHeight": board.MAX_HEIGHT,
        "main": "",
        "scale": 1.0,
        "matrices": None,
        "ahead": [],
    }
    description = sent(drawn)
    assert description["place"] == [1, 2]
    assert description["rowStart"] == 8
    assert description["sources"] == {"q": ["query"]}
    assert description["limits"] == [-1, 2]
    assert description["symbol"] == "Scores S"


def test_what_a_slider_will_bring_is_a_picture_of_its_own():
    step = Ahead("length", "2", "3", [make(np.eye(3))], {"query": 2})

    message = payload([make(np.eye(2))], {"query": 1}, label="Board", ahead=[step])

    picture = payload([make(np.eye(3))], {"query": 2}, label="Board")
    (found,) = message["ahead"]
    assert found | {"matrices": None} == {
        "slider": "length",
        "start": "2",
        "stop": "3",
        "selected": picture["selected"],
        "matrices": None,
    }
    numbers = {"values": None, "news": None}
    assert [one | numbers for one in found["matrices"]] == [one | numbers for one in picture["matrices"]]


def test_a_next_picture_brings_only_the_numbers_that_are_new():
    step = Ahead("length", "2", "3", [make(np.eye(3)), make(np.ones((1, 1)), id="another")], {})

    message = payload([make(np.array([[1.0, 7.0], [0.0, 1.0]]))], {}, label="Board", ahead=[step])

    known, unknown = message["ahead"][0]["matrices"]
    assert list(np.frombuffer(base64.b64decode(known["values"]))) == [0, 0, 0, 0, 0, 1]
    assert base64.b64decode(known["news"]) == bytes([0b01100111, 0b10000000])
    assert unknown["news"] is None
    assert list(np.frombuffer(base64.b64decode(unknown["values"]))) == [1]
    assert message["matrices"][0]["news"] is None


def test_two_matrices_with_one_id_are_refused():
    drawn = make(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="different ids, found scores, scores"):
        payload([drawn, drawn], {}, label="Board")


def test_a_message_reaches_the_callbacks_once(monkeypatch):
    state = {"board": {"sent": None}, "board_answered": 2}
    monkeypatch.setattr(board.st, "session_state", state)
    picks, edits = [], []

    def receive(message: dict) -> None:
        state["board"]["sent"] = message
        board._receive("board", {"q"}, picks.append, lambda *edit: edits.append(edit))

    old = {"n": 2, "id": "q", "row": 0, "col": 0, "value": 9}
    new = {"n": 3, "id": "q", "row": 4, "col": 0, "value": 7}
    receive({"n": 4, "pick": {"query": 4, "key": 1}, "edits": [old, new]})
    receive({"n": 5, "pick": None, "edits": [new, {**new, "n": 5, "id": "unknown"}]})

    assert picks == [{"query": 4, "key": 1}]
    assert edits == [("q", 4, 0, 7.0)]
    assert state["board_answered"] == 5


def test_every_script_is_part_of_the_module():
    assert {path.name for path in ASSETS.glob("*.js")} == set(SCRIPTS)
