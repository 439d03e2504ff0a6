import re
from typing import Any

import numpy as np
import pytest

from core.attention import attention, blend, mask, score, softmax
from core.checks import ShapeError, as_float, check_array, check_attention, check_query_key

GOOD = np.ones((2, 3))
# What is refused in place of an array, and what the sentence says.
REFUSED = [
    ([[1.0, 2.0]], TypeError, "NumPy array, but it is a list"),
    (None, TypeError, "NumPy array, but it is a NoneType"),
    (np.ones((2, 3), complex), TypeError, "real numbers, but its dtype is complex128"),
    (np.ones((2, 3), object), TypeError, "real numbers, but its dtype is object"),
    (np.ones((2, 3), bool), TypeError, "real numbers, but its dtype is bool"),
    (np.full((2, 3), "a"), TypeError, "real numbers, but its dtype is <U1"),
    (np.float64(1.0), TypeError, "NumPy array, but it is a float64"),
    (np.array(1.0), ShapeError, "at least 2 axes (rows, width), but its shape is ()"),
    (np.ones(3), ShapeError, "at least 2 axes (rows, width), but its shape is (3,)"),
    (np.ones((0, 3)), ShapeError, "empty axis: its shape is (0, 3)"),
    (np.ones((2, 0)), ShapeError, "empty axis: its shape is (2, 0)"),
    (np.ones((0, 2, 3)), ShapeError, "empty axis: its shape is (0, 2, 3)"),
]
ids = [sentence for *_, sentence in REFUSED]


@pytest.mark.parametrize(("bad", "error", "sentence"), REFUSED, ids=ids)
def test_what_is_no_array_of_numbers_is_refused_by_name(
    bad: Any, error: type[Exception], sentence: str
) -> None:
    for name, call in (
        ("x", lambda: check_array("x", bad)),
        ("q", lambda: attention(bad, GOOD, GOOD)),
        ("k", lambda: attention(GOOD, bad, GOOD)),
        ("v", lambda: attention(GOOD, GOOD, bad)),
        ("q", lambda: attention(bad, bad, bad)),
        ("q", lambda: score(bad, GOOD)),
        ("k", lambda: score(GOOD, bad)),
        ("weights", lambda: blend(bad, GOOD)),
        ("v", lambda: blend(np.ones((2, 2)), bad)),
        ("masked_scores", lambda: softmax(bad)),
    ):
        with pytest.raises(error, match=rf"^{name} .*{re.escape(sentence)}"):
            call()


MISFITS = [
    ((7, 8), (7, 7), (7, 3), "q has d_k = 8, k has d_k = 7", "(7, 8)", "(7, 7)"),
    ((7, 4), (6, 4), (5, 3), "there are 6 keys but 5 values", "(6, 4)", "(5, 3)"),
    ((2, 7, 4), (3, 7, 4), (3, 7, 3), "leading axes", "(2, 7, 4)", "(3, 7, 4)"),
    ((2, 7, 4), (1, 7, 4), (3, 7, 3), "leading axes", "(2, 7, 4)", "(3, 7, 3)"),
    ((1, 7, 4), (2, 7, 4), (3, 7, 3), "leading axes", "(2, 7, 4)", "(3, 7, 3)"),
]


@pytest.mark.parametrize(("q", "k", "v", "sentence", "one", "other"), MISFITS)
def test_what_does_not_fit_is_refused_with_both_shapes(
    q: tuple, k: tuple, v: tuple, sentence: str, one: str, other: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        attention(np.ones(q), np.ones(k), np.ones(v))
    message = str(caught.value)
    assert sentence in message
    assert one in message
    assert other in message


def test_the_functions_alone_name_both_shapes_too() -> None:
    with pytest.raises(ShapeError, match=r"q has d_k = 4, k has d_k = 5.*\(7, 4\).*\(7, 5\)"):
        score(np.ones((7, 4)), np.ones((7, 5)))
    with pytest.raises(ShapeError, match=r"leading axes.*\(2, 7, 4\).*\(3, 7, 4\)"):
        score(np.ones((2, 7, 4)), np.ones((3, 7, 4)))
    with pytest.raises(ShapeError, match=r"7 keys but 6 values.*\(7, 7\).*\(6, 3\)"):
        blend(np.ones((7, 7)), np.ones((6, 3)))
    with pytest.raises(ShapeError, match=r"leading axes.*\(2, 7, 7\).*\(3, 7, 3\)"):
        blend(np.ones((2, 7, 7)), np.ones((3, 7, 3)))


@pytest.mark.parametrize(
    ("allowed", "error", "sentence"),
    [
        (np.ones((7, 7)), TypeError, "boolean array .* but it is float64"),
        (np.ones((7, 7), int), TypeError, "boolean array .* but it is int64"),
        ([[True]], TypeError, "boolean array .* but it is list"),
        (np.ones((6, 7), bool), ShapeError, r"allowed has shape \(6, 7\), the scores have shape \(2, 7, 7\)"),
        (np.ones((3, 7, 7), bool), ShapeError, r"\(3, 7, 7\), the scores have shape \(2, 7, 7\)"),
        (np.ones((5, 2, 7, 7), bool), ShapeError, r"\(5, 2, 7, 7\), the scores have shape \(2, 7, 7\)"),
    ],
)
def test_a_mask_that_is_none_is_refused(allowed: Any, error: type[Exception], sentence: str) -> None:
    x = np.ones((2, 7, 4))
    with pytest.raises(error, match=sentence):
        attention(x, x, x, allowed)
    with pytest.raises(error, match=sentence):
        mask(np.ones((2, 7, 7)), allowed)


@pytest.mark.parametrize("shape", [(7,), (1, 7), (7, 1), (1, 1), (2, 1, 7), (2, 7, 7), ()])
def test_a_mask_may_broadcast(shape: tuple) -> None:
    x = np.ones((2, 7, 4))
    assert attention(x, x, x, np.ones(shape, bool)).output.shape == (2, 7, 4)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_integers_become_float64(dtype: type) -> None:
    x = np.ones((2, 3), dtype)
    assert as_float(x).dtype == np.float64
    assert {array.dtype for array in check_attention(x, x, x)} == {np.dtype(float)}
    assert {array.dtype for array in check_query_key(x, x)} == {np.dtype(float)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_stay_what_they_are(dtype: type) -> None:
    x = np.ones((2, 3), dtype)
    assert as_float(x) is x
    assert all(array is x for array in check_attention(x, x, x))


def test_leading_axes_broadcast() -> None:
    steps = attention(np.ones((5, 1, 7, 4)), np.ones((3, 6, 4)), np.ones((6, 2)))
    assert steps.weights.shape == (5, 3, 7, 6)
    assert steps.output.shape == (5, 3, 7, 2)
