"""What the weights add up to, and other numbers that are read off finished steps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps

DECIMALS = 12  # the last bits of a float sum say nothing about attention, and 0.9999999999999999 reads badly


def row_sums(weights: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k) -> (..., n_q, 1): what each query hands out, 1 for every row of softmax."""
    return weights.sum(axis=-1, keepdims=True).round(DECIMALS)


def column_sums(weights: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k) -> (..., 1, n_k): what each key collects, anything from 0 to n_q."""
    return weights.sum(axis=-2, keepdims=True).round(DECIMALS)


def entropies(weights: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k) -> (..., n_q): -sum(w log2 w) of each row, in bits; a weight of 0 adds 0.

    2 to the entropy is the number of keys that effectively share the row.
    """
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(axis=-1) + 0.0  # + 0.0 turns -0 into 0


def count_moved(moved: np.ndarray) -> int:
    """How far each output row moved (n_q,) -> how many moved at all."""
    return int(np.count_nonzero(moved))


@dataclass(frozen=True, slots=True)
class MapSummary:
    """Where one head looks, as means over its queries; pairs of (this head, a uniform head)."""

    entropy: tuple[float, float]  # bits a row
    distance: tuple[float, float]  # positions from query to key, forth or back
    first: tuple[float, float]  # weight on the first key
    previous: tuple[float, float]  # weight on the key just before the query
    itself: tuple[float, float]  # weight on the query's own position
    following: tuple[float, float]  # weight on the key just after it


def map_summary(steps: AttentionSteps) -> MapSummary:
    """One head's steps -> its summary, beside that of a head which shares each row evenly.

    The queries are the last n_q of the n_k positions. A uniform head sees what the mask allows.
    """
    allowed = np.isfinite(steps.masked_scores)
    uniform = allowed / allowed.sum(axis=-1, keepdims=True)
    n_q, n_k = steps.weights.shape
    offset = np.arange(n_k) - np.arange(n_k - n_q, n_k)[:, None]

    def beside_uniform(measure: Callable[[np.ndarray], float]) -> tuple[float, float]:
        return measure(steps.weights), measure(uniform)

    def weight_on(cells: np.ndarray) -> tuple[float, float]:
        return beside_uniform(lambda weights: float((weights * cells).sum(axis=-1).mean()))

    return MapSummary(
        entropy=beside_uniform(_mean_entropy),
        distance=weight_on(np.abs(offset)),
        first=weight_on(np.broadcast_to(np.arange(n_k) == 0, offset.shape)),
        previous=weight_on(offset == -1),
        itself=weight_on(offset == 0),
        following=weight_on(offset == 1),
    )


def _mean_entropy(weights: np.ndarray) -> float:
    return float(entropies(weights).mean())
