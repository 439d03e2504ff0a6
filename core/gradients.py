"""How the output moves when something before it moves: the backward pass of attention, by hand.

Derivatives of the four steps of core/attention.py, each next to its formula. For a loss L,
`d_x` is ∂L/∂x and has the shape of x. Axes as in core/attention.py.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, softmax
from core.checks import ShapeError, check_array


def softmax_jacobian(weights: np.ndarray) -> np.ndarray:
    """weights (..., n_k) -> (..., n_k, n_k): entry [i, j] is ∂weight_i / ∂score_j = a_i (δ_ij - a_j).

    The derivative with respect to what goes *into* softmax; towards the raw scores there is
    one more factor 1/√d_k where they were scaled.
    """
    return weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])


def jacobian_norm(weights: np.ndarray) -> np.ndarray:
    """weights (..., n_k) -> (...): Frobenius norm of each row's softmax Jacobian, with no matrix built.

    The square is S2 - 2 S3 + S2², with S_p = Σ a^p. Of a row whose largest weight is nearly 1
    that is a difference of nearly equal numbers, so the largest weight is set apart: with r, R2
    and R3 the sums Σ a, Σ a² and Σ a³ over the others, the square is
    (a_max r)² + 2 a_max² R2 + (R2 - 2 R3) + R2², and no term of it is negative.
    """
    top = weights.argmax(axis=-1)[..., None]
    largest = np.take_along_axis(weights, top, axis=-1)[..., 0]
    others = weights.copy()
    np.put_along_axis(others, top, 0.0, axis=-1)
    squares = others * others
    r, r2, r3 = others.sum(axis=-1), squares.sum(axis=-1), (squares * others).sum(axis=-1)
    return np.sqrt((largest * r) ** 2 + 2 * largest**2 * r2 + (r2 - 2 * r3) + r2 * r2)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionGradients:
    """∂L/∂ of each tensor of AttentionSteps, same names and shapes, in the order in which they are found."""

    output: np.ndarray  # (..., n_q, d_v)
    weights: np.ndarray  # (..., n_q, n_k)
    masked_scores: np.ndarray  # (..., n_q, n_k)
    scaled_scores: np.ndarray  # (..., n_q, n_k)
    scores: np.ndarray  # (..., n_q, n_k)
    q: np.ndarray  # (..., n_q, d_k)
    k: np.ndarray  # (..., n_k, d_k)
    v: np.ndarray  # (..., n_k, d_v)


def attention_backward(
    steps: AttentionSteps, d_output: np.ndarray, divisor: float | None = None
) -> AttentionGradients:
    """The steps of one attention and ∂L/∂output (..., n_q, d_v) -> ∂L/∂ of every tensor.

    `divisor` is what the scores were divided by; None means √d_k, as `attention` does.
    A row with nothing allowed has NaN weights; it makes ∂L/∂v NaN, as PyTorch's automatic
    differentiation does, while the mask stops it on the way to the scores.
    Raises ShapeError when d_output has not the output's shape.
    """
    check_array("d_output", d_output)
    if d_output.shape != steps.output.shape:
        raise ShapeError(f"d_output has shape {d_output.shape}, the output has shape {steps.output.shape}")
    divisor = math.sqrt(steps.q.shape[-1]) if divisor is None else divisor
    d_weights, d_v = blend_backward(steps.weights, steps.v, d_output)
    d_masked = softmax_backward(steps.weights, d_weights)
    d_scaled = mask_backward(steps.masked_scores, d_masked)
    d_scores = d_scaled / divisor
    d_q, d_k = score_backward(steps.q, steps.k, d_scores)
    return AttentionGradients(d_output, d_weights, d_masked, d_scaled, d_scores, d_q, d_k, d_v)


def blend_backward(weights: np.ndarray, v: np.ndarray, d_output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """O = A V -> ∂L/∂A = ∂L/∂O Vᵀ and ∂L/∂V = Aᵀ ∂L/∂O."""
    d_weights = d_output @ v.swapaxes(-1, -2)
    d_v = weights.swapaxes(-1, -2) @ d_output
    return _sum_to(d_weights, weights.shape), _sum_to(d_v, v.shape)


def softmax_backward(weights: np.ndarray, d_weights: np.ndarray) -> np.ndarray:
    """A = softmax(Z) -> ∂L/∂Z = A (∂L/∂A - the row's weighted mean of ∂L/∂A).

    The product of the row's Jacobian and ∂L/∂A. Every entry has the weight itself as a
    factor: where a weight is 0, nothing is learned about its score.
    """
    return weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


def mask_backward(masked_scores: np.ndarray, d_masked: np.ndarray) -> np.ndarray:
    """Hidden scores were replaced by -inf, so no change of them can matter: ∂L/∂ is exactly 0 there."""
    return np.where(np.isneginf(masked_scores), 0.0, d_masked)


def score_backward(q: np.ndarray, k: np.ndarray, d_scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S = Q Kᵀ -> ∂L/∂Q = ∂L/∂S K and ∂L/∂K = (∂L/∂S)ᵀ Q."""
    d_q = d_scores @ k
    d_k = d_scores.swapaxes(-1, -2) @ q
    return _sum_to(d_q, q.shape), _sum_to(d_k, k.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Nudge:
    """One score of a row moved a little, and what its weights did."""

    index: int  # which key's score was moved
    amount: float  # by how much
    before: np.ndarray  # (n_k,) weights
    after: np.ndarray  # (n_k,) weights

    @property
    def change(self) -> float:
        """How much the nudged key's own weight moved."""
        return float(self.after[self.index] - self.before[self.index])


def nudge(row: np.ndarray, index: int, amount: float = 0.1) -> Nudge:
    """row (n_k,) of what goes into softmax -> the weights before and after row[index] += amount."""
    moved = row.astype(np.float64)
    moved[index] += amount
    return Nudge(index, amount, softmax(row[None])[0], softmax(moved[None])[0])


def _sum_to(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo broadcasting: whatever was reused along a leading axis collects the sum over it."""
    if gradient.shape == shape:
        return gradient
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    reused = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    return gradient.sum(axis=reused, keepdims=True)
