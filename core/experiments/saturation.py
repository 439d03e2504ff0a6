"""Scale labs (b) and (c): saturated rows, and the gradient that is left in them."""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import softmax
from core.experiments.prose import fixed, percent, significant, times, weight
from core.experiments.rows import (
    DEAD,
    SATURATED,
    RowStatistics,
    check_size,
    row_statistics,
    score_rows,
)
from core.gradients import Nudge, nudge
from core.offered import D_KS


@dataclass(frozen=True, slots=True, eq=False)
class SaturationLab:
    """Random rows through softmax, without and with the division by √d_k; one of them in full."""

    d_k: int
    n_keys: int
    n_rows: int
    seed: int
    raw_row: np.ndarray  # (n_keys,) weights of the row in the middle, scores as they are
    scaled_row: np.ndarray  # (n_keys,) weights of the same row, scores / √d_k
    raw: RowStatistics
    scaled: RowStatistics

    @property
    def caption(self) -> str:
        """What the bars and the readouts show."""
        return (
            f"The same row: its largest weight is {weight(self.raw_row.max())} without the scale and "
            f"{weight(self.scaled_row.max())} with it. Over {self.n_rows} rows of {self.n_keys} keys: mean "
            f"largest weight {fixed(self.raw.mean_largest)} against {fixed(self.scaled.mean_largest)}, above "
            f"{SATURATED} in {percent(self.raw.share_saturated)} of rows against "
            f"{percent(self.scaled.share_saturated)}, entropy {fixed(self.raw.mean_entropy)} against "
            f"{fixed(self.scaled.mean_entropy)} bits."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            f"Random, independent entries of variance 1. The row shown is the one in the middle: half of the "
            f"{self.n_rows} rows have a larger largest weight without the scale. At d_k = 4 little happens: "
            "the harm comes with width. A saturated row is no fault in itself; to start saturated, before "
            "anything was learned, is."
        )


def saturation_lab(d_k: int = 64, n_keys: int = 8, seed: int = 0, n_rows: int = 4000) -> SaturationLab:
    """n_rows random rows of n_keys scores at width d_k -> their weights, raw beside scaled."""
    check_size("d_k", d_k)
    check_size("n_keys", n_keys, least=2)
    scores = score_rows(d_k, n_rows, n_keys, seed)
    weights = softmax(scores)
    middle = np.argsort(weights.max(axis=-1))[n_rows // 2]
    scaled = scores / math.sqrt(d_k)
    return SaturationLab(
        d_k, n_keys, n_rows, seed, weights[middle], softmax(scaled[middle][None])[0],
        row_statistics(scores), row_statistics(scaled),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class GradientCurve:
    """Jacobian norms of random rows over d_k, without and with the division by √d_k."""

    n_keys: int
    n_rows: int
    d_ks: np.ndarray  # (n,)
    raw: tuple[RowStatistics, ...]
    scaled: tuple[RowStatistics, ...]

    def series(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A field of RowStatistics over d_k -> (raw, scaled), each (n,)."""
        raw, scaled = (np.array([getattr(rows, name) for rows in found]) for found in (self.raw, self.scaled))
        return raw, scaled

    def at(self, d_k: int) -> tuple[RowStatistics, RowStatistics]:
        """What was measured at one d_k -> (raw, scaled)."""
        index = int(np.flatnonzero(self.d_ks == d_k)[0])
        return self.raw[index], self.scaled[index]

    @property
    def caption(self) -> str:
        """What the curve shows."""
        raw, scaled = self.raw[-1], self.scaled[-1]
        return (
            f"Among {self.n_keys} keys at d_k = {self.d_ks[-1]}: the median gradient (norm of the softmax "
            f"Jacobian) is {significant(raw.median_norm)} without the scale, "
            f"{significant(scaled.median_norm)} with it; {percent(raw.share_dead)} of rows are dead (norm "
            f"below {DEAD:g}) against {percent(scaled.share_dead)}. " + self._what_the_mean_says()
        )

    def _what_the_mean_says(self) -> str:
        """Where the unscaled mean is above the scaled one, the mean tells another story: say so."""
        larger = [
            int(d_k)
            for d_k, raw, scaled in zip(self.d_ks, self.raw, self.scaled, strict=True)
            if raw.mean_norm > scaled.mean_norm
        ]
        if not larger:
            mean = significant(self.raw[-1].mean_norm)
            return f"The mean, {mean}, hides how many rows are dead: a few near ties lift it."
        return (
            f"The mean tells another story: up to d_k = {max(larger)} it is larger without the scale, "
            f"because {self.n_keys} scaled keys share the weight so evenly that their Jacobian is small too."
        )

    @property
    def note(self) -> str:
        """What this gradient is, and is not."""
        return (
            "The norm of the derivative of the weights by what goes into softmax. Towards the raw scores "
            f"the scaled rows have one more factor 1/√d_k (at d_k = {self.d_ks[-1]}: "
            f"{significant(self.scaled[-1].median_norm / math.sqrt(self.d_ks[-1]))}), the same for every "
            "row, which a step size makes up for; nothing makes up for a dead row. So: many rows get "
            "almost no gradient, not: the gradient is smaller everywhere. Random, independent entries of "
            "variance 1."
        )


def gradient_curve(
    n_keys: int = 8, seed: int = 0, n_rows: int | None = None, d_ks: tuple[int, ...] = D_KS
) -> GradientCurve:
    """Jacobian norms of random rows at every d_k. n_rows None: as many as make 32 000 scores."""
    check_size("n_keys", n_keys, least=2)
    n_rows = max(32_000 // n_keys, 200) if n_rows is None else n_rows
    raw, scaled = [], []
    for d_k in d_ks:
        scores = score_rows(d_k, n_rows, n_keys, seed)
        raw.append(row_statistics(scores))
        scaled.append(row_statistics(scores / math.sqrt(d_k)))
    return GradientCurve(n_keys, n_rows, np.array(d_ks), tuple(raw), tuple(scaled))


@dataclass(frozen=True, slots=True, eq=False)
class NudgeLab:
    """One score of one row moved a little, in the raw row and in the scaled row."""

    query: str
    key: str
    raw: Nudge
    scaled: Nudge

    @property
    def caption(self) -> str:
        """What the nudge did."""
        raw, scaled = self.raw.change, self.scaled.change
        if raw == 0 or scaled == 0:
            comparison = "a weight that does not move at all teaches nothing."
        elif math.isclose(raw, scaled, rel_tol=0.05):
            comparison = "the row is about as flat with the scale as without."
        elif abs(scaled) >= abs(raw):
            comparison = f"without the scale the row is {times(scaled / raw)} flatter here."
        else:
            comparison = f"here the scaled row is the flatter one, {times(raw / scaled)}."
        return (
            f"+{significant(self.scaled.amount)} on {self.query} → {self.key}: its weight moves by "
            f"{_signed(scaled)} with the scale, by {_signed(raw)} without; {comparison}"
        )

    @property
    def note(self) -> str:
        """What was nudged."""
        return (
            "The nudge is added to what goes into softmax. A row is flat where its weight is near 0 or "
            "near 1: the slope of a weight a by its own score is a (1 − a)."
        )


def nudge_lab(
    scores_row: np.ndarray, d_k: int, index: int, query: str, key: str, amount: float = 0.1
) -> NudgeLab:
    """scores_row (n_k,) raw scores -> the same nudge before softmax, unscaled and scaled."""
    scaled_row = scores_row / math.sqrt(d_k)
    return NudgeLab(query, key, nudge(scores_row, index, amount), nudge(scaled_row, index, amount))


def _signed(value: float) -> str:
    """A change with its sign."""
    text = significant(value, 2)
    return text if value <= 0 else "+" + text
