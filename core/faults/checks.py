"""Six checks that anybody can make on the weights and the output of an attention."""

from dataclasses import dataclass

import numpy as np

from core.experiments.prose import counted, fixed, significant, sizes
from core.faults.broken import Broken

CLOSE = 1e-9
NOTICED = 0.05  # a change of the typical largest weight that catches the eye


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it asks, whether it holds, what was found, and where it fails first."""

    name: str
    passed: bool
    finding: str
    cell: tuple[int, int] | None = None  # (query, key) to look at


def six_checks(made: Broken, head: int, queries: tuple[str, ...], keys: tuple[str, ...]) -> tuple[Check, ...]:
    """The checks of one head, in the order in which one would make them."""
    weights, right = made.wrong.weights[head], made.right.weights[head]
    return (
        row_sums(weights, queries),
        column_sums(weights, keys),
        hidden_weight(weights, made.allowed, queries, keys),
        largest_weight(weights, right, queries),
        leak(made.moved[head], made.allowed, queries),
        shapes(made.wrong.output[head], made.right.output[head], weights),
    )


def row_sums(weights: np.ndarray, queries: tuple[str, ...]) -> Check:
    """Every row of weights (n_q, n_k) sums to 1."""
    sums = weights.sum(-1)
    off = np.where(np.isnan(sums), np.inf, np.abs(sums - 1))
    if (off <= CLOSE).all():
        return Check("Row sums", True, "Every row sums to 1.")
    row = int(off.argmax())
    count = int((off > CLOSE).sum())
    found = f"{count} of {len(sums)} rows do not sum to 1: “{queries[row]}” has {_told(sums[row])}."
    return Check("Row sums", False, found, (row, int(np.argmax(np.nan_to_num(weights[row])))))


def column_sums(weights: np.ndarray, keys: tuple[str, ...]) -> Check:
    """Columns need not sum to 1: that all do while the rows do not is the mark of a wrong axis."""
    sums = weights.sum(-2)
    all_ones = bool((np.abs(sums - 1) <= CLOSE).all())
    rows_are = bool((np.abs(weights.sum(-1) - 1) <= CLOSE).all())
    if all_ones and not rows_are:
        return Check("Column sums", False, "Every column sums to 1, and the rows do not.", (0, 0))
    largest = int(np.argmax(np.nan_to_num(sums, nan=-np.inf)))
    return Check(
        "Column sums", True, f"They differ, as they may: “{keys[largest]}” gets {_told(sums[largest])}."
    )


def hidden_weight(
    weights: np.ndarray, allowed: np.ndarray | None, queries: tuple[str, ...], keys: tuple[str, ...]
) -> Check:
    """Keys that the mask hides, as the future, get exactly 0."""
    if allowed is None or allowed.all():
        return Check("Future weight", True, "This mask hides nothing from these queries.")
    found = np.where(allowed, 0, np.abs(np.where(np.isnan(weights), 0, weights)))
    row, col = (int(i) for i in np.unravel_index(found.argmax(), found.shape))
    if found[row, col] == 0:
        return Check("Future weight", True, "Hidden keys get exactly 0.")
    told = f"“{queries[row]}” gives {_told(weights[row, col])} to “{keys[col]}”, which is hidden from it."
    return Check("Future weight", False, told, (row, col))


def largest_weight(weights: np.ndarray, right: np.ndarray, queries: tuple[str, ...]) -> Check:
    """How sharp the rows are: the median of their largest weights, beside that of the right computation."""
    mine, theirs = weights.max(-1), right.max(-1)
    typical, expected = (
        float(np.nanmedian(sharp)) if np.isfinite(sharp).any() else np.nan for sharp in (mine, theirs)
    )
    row = int(np.nan_to_num(np.abs(mine - theirs), nan=np.inf).argmax())
    cell = (row, int(np.nan_to_num(weights[row], nan=-np.inf).argmax()))
    told = f"Typically (median) {_told(typical)}; done right, {_told(expected)}."
    if np.nanmax(weights, initial=0) > 1 + CLOSE or np.nanmin(weights, initial=0) < 0:
        return Check("Largest weight", False, f"A weight lies outside 0 to 1. {told}", cell)
    if not abs(typical - expected) <= NOTICED:
        return Check("Largest weight", False, f"{told} Row “{queries[row]}” differs most.", cell)
    return Check("Largest weight", True, told)


def leak(moved: np.ndarray, allowed: np.ndarray | None, queries: tuple[str, ...]) -> Check:
    """With the last word replaced, no output row may move that must not see it."""
    n_q = len(moved)
    own = np.arange(n_q) == n_q - 1  # the last row's own query is replaced as well
    may = np.ones(n_q, dtype=bool) if allowed is None else allowed[:, -1] | own
    leaks = ~may & ~(moved == 0)  # NaN cannot be compared: it counts as moved
    if not (~may).any():
        return Check("Leak test", True, "Every row may see the last word.")
    if not leaks.any():
        return Check(
            "Leak test", True, f"The last word replaced: {counted(int((~may).sum()), 'earlier row')} unmoved."
        )
    row = int(np.where(leaks, np.nan_to_num(moved, nan=np.inf), -1).argmax())
    told = (
        f"The last word replaced: of {n_q} rows {int(leaks.sum())} moved that must not see it, "
        f"“{queries[row]}” by {_told(moved[row])}."
    )
    return Check("Leak test", False, told, (row, (allowed.shape[-1] if allowed is not None else n_q) - 1))


def shapes(output: np.ndarray, right: np.ndarray, weights: np.ndarray) -> Check:
    """The output is (n_q, d_v)."""
    told = f"Weights {sizes(weights)}, output {sizes(output)}."
    if output.shape == right.shape:
        return Check("Shapes", True, told)
    return Check("Shapes", False, f"{told} The output should be {sizes(right)}.")


def _told(value: float) -> str:
    """Two decimals, but never a small number as 0."""
    return fixed(value) if np.isfinite(value) and (value == 0 or abs(value) >= 0.005) else significant(value)
