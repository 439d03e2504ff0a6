import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ui import matrix
from ui.matrix import ASSETS, SCRIPTS, Ahead, Matrix, payload

WORDS = ("The", "kite", "The")


def make(values: np.ndarray, **more) -> Matrix:
    """A matrix with as many labels as it needs."""
    values = np.asarray(values)
    labels = [[f"{side}{i}" for i in range(n)] for side, n in zip("rc", values.shape, strict=True)]
    return Matrix(
        **{
            "id": "scores",
            "title": "Scores S",
            "values": values,
            "row_labels": labels[0],
            "col_labels": labels[1],
            "row_axis": "query",
            "col_axis": "key",
            "colours": "diverging",
            **more,
        }
    )


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
        "maxHeight": matrix.MAX_HEIGHT,
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
    assert message["ahead"] == [
        {
            "slider": "length",
            "start": "2",
            "stop": "3",
            "selected": picture["selected"],
            "matrices": picture["matrices"],
        }
    ]


def complaint(values=((1.0, 2.0), (3.0, 4.0)), **more) -> str:
    with pytest.raises(ValueError, match=r"[Mm]atrix") as raised:
        make(np.asarray(values), **more)
    return str(raised.value)


def test_labels_that_do_not_fit_are_refused_with_both_counts():
    text = complaint(np.zeros((7, 4)), row_labels=WORDS)
    assert text == "Matrix 'scores' has 3 row labels, but its values have shape (7, 4): 7 rows."
    assert "2 column labels" in complaint(np.zeros((7, 4)), col_labels="ab")


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.zeros((3, 0))])
def test_a_matrix_without_cells_is_refused(values):
    assert f"needs rows and columns, found shape {values.shape}" in complaint(values)


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((2, 2, 2))])
def test_other_ranks_are_refused(values):
    with pytest.raises(ValueError, match="needs rows and columns, found shape"):
        Matrix("s", "S", values, WORDS, WORDS, "query", "key", "share")


@pytest.mark.parametrize("values", [np.zeros((2, 2), complex), np.full((2, 2), "1"), np.full((2, 2), None)])
def test_what_is_no_real_number_is_refused(values):
    assert f"needs an array of real numbers, found {values.dtype}" in complaint(values)


def test_lists_are_refused():
    with pytest.raises(ValueError, match="needs an array of real numbers, found list"):
        Matrix("s", "S", [[1.0]], "a", "b", "query", "key", "share")


def test_colours_are_known_and_fit_the_categories():
    assert "diverging, share, sequential, origin; matrix 'scores' has 'rainbow'" in complaint(
        colours="rainbow"
    )
    assert "found colours='origin' and origin=None" in complaint(colours="origin")
    assert "found colours='share' and origin=given" in complaint(
        colours="share", origin=np.zeros((2, 2), int)
    )


def test_marks_of_another_shape_are_refused_with_both_shapes():
    text = complaint(changed=np.zeros((2, 3), bool))
    assert text == "Matrix 'scores': changed has shape (2, 3), values has (2, 2)."


def test_two_matrices_with_one_id_are_refused():
    drawn = make(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="different ids, found scores, scores"):
        payload([drawn, drawn], {}, label="Board")


def test_a_message_reaches_the_callbacks_once(monkeypatch):
    state = {"board": {"sent": None}, "board_answered": 2}
    monkeypatch.setattr(matrix.st, "session_state", state)
    picks, edits = [], []

    def receive(message: dict) -> None:
        state["board"]["sent"] = message
        matrix._receive("board", {"q"}, picks.append, lambda *edit: edits.append(edit))

    old = {"n": 2, "id": "q", "row": 0, "col": 0, "value": 9}
    new = {"n": 3, "id": "q", "row": 4, "col": 0, "value": 7}
    receive({"n": 4, "pick": {"query": 4, "key": 1}, "edits": [old, new]})
    receive({"n": 5, "pick": None, "edits": [new, {**new, "n": 5, "id": "unknown"}]})

    assert picks == [{"query": 4, "key": 1}]
    assert edits == [("q", 4, 0, 7.0)]
    assert state["board_answered"] == 5


def test_every_script_is_part_of_the_module():
    assert {path.name for path in ASSETS.glob("*.js")} == set(SCRIPTS)
