"""Scale lab (a): a dot product adds d_k terms, and its variance grows with them."""

import math
from dataclasses import dataclass

import numpy as np

from core.experiments.prose import fixed, significant
from core.experiments.rows import check_size, real_scores, score_rows
from core.offered import D_KS

NORMAL_95 = 1.959964  # a normal variable is within this many standard deviations with probability 0.95


@dataclass(frozen=True, slots=True)
class Variance:
    """A measured variance with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def measured_variance(scores: np.ndarray, d_k: int) -> Variance:
    """Independent scores (n,) of vectors of width d_k (times any constant) -> their variance, with interval.

    The relative standard error of a variance is √((2 + excess kurtosis) / n), and the excess
    kurtosis of q·k for N(0, 1) entries is 6 / d_k; dividing the scores changes neither.
    """
    value = float(scores.var(ddof=1))
    margin = NORMAL_95 * value * math.sqrt((2 + 6 / d_k) / scores.size)
    return Variance(value, value - margin, value + margin)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceLab:
    """Scores of real random vectors, before and after the division by √d_k."""

    d_k: int
    seed: int
    raw_scores: np.ndarray  # (n,)
    scaled_scores: np.ndarray  # (n,)
    raw: Variance
    scaled: Variance

    @property
    def largest(self) -> float:
        """The size of the largest raw score."""
        return float(np.abs(self.raw_scores).max())

    @property
    def caption(self) -> str:
        """What the histograms show."""
        return (
            f"{self.d_k} products, each of variance 1, add up: the raw scores have variance "
            f"{significant(self.raw.value, 3)} (95 % interval {significant(self.raw.low, 3)} to "
            f"{significant(self.raw.high, 3)}; exactly {self.d_k}), the largest of {self.raw_scores.size} "
            f"is {significant(self.largest, 2)} in size. Divided by √{self.d_k} they have variance "
            f"{fixed(self.scaled.value)} ({fixed(self.scaled.low)} to {fixed(self.scaled.high)}; exactly 1, "
            "whatever d_k is)."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "Exactly d_k when the entries of q and k are independent, with mean 0 and variance 1. "
            "Learned queries and keys need not obey; the divisor knows d_k and nothing else."
        )


def variance_lab(d_k: int = 64, seed: int = 0, n: int = 2000) -> VarianceLab:
    """n pairs of real N(0, 1) vectors of width d_k -> their scores and the variances."""
    check_size("d_k", d_k)
    check_size("n", n, least=2)
    raw = real_scores(d_k, n, seed)
    scaled = raw / math.sqrt(d_k)
    return VarianceLab(d_k, seed, raw, scaled, measured_variance(raw, d_k), measured_variance(scaled, d_k))


@dataclass(frozen=True, slots=True, eq=False)
class VarianceCurve:
    """Measured variances over d_k, each with its 95 % interval."""

    d_ks: np.ndarray  # (n,)
    raw: np.ndarray  # (n, 3): value, low, high
    scaled: np.ndarray  # (n, 3)

    @property
    def caption(self) -> str:
        """What the curve shows."""
        scaled = self.scaled[:, 0]
        return (
            f"From d_k = {self.d_ks[0]} to {self.d_ks[-1]} the raw variance follows the line variance = d_k "
            f"({significant(self.raw[0, 0], 3)} to {significant(self.raw[-1, 0], 3)}); the scaled one stays "
            f"between {fixed(scaled.min())} and {fixed(scaled.max())}. The typical size of a score, its "
            "standard deviation, grows like √d_k: that is why the divisor is a square root."
        )

    @property
    def note(self) -> str:
        """How it was measured."""
        return (
            "Random entries, independent, mean 0, variance 1. The band is the 95 % interval of each "
            "measurement, so about one in twenty may miss the exact line."
        )


def variance_curve(seed: int = 0, n: int = 4000, d_ks: tuple[int, ...] = D_KS) -> VarianceCurve:
    """The variance of n independent scores at every d_k, raw and scaled."""
    raw, scaled = [], []
    for d_k in d_ks:
        scores = score_rows(d_k, n, 1, seed)[:, 0]
        for found, rows in ((raw, scores), (scaled, scores / math.sqrt(d_k))):
            variance = measured_variance(rows, d_k)
            found.append((variance.value, variance.low, variance.high))
    return VarianceCurve(np.array(d_ks), np.array(raw), np.array(scaled))
