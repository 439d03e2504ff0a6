"""What can be measured about each line of the code: the formula and its transcription side by side."""

import math

import numpy as np

from core.attention import AttentionSteps, attention
from core.experiments.prose import weight
from core.export.sources import NUMPY_FUNCTIONS
from core.numbers import number
from core.setup import Inputs

BLOCK = 2  # keys that are looked at together


def line_check(part: str, steps: AttentionSteps, names: Inputs, row: int, col: int) -> str:
    """What was measured about the line of one part of the formula, for one head's steps and one cell."""
    if part == "scale":
        return _divisor(steps, names, row, col)
    return {"score": _loop, "mask": _hidden, "softmax": _rows, "blend": _blocks}[part](steps)


def loop_scores(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q (n_q, d_k), k (n_k, d_k) -> scores (n_q, n_k), one dot product at a time."""
    return np.array(
        [[sum(float(a * b) for a, b in zip(query, key, strict=True)) for key in k] for query in q]
    )


def divided_by(steps: AttentionSteps, divisor: float) -> np.ndarray:
    """-> the weights (n_q, n_k) that another divisor than √d_k would give, under the same mask."""
    factor = math.sqrt(steps.q.shape[-1]) / divisor
    return attention(steps.q * factor, steps.k, steps.v, _allowed(steps)).weights


def blockwise(steps: AttentionSteps, size: int = BLOCK) -> np.ndarray:
    """-> output (n_q, d_v), from `size` keys at a time, with no row of weights ever held whole.

    Each row keeps its largest score so far, the sum of its powers and the sum of powers times values; a
    new largest score shrinks both sums. This is the online softmax (Milakov and Gimelshein, 2018) that
    memory-saving attention is built on. A row with nothing allowed gives NaN, as in attention().
    """
    n_q, d_v = steps.output.shape
    largest, total, blended = np.full((n_q, 1), -np.inf), np.zeros((n_q, 1)), np.zeros((n_q, d_v))
    for start in range(0, steps.k.shape[0], size):
        scores = steps.masked_scores[:, start : start + size]
        peak = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        safe = np.where(np.isneginf(peak), 0.0, peak)  # a row with nothing seen yet
        shrink, powers = np.exp(largest - safe), np.exp(scores - safe)
        total = total * shrink + powers.sum(axis=-1, keepdims=True)
        blended = blended * shrink + powers @ steps.v[start : start + size]
        largest = peak
    return np.divide(blended, total, out=np.full((n_q, d_v), np.nan), where=total > 0)


def lines_of(function: str) -> int:
    """How many lines a function of the exported NumPy program has, without its head and docstring."""
    body = NUMPY_FUNCTIONS.split(f"def {function}(")[1].split("\n\n")[0].splitlines()
    return len(body) - 2


def _loop(steps: AttentionSteps) -> str:
    n_q, n_k = steps.scores.shape
    if steps.q.size * n_k > 40_000:
        return f"{n_q * n_k} dot products in one matrix product: S is {n_q} × {n_k}."
    apart = _apart(loop_scores(steps.q, steps.k), steps.scores)
    return (
        f"{n_q * n_k} dot products in one matrix product: S is {n_q} × {n_k}. One at a time, in a loop, they "
        f"come out the same: the largest difference is {apart}."
    )


def _divisor(steps: AttentionSteps, names: Inputs, row: int, col: int) -> str:
    """d_k is read from the tensor; what √T in its place would do."""
    n_k, d_k = steps.k.shape
    told = f"d_k is the last number of k's shape ({n_k}, {d_k}), so the divisor is √{d_k}."
    if n_k == d_k:
        return f"{told} Here T is {n_k} too: the wrong number would go unnoticed."
    if steps.weights[row, col] == 0:
        return told
    wrong, right = divided_by(steps, math.sqrt(n_k))[row, col], steps.weights[row, col]
    pair = f"“{names.query_tokens[row]}” → “{names.key_tokens[col]}”"
    return f"{told} With √T = √{n_k} in its place, {pair} gets {weight(wrong)} and not {weight(right)}."


def _hidden(steps: AttentionSteps) -> str:
    hidden = int((~_allowed(steps)).sum())
    if not hidden:
        return "Nothing is hidden here: the masked scores are the scaled scores."
    return f"{hidden} of {steps.scores.size} cells are −∞, and their weights are exactly 0."


def _rows(steps: AttentionSteps) -> str:
    off = number(float(np.abs(steps.weights.sum(axis=-1) - 1).max()))
    return (
        f"The helper has {lines_of('softmax')} lines: powers with the row's largest score subtracted, then "
        f"the division. No row sum is further from 1 than {off}."
    )


def _blocks(steps: AttentionSteps) -> str:
    apart = _apart(blockwise(steps), steps.output)
    return (
        "The function returns the output and the weights, so that both can be looked at: every map of this "
        f"tutor is such a returned tensor. From {BLOCK} keys at a time, as memory-saving attention does it, "
        f"the same output comes out: the largest difference is {apart}."
    )


def _apart(found: np.ndarray, expected: np.ndarray) -> str:
    """The largest difference, as it is printed; NaN in the same place is no difference."""
    same_nan = np.isnan(found) & np.isnan(expected)
    return number(float(np.abs(np.where(same_nan, 0.0, found - expected)).max()))


def _allowed(steps: AttentionSteps) -> np.ndarray:
    """-> (n_q, n_k) bool: where the scores were left as they were."""
    return ~np.isneginf(steps.masked_scores)
