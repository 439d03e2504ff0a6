"""Softmax lab: the same gap among more keys is worth less."""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import softmax
from core.experiments.prose import count, fixed, significant, weight

KEY_COUNTS = (8, 64, 512, 4096)


@dataclass(frozen=True, slots=True, eq=False)
class DilutionLab:
    """One key `gap` above all the others, which are equal, among more and more keys."""

    gap: float
    n_keys: np.ndarray  # (n,) how many keys in all
    needle: np.ndarray  # (n,) the weight of the one that stands out
    other: np.ndarray  # (n,) the weight of each of the others
    needed_gaps: np.ndarray  # (n,) the gap that would keep the first weight

    @property
    def caption(self) -> str:
        """What the bars show."""
        weights = ", ".join(
            f"{weight(a)} among {count(int(n))}" for n, a in zip(self.n_keys, self.needle, strict=True)
        )
        return (
            f"One key stands out by {significant(self.gap)}. Its weight: {weights} keys. To keep "
            f"{weight(self.needle[0])} among {count(int(self.n_keys[-1]))} it would have to stand out by "
            f"{fixed(self.needed_gaps[-1], 1)}: the gap has to grow with the logarithm of the number of keys."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "All other scores are equal here. A row's sum is always 1, so many small shares add up: each "
            f"of the {count(int(self.n_keys[-1]) - 1)} others has only {significant(self.other[-1])}."
        )


def dilution_lab(gap: float = 4.0, n_keys: tuple[int, ...] = KEY_COUNTS) -> DilutionLab:
    """The weight of a key that is `gap` above n - 1 equal ones, for each n."""
    if not math.isfinite(gap) or min(n_keys) < 2:
        raise ValueError(
            f"the gap must be finite and there must be at least 2 keys (gap {gap}, keys {n_keys})"
        )
    rows = [softmax(np.concatenate([[gap], np.zeros(n - 1)])[None])[0] for n in n_keys]
    counts = np.array(n_keys)
    needed = gap + np.log(counts - 1) - math.log(counts[0] - 1)
    return DilutionLab(
        gap, counts, np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), needed
    )
