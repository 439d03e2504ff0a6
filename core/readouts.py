"""What the weights add up to, and other numbers that are read off finished steps."""

import numpy as np

DECIMALS = 12  # the last bits of a float sum say nothing about attention, and 0.9999999999999999 reads badly


def row_sums(weights: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k) -> (..., n_q, 1): what each query hands out, 1 for every row of softmax."""
    return weights.sum(axis=-1, keepdims=True).round(DECIMALS)


def column_sums(weights: np.ndarray) -> np.ndarray:
    """(..., n_q, n_k) -> (..., 1, n_k): what each key collects, anything from 0 to n_q."""
    return weights.sum(axis=-2, keepdims=True).round(DECIMALS)


def count_moved(moved: np.ndarray) -> int:
    """How far each output row moved (n_q,) -> how many moved at all."""
    return int(np.count_nonzero(moved))
