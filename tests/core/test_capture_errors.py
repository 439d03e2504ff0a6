"""Rounding is told from a difference that is none, whatever the file's number format."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attention, softmax
from core.capture_errors import errors, own_tensor
from core.captures import Capture, to_capture
from core.clinic.precision import ROUNDOFF, rounded_to
from core.masks import causal


def inputs(seed: int, size: float = 1.0, seq_len: int = 9, d: int = 16) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: size * rng.normal(size=(3, seq_len, d)) for name in "qkv"}


def kept(arrays: dict[str, np.ndarray], number_format: str) -> dict[str, np.ndarray]:
    return {name: rounded_to(array, number_format) for name, array in arrays.items()}


def file_of(arrays: dict[str, np.ndarray], number_format: str) -> dict[str, np.ndarray]:
    """A capture of a model that rounds to its format after every step."""
    held = kept(arrays, number_format)
    q, k, v = (held[name] for name in "qkv")
    scores = rounded_to(rounded_to(q @ k.mT, number_format) / np.sqrt(q.shape[-1]), number_format)
    scores = np.where(causal(scores.shape[-1], scores.shape[-1]), scores, -np.inf)
    weights = rounded_to(softmax(scores), number_format)
    out = rounded_to(weights @ v, number_format)
    return held | {"weights": weights, "out": out, "causal": np.array(True)}


@pytest.mark.parametrize("number_format", ROUNDOFF)
@given(seed=st.integers(0, 2**32), size=st.sampled_from([0.3, 1.0, 3.0]))
def test_a_model_that_rounds_after_every_step_is_no_difference(
    number_format: str, seed: int, size: float
) -> None:
    found = errors(to_capture(file_of(inputs(seed, size), number_format)))
    assert found.number_format == number_format
    assert found.beyond == ()
    assert found.weights is not None
    assert number_format == "float64" or found.weights > 0


@pytest.mark.parametrize(("number_format", "size"), [("float64", 1e-9), ("float32", 1e-3), ("float16", 0.2)])
def test_a_weight_that_is_not_what_the_rest_gives_is_found(number_format: str, size: float) -> None:
    arrays = file_of(inputs(1), number_format)
    own = arrays["weights"].copy()
    own[2, 5, 3] += size
    arrays["weights"] = rounded_to(own, number_format)
    (cell,) = errors(to_capture(arrays)).beyond
    assert (cell.tensor, cell.head, cell.row, cell.col) == ("weights", 2, 5, 3)
    assert cell.own == arrays["weights"][2, 5, 3]
    assert cell.own - cell.computed == pytest.approx(size, rel=0.1)
    assert cell.rounding < size


def test_softmax_over_the_wrong_axis_in_one_head_is_found_in_weights_and_output() -> None:
    arrays = {name: array.astype(np.float32) for name, array in inputs(4).items()}
    right = attention(arrays["q"], arrays["k"], arrays["v"])
    weights = right.weights.copy()
    weights[1] = softmax(right.scaled_scores[1].T).T
    capture = to_capture({**arrays, "weights": weights, "out": weights @ arrays["v"]})
    found = errors(capture)
    assert [(cell.tensor, cell.head) for cell in found.beyond] == [("weights", 1), ("output", 1)]
    differences = np.abs(weights - right.weights)
    assert found.weights == pytest.approx(differences.max())
    cell = found.beyond[0]
    assert (cell.head, cell.row, cell.col) == np.unravel_index(differences.argmax(), differences.shape)
    np.testing.assert_array_equal(own_tensor(capture, "weights", 1), weights[1])


def test_numbers_that_are_not_finite_are_compared_with_nothing() -> None:
    arrays = file_of(inputs(2), "float32")
    arrays["weights"][0, 4, 0] = np.nan
    arrays["out"][0, 4, 0] = np.inf
    found = errors(to_capture(arrays))
    assert found.weights is not None
    assert found.output is not None
    assert np.isnan(found.weights)
    assert np.isinf(found.output)
    assert found.beyond == ()


def test_huge_scores_overflow_no_bound_and_excuse_no_weight_above_1() -> None:
    arrays = kept(inputs(3, size=1e5), "float32")
    own = np.stack([to_capture(arrays).head(head).weights for head in range(3)])
    head, row, col = np.unravel_index(own.argmax(), own.shape)
    assert own[head, row, col] == 1
    own[head, row, col] = 5
    (cell,) = errors(to_capture({**arrays, "weights": own})).beyond
    assert (cell.head, cell.row, cell.col, cell.rounding) == (head, row, col, 1)


def test_the_worst_cell_of_all_heads_is_named() -> None:
    arrays = file_of(inputs(1), "float64")
    for head, size in enumerate((0.1, 0.3, 0.2)):
        arrays["weights"][head, 4, 2] += size
    (cell,) = errors(to_capture(arrays)).beyond
    assert cell.head == 1


def test_the_coarsest_format_counts_and_whole_numbers_tell_of_none() -> None:
    held, coarse = kept(inputs(5), "float32"), file_of(inputs(5), "bfloat16")
    found = errors(to_capture({**held, "out": coarse["out"], "causal": np.array(True)}))
    assert (found.number_format, found.beyond) == ("bfloat16", ())
    whole = {name: np.arange(24.0).reshape(1, 6, 4) % 5 for name in "qkv"}
    assert errors(to_capture(whole)).number_format == "float32"


def test_a_file_without_weights_and_output_has_nothing_to_compare() -> None:
    capture: Capture = to_capture(inputs(0))
    assert errors(capture).beyond == ()
    assert (errors(capture).weights, errors(capture).output) == (None, None)
    with pytest.raises(ValueError, match="holds no weights"):
        own_tensor(capture, "weights", 0)
