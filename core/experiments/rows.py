"""Random scores, and what a softmax row looks like: the material of the labs on the scale."""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import softmax
from core.gradients import jacobian_norm
from core.readouts import entropies

SATURATED = 0.99  # a row whose largest weight is above this is called saturated
DEAD = 1e-3  # a row whose Jacobian norm is below this is called dead


def real_scores(d_k: int, n: int, seed: int) -> np.ndarray:
    """-> (n,) scores of n pairs of real vectors, every entry N(0, 1): the experiment as it is told."""
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, n, d_k), dtype=np.float32)
    return np.einsum("nd,nd->n", q, k, dtype=np.float64)


def score_rows(d_k: int, n_rows: int, n_keys: int, seed: int) -> np.ndarray:
    """-> (n_rows, n_keys) scores of one N(0, 1) query a row with n_keys N(0, 1) keys, no vector drawn.

    Given q, a sum of independent normal terms q_c k_c is normal with variance |q|², and |q|² is
    chi-squared with d_k degrees of freedom. So |q| times a standard normal number is exactly
    such a score, at a cost that does not grow with d_k.
    """
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n_rows, n_keys))
    return noise * np.sqrt(rng.chisquare(d_k, (n_rows, 1)))


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """What many softmax rows have in common."""

    score_variance: float  # of what went into softmax
    mean_largest: float  # mean over the rows of the largest weight
    mean_entropy: float  # bits
    share_saturated: float  # rows whose largest weight is above SATURATED
    median_norm: float  # of the softmax Jacobian
    mean_norm: float
    share_dead: float  # rows whose Jacobian norm is below DEAD

    @property
    def effective_keys(self) -> float:
        """2 to the power of the mean entropy: among how many keys a row shares itself out."""
        return 2**self.mean_entropy


def row_statistics(scores: np.ndarray) -> RowStatistics:
    """scores (n_rows, n_keys) as they go into softmax -> what their rows look like."""
    weights = softmax(scores)
    largest, norms = weights.max(axis=-1), jacobian_norm(weights)
    return RowStatistics(
        score_variance=float(scores.var(ddof=1)),
        mean_largest=float(largest.mean()),
        mean_entropy=float(entropies(weights).mean()),
        share_saturated=float((largest > SATURATED).mean()),
        median_norm=float(np.median(norms)),
        mean_norm=float(norms.mean()),
        share_dead=float((norms < DEAD).mean()),
    )


def check_size(name: str, value: int, least: int = 1) -> None:
    """Raise ValueError unless the number of something is a whole number >= least."""
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, but it is {value!r}")


def root(d_k: int) -> float:
    """√d_k, the divisor of scaled dot-product attention."""
    return math.sqrt(d_k)
