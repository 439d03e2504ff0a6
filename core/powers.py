"""What e is raised to when a softmax is written out by hand."""

import math

import numpy as np

from core.arithmetic import LARGEST_EXPONENT


def written_exponents(masked_scores: np.ndarray) -> tuple[np.ndarray, float]:
    """One row of scores (n_k,) -> the exponents (n_k,), and what was subtracted to get them.

    Nothing (0) while the row's largest score is within ±10, as core.arithmetic writes it; else that
    largest score, so that no power is too large to print. The shares are the same.
    """
    z = np.asarray(masked_scores, float)
    largest = float(z.max())
    subtracted = largest if math.isfinite(largest) and abs(largest) > LARGEST_EXPONENT else 0.0
    return z - subtracted, subtracted
