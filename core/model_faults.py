"""Common faults of attention, each as a function that takes the place of core.attention.attention.

Each keeps all steps, as they come out of the faulty code. The names are labels of core.faults, where each is
one choice in a chain of eighteen stages: a chain can be searched, and one fault put beside another. Here a
fault is one whole function, to be read on the screen and to run inside a model at attention's own speed.
A test holds that both give the same numbers.

All take q, k (..., h, T, d_k), v (..., h, T, d_v) and a boolean `allowed`, True = may attend.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.attention import AttentionSteps, attention, blend, mask, scale, score, softmax
from core.heads import merge_heads


def scale_missing(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """The scores go to the softmax as they are."""
    scores = score(q, k)
    return _finish(q, k, v, scores, scores, mask(scores, allowed))


def scale_by_d_k(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """Divided by d_k, the root was forgotten."""
    scores = score(q, k)
    scaled_scores = scores / q.shape[-1]
    return _finish(q, k, v, scores, scaled_scores, mask(scaled_scores, allowed))


def mask_filled_with_zero(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """Masked scores become 0, and e^0 = 1 is no small share."""
    scores = score(q, k)
    scaled_scores = scale(scores, q.shape[-1])
    return _finish(q, k, v, scores, scaled_scores, np.where(allowed, scaled_scores, 0))


def mask_peeks_one_ahead(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """The triangle is off by one: each query also sees the next position."""
    next_too = np.eye(*allowed.shape[-2:], k=1, dtype=bool)
    return attention(q, k, v, allowed | next_too)


def mask_after_softmax(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """Weights are set to 0 where not allowed and not shared out again: rows sum to less than 1."""
    steps = attention(q, k, v)
    weights = np.where(allowed, steps.weights, 0)
    return replace(steps, weights=weights, output=blend(weights, v))


def softmax_axis_query(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """The softmax runs down the columns: each key shares itself out among the queries."""
    steps = attention(q, k, v, allowed)
    weights = softmax(steps.masked_scores.swapaxes(-1, -2)).swapaxes(-1, -2)
    return replace(steps, weights=weights, output=blend(weights, v))


def mask_missing_causal(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """No mask at all, so that cut cells come back too."""
    del allowed
    return attention(q, k, v)


def heads_split_without_transpose(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray
) -> AttentionSteps:
    """(T, h d_k) reshaped to (h, T, d_k) directly: the shape is right, the content is not."""
    q, k, v = (merge_heads(x).reshape(x.shape) for x in (q, k, v))
    return attention(q, k, v, allowed)


def score_qk_swapped(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
    """K Qᵀ for Q Kᵀ: each key asks, each query offers."""
    return attention(k, q, v, allowed)


Attend = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], AttentionSteps]
"""q, k (..., h, T, d_k), v (..., h, T, d_v), allowed -> the steps: core.attention.attention, or a fault."""

FAULTS: dict[str, Attend] = {
    "scale.missing": scale_missing,
    "scale.by_d_k": scale_by_d_k,
    "mask.filled_with_zero": mask_filled_with_zero,
    "mask.peeks_one_ahead": mask_peeks_one_ahead,
    "mask.after_softmax": mask_after_softmax,
    "softmax.axis_query": softmax_axis_query,
    "mask.missing_causal": mask_missing_causal,
    "heads.split_without_transpose": heads_split_without_transpose,
    "score.qk_swapped": score_qk_swapped,
}


def _finish(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    scores: np.ndarray,
    scaled_scores: np.ndarray,
    masked_scores: np.ndarray,
) -> AttentionSteps:
    """The last two steps, which are right."""
    weights = softmax(masked_scores)
    return AttentionSteps(q, k, v, scores, scaled_scores, masked_scores, weights, blend(weights, v))
