"""Mask lab: one masked pass equals every prefix computed alone."""

from dataclasses import dataclass

import numpy as np

from core.attention import attention
from core.checks import ShapeError
from core.experiments.prose import significant
from core.masks import causal


@dataclass(frozen=True, slots=True, eq=False)
class PrefixLab:
    """One masked pass over the whole sequence against every prefix computed alone."""

    full: np.ndarray  # (T, d_v) output of the one pass
    one_by_one: np.ndarray  # (T, d_v): row t is the last row of a pass over words 0 ... t alone
    masked_differences: np.ndarray  # (T,) largest |difference| in each row
    unmasked_differences: np.ndarray  # (T,) the same for a pass without the mask

    @property
    def caption(self) -> str:
        """What was compared."""
        largest = self.masked_differences.max()
        apart = int((self.unmasked_differences > 1e-9).sum())
        return (
            f"One masked pass over {len(self.full)} words gives {len(self.full)} outputs. Each equals the "
            "output of a pass over its own prefix alone: the largest difference is "
            f"{significant(largest)}{'' if largest == 0 else ' (rounding)'}. Without the mask {apart} of "
            f"them differ, by up to {significant(self.unmasked_differences.max())}."
        )

    @property
    def note(self) -> str:
        """What follows."""
        return (
            "So training can score every position at once, and generating word by word gives the same "
            "numbers: at inference you only have the prefix. A difference near 10⁻¹⁶ can remain where the "
            "machine adds in another order."
        )


def prefix_lab(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> PrefixLab:
    """q (T, d_k), k (T, d_k), v (T, d_v) -> the causal pass against its prefixes.

    Raises ShapeError unless there are as many queries as keys.
    """
    if len(q) != len(k):
        raise ShapeError(f"every word needs a query and a key, but q is {q.shape} and k is {k.shape}")
    full = attention(q, k, v, causal(len(q))).output
    alone = np.stack([attention(q[t : t + 1], k[: t + 1], v[: t + 1]).output[0] for t in range(len(q))])
    unmasked = attention(q, k, v).output
    return PrefixLab(full, alone, np.abs(full - alone).max(axis=-1), np.abs(unmasked - alone).max(axis=-1))
