"""core/gradients.py against PyTorch's automatic differentiation, finite differences and closed cases."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core import gradients, masks
from core.attention import attention, softmax
from core.checks import ShapeError
from core.gradients import attention_backward, jacobian_norm, nudge, softmax_jacobian

GOLDEN = dict(np.load(Path(__file__).parents[1] / "golden" / "labs.npz"))
ROWS = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=st.floats(-30, 30))


def test_jacobian_is_what_pytorch_differentiates():
    weights = softmax(GOLDEN["jacobian_rows"])
    np.testing.assert_allclose(softmax_jacobian(weights), GOLDEN["jacobian"], rtol=1e-12, atol=1e-16)


@given(ROWS)
def test_jacobian_norm_is_the_norm_of_the_matrix(rows):
    weights = softmax(rows)
    matrix = softmax_jacobian(weights)
    exact = np.sqrt((matrix**2).sum(axis=(-2, -1)))
    np.testing.assert_allclose(jacobian_norm(weights), exact, rtol=1e-6, atol=1e-15)


def test_jacobian_norm_keeps_its_digits_when_one_weight_is_nearly_1():
    """Two keys with a gap g: the norm is 2 a (1 - a), and 1 - a = 1 / (1 + e^g)."""
    gaps = np.array([1.0, 10.0, 20.0, 30.0, 36.0])
    weights = softmax(np.stack([gaps, np.zeros(5)], axis=-1))
    other = 1 / (1 + np.exp(gaps))
    np.testing.assert_allclose(jacobian_norm(weights), 2 * other * (1 - other), rtol=1e-12)


@given(ROWS)
def test_jacobian_rows_and_columns_sum_to_zero(rows):
    """A shift of all scores changes nothing; the weights always sum to 1."""
    matrix = softmax_jacobian(softmax(rows))
    np.testing.assert_allclose(matrix.sum(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=-2), 0, atol=1e-12)


@pytest.mark.parametrize("name", ["none", "causal", "padding", "dead"])
def test_backward_pass_is_what_pytorch_differentiates(name):
    q, k, v, d_output = (GOLDEN[f"backward_{name}_{key}"] for key in ("q", "k", "v", "d_output"))
    allowed = GOLDEN.get(f"backward_{name}_allowed")
    found = attention_backward(attention(q, k, v, allowed), d_output)
    for tensor in ("q", "k", "v", "scores", "scaled_scores", "weights", "output"):
        golden = GOLDEN[f"backward_{name}_d_{tensor}"]
        np.testing.assert_allclose(getattr(found, tensor), golden, rtol=1e-10, atol=1e-13, err_msg=tensor)


@pytest.mark.parametrize("allowed", [None, masks.causal(4)], ids=["none", "causal"])
@pytest.mark.parametrize("tensor", ["q", "k", "v"])
def test_backward_pass_is_the_slope_that_is_measured(tensor, allowed):
    rng = np.random.default_rng(3)
    inputs = {"q": rng.normal(size=(4, 5)), "k": rng.normal(size=(4, 5)), "v": rng.normal(size=(4, 3))}
    d_output = rng.normal(size=(4, 3))
    found = getattr(attention_backward(attention(**inputs, allowed=allowed), d_output), tensor)
    for index in np.ndindex(found.shape):
        loss = []
        for step in (1e-5, -1e-5):
            moved = {name: x.copy() for name, x in inputs.items()}
            moved[tensor][index] += step
            loss.append((attention(**moved, allowed=allowed).output * d_output).sum())
        assert found[index] == pytest.approx((loss[0] - loss[1]) / 2e-5, abs=1e-8)


def test_hidden_scores_get_exactly_no_gradient():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 6, 4))
    found = attention_backward(attention(q, k, v, masks.causal(6)), rng.normal(size=(6, 4)))
    assert (found.scores[~masks.causal(6)] == 0).all()
    assert (found.scores[np.tril_indices(6)][1:] != 0).all()  # row 0 has one key: nothing to shift


def test_another_divisor_changes_the_scores_gradient_alone():
    rng = np.random.default_rng(0)
    steps, d_output = attention(*rng.normal(size=(3, 6, 4))), rng.normal(size=(6, 4))
    usual, undivided = attention_backward(steps, d_output), attention_backward(steps, d_output, divisor=1.0)
    np.testing.assert_array_equal(undivided.scaled_scores, usual.scaled_scores)
    np.testing.assert_allclose(undivided.scores, 2 * usual.scores)


def test_a_gradient_of_another_shape_is_refused_with_both_shapes():
    steps = attention(*np.ones((3, 6, 4)))
    with pytest.raises(ShapeError, match=r"\(6, 3\).*\(6, 4\)"):
        attention_backward(steps, np.ones((6, 3)))


def test_nudge_moves_the_row_by_its_jacobian():
    row = np.array([-1, 4, 0, -1, 1, -1, 1.5])
    found = nudge(row, 1, amount=1e-6)
    slope = softmax_jacobian(softmax(row[None]))[0][:, 1]
    np.testing.assert_allclose((found.after - found.before) / 1e-6, slope, atol=1e-6)
    assert found.change == found.after[1] - found.before[1]
    assert row[1] == 4  # the row itself is not moved


def test_nothing_but_the_scores_own_steps_is_differentiated():
    """The record has a gradient for every tensor that AttentionSteps has."""
    assert set(gradients.AttentionGradients.__slots__) == set(attention(*np.ones((3, 2, 2))).__slots__)
