import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import masks
from core.attention import attention
from core.checks import ShapeError
from tests.core.golden import assert_close, cases

SIZES = st.integers(1, 12)


def test_causal_is_the_lower_triangle() -> None:
    np.testing.assert_array_equal(masks.causal(3), [[True, False, False], [True, True, False], [True] * 3])


@given(SIZES, SIZES)
def test_causal_lets_a_query_see_up_to_its_own_position(n_q: int, n_k: int) -> None:
    """The queries are the last n_q of the keys' positions."""
    allowed = masks.causal(n_q, n_k)
    assert allowed.shape == (n_q, n_k)
    assert allowed.dtype == bool
    for i in range(n_q):
        position = i + n_k - n_q
        np.testing.assert_array_equal(np.flatnonzero(allowed[i]), np.arange(max(0, position + 1)))


def test_causal_is_pytorchs_lower_right_and_not_its_is_causal() -> None:
    golden = cases(holding="sdpa_lower_right")["causal_lower_right"]
    q, k, v = golden["q"], golden["k"], golden["v"]
    np.testing.assert_array_equal(masks.causal(len(q), len(k)), golden["allowed"])
    assert_close(attention(q, k, v, masks.causal(len(q), len(k))).output, golden["sdpa_lower_right"])
    assert_close(attention(q, k, v, np.tri(len(q), len(k), dtype=bool)).output, golden["sdpa_is_causal"])


def test_causal_and_window_are_pytorchs() -> None:
    golden = cases(holding="sdpa")["causal_window"]
    np.testing.assert_array_equal(masks.causal(6) & masks.sliding_window(6, width=2), golden["allowed"])


def test_padding_hides_keys_and_no_query() -> None:
    golden = cases(holding="sdpa")["padding"]
    real = np.array([[True, True, True, False], [True, False, False, False]])
    np.testing.assert_array_equal(masks.padding(real), golden["allowed"])
    weights = attention(golden["q"], golden["k"], golden["v"], masks.padding(real)).weights
    assert (weights[~np.broadcast_to(real[:, None], weights.shape)] == 0).all()
    assert (weights[1, :, 0] == 1).all()


@given(SIZES, SIZES, st.integers(1, 15))
def test_a_window_holds_the_keys_nearer_than_its_width(n_q: int, n_k: int, width: int) -> None:
    allowed = masks.sliding_window(n_q, n_k, width=width)
    assert allowed.shape == (n_q, n_k)
    for i in range(n_q):
        for j in range(n_k):
            assert allowed[i, j] == (abs(i + n_k - n_q - j) < width)


@given(SIZES)
def test_a_window_of_one_is_the_diagonal(n: int) -> None:
    np.testing.assert_array_equal(masks.sliding_window(n, width=1), np.eye(n, dtype=bool))


@given(SIZES)
def test_a_wide_window_hides_nothing(n: int) -> None:
    assert masks.sliding_window(n, width=n).all()


def test_a_mask_that_cannot_be_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"n_q = 0, n_k = 0"):
        masks.causal(0)
    with pytest.raises(ShapeError, match=r"n_q = 3, n_k = 0"):
        masks.sliding_window(3, 0, width=1)
    with pytest.raises(ValueError, match=r"width must be at least 1, but it is 0"):
        masks.sliding_window(3, width=0)
    with pytest.raises(TypeError, match=r"must be boolean .* but it is int64"):
        masks.padding(np.array([1, 0]))
    with pytest.raises(ShapeError, match=r"at least one key, but its shape is \(0,\)"):
        masks.padding(np.array([], bool))
    with pytest.raises(ShapeError, match=r"at least one key, but its shape is \(\)"):
        masks.padding(np.array(True))
