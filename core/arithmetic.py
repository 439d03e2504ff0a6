"""The calculation behind one cell of one stage, written out: pure text, no markup.

Every number is taken from the steps, and `result` is the array's own cell. A long sum shows
some of its terms and, in one number, what the others add up to, so that it can still be
checked with a pocket calculator.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from core.attention import AttentionSteps
from core.checks import ShapeError
from core.heads import MultiHeadSteps
from core.numbers import factor, is_short, number, power

MOST_TERMS = 8  # a sum with more terms is shortened
LARGEST_EXPONENT = 10  # the softmax is written with plain e^z while the row's largest z is within ±10
GAP = "…"


class Names(Protocol):
    """The names of rows and channels; core.setup.Inputs has them."""

    @property
    def query_tokens(self) -> Sequence[str]:
        """One name for each row of q."""
        ...

    @property
    def key_tokens(self) -> Sequence[str]:
        """One name for each row of k and v."""
        ...

    @property
    def channels(self) -> Sequence[str]:
        """d_k names."""
        ...

    @property
    def value_channels(self) -> Sequence[str]:
        """d_v names."""
        ...


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One cell's calculation."""

    question: str  # what the number answers: "it asks → kite offers"
    columns: tuple[str, ...]  # header of the table; "…" where terms are left out
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # (label, one cell for each column)
    lines: tuple[str, ...]  # "3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8"
    result: float  # the array's cell
    note: str  # what was left out or rounded; "" if nothing was


def score_cell(steps: AttentionSteps, row: int, col: int, names: Names) -> Arithmetic:
    """One head's steps -> scores[row, col] as a dot product, term by term."""
    _check_one_head(steps)
    question = f"{names.query_tokens[row]} asks → {names.key_tokens[col]} offers"
    q, k = _Terms("q", steps.q[row]), _Terms("k", steps.k[col])
    return _dot_product(question, names.channels, q, k, float(steps.scores[row, col]))


def scale_cell(steps: AttentionSteps, row: int, col: int, names: Names) -> Arithmetic:
    """One head's steps -> scaled_scores[row, col] as a division by √d_k."""
    _check_one_head(steps)
    d_k = steps.q.shape[-1]
    score, result = float(steps.scores[row, col]), float(steps.scaled_scores[row, col])
    parts = _parts(steps.scores.shape[-1], keep=col)
    rows = (
        ("S", _cells(steps.scores[row], parts)),
        ("Z", _cells(steps.scaled_scores[row], parts)),
    )
    line = f"{number(score)} / √{d_k} = {number(score)} / {number(math.sqrt(d_k))} = {number(result)}"
    return Arithmetic(
        question=f"{names.query_tokens[row]} → {names.key_tokens[col]}: the score, divided by √d_k",
        columns=_header(names.key_tokens, parts),
        rows=rows,
        lines=(line,),
        result=result,
        note=_rounding([score, math.sqrt(d_k), result]),
    )


def mask_cell(steps: AttentionSteps, row: int, col: int, names: Names) -> Arithmetic:
    """One head's steps -> masked_scores[row, col]: the scaled score, or -inf where hidden."""
    _check_one_head(steps)
    scaled, result = float(steps.scaled_scores[row, col]), float(steps.masked_scores[row, col])
    hidden = np.isneginf(steps.masked_scores) & ~np.isneginf(steps.scaled_scores)
    parts = _parts(hidden.shape[-1], keep=col)
    if hidden[row, col]:
        line = f"hidden: {number(scaled)} becomes {number(result)}"
    elif hidden.any():
        line = f"allowed: {number(scaled)} stays {number(result)}"
    else:
        line = f"the mask hides nothing: {number(scaled)} stays {number(result)}"
    allowed = tuple(GAP if len(part) > 1 else "no" if hidden[row, part[0]] else "yes" for part in parts)
    return Arithmetic(
        question=f"{names.query_tokens[row]} → {names.key_tokens[col]}: may it attend?",
        columns=_header(names.key_tokens, parts),
        rows=(
            ("Z", _cells(steps.scaled_scores[row], parts)),
            ("allowed", allowed),
            ("masked Z", _cells(steps.masked_scores[row], parts)),
        ),
        lines=(line,),
        result=result,
        note=_rounding([scaled]),
    )


def softmax_cell(steps: AttentionSteps, row: int, col: int, names: Names) -> Arithmetic:
    """One head's steps -> weights[row, col] as e^z over the sum of the row's e^z.

    Written with plain e^z while the numbers are small, else with the row's largest z
    subtracted, as the code does it; a line says that both give the same.
    """
    _check_one_head(steps)
    z = np.asarray(steps.masked_scores[row], float)
    largest, result = float(z.max()), float(steps.weights[row, col])
    subtracted = math.isfinite(largest) and abs(largest) > LARGEST_EXPONENT
    exponents = z - largest if subtracted else z
    exps = np.exp(exponents)
    total = float(exps.sum())
    parts = _parts(len(z), keep=col)
    label = f"z − {factor(largest)}" if subtracted else "z"
    powers = [power(exponents[part[0]]) if len(part) == 1 else _left_out(exps, part) for part in parts]
    return Arithmetic(
        question=f"{names.query_tokens[row]} → {names.key_tokens[col]}: which share of the row?",
        columns=(*_header(names.key_tokens, parts), "sum"),
        rows=(
            *([("z", (*_cells(z, parts), ""))] if subtracted else []),
            (label, (*_cells(exponents, parts), "")),
            ("e^z" if label == "z" else f"e^({label})", (*_cells(exps, parts, add=True), number(total))),
            ("A", (*_cells(steps.weights[row], parts, add=True), number(_sum(steps.weights[row])))),
        ),
        lines=(
            f"{power(exponents[col])} / ({' + '.join(powers)})",
            f"= {number(exps[col])} / {number(total)} = {number(result)}",
            _about_the_maximum(largest, subtracted),
        ),
        result=result,
        note=_note(parts, len(z), [exponents[col], exps[col], total, result]),
    )


def blend_cell(steps: AttentionSteps, row: int, channel: int, names: Names) -> Arithmetic:
    """One head's steps -> output[row, channel] as a weighted sum; its largest share is always shown."""
    _check_one_head(steps)
    question = f"“{names.query_tokens[row]}” collects “{names.value_channels[channel]}”"
    weights, v = _Terms("A", steps.weights[row]), _Terms("v", steps.v[:, channel])
    largest = int(np.argmax(steps.weights[row]))
    return _dot_product(question, names.key_tokens, weights, v, float(steps.output[row, channel]), largest)


def pipeline_row(steps: AttentionSteps, row: int, channel: int, keep: int, names: Names) -> Arithmetic:
    """One head's steps -> a whole row through all four steps, down to output[row, channel].

    `keep` is a key that is shown however long the row is.
    """
    _check_one_head(steps)
    parts = _parts(steps.scores.shape[-1], keep)
    shares = steps.weights[row] * steps.v[:, channel]
    masked = "" if np.array_equal(steps.masked_scores[row], steps.scaled_scores[row]) else ", mask"
    query, value, result = names.query_tokens[row], names.value_channels[channel], steps.output[row, channel]
    return Arithmetic(
        question=f"The row of “{query}”, through all four steps",
        columns=(*_header(names.key_tokens, parts), "sum"),
        rows=(
            ("1 score", (*_cells(steps.scores[row], parts), "")),
            (f"2 ÷ √{steps.q.shape[-1]}{masked}", (*_cells(steps.masked_scores[row], parts), "")),
            ("3 softmax", (*_cells(steps.weights[row], parts, add=True), number(_sum(steps.weights[row])))),
            (f"4 · V {value}", (*_cells(shares, parts, add=True), number(result))),
        ),
        lines=(),
        result=float(result),
        note=_note(parts, len(shares), [*steps.masked_scores[row], *steps.weights[row], result]),
    )


def projection_cell(steps: MultiHeadSteps, row: int, channel: int, names: Names) -> Arithmetic:
    """Steps of one sequence -> output[row, channel]: the heads side by side · one column of w_o."""
    if steps.output.ndim != 2:
        raise ShapeError(f"one sequence is written out at a time, but the output is {steps.output.shape}")
    n_heads = steps.concat.shape[-1] // len(names.value_channels)
    columns = [f"{name} (head {head})" for head in range(n_heads) for name in names.value_channels]
    question = f"{names.query_tokens[row]}: channel {channel} after W_O"
    concat, w_o = _Terms("heads", steps.concat[row]), _Terms("W_O", steps.w_o[:, channel])
    return _dot_product(question, columns, concat, w_o, float(steps.output[row, channel]))


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """One side of a dot product."""

    label: str
    values: np.ndarray


def _dot_product(
    question: str, columns: Sequence[str], left: _Terms, right: _Terms, result: float, keep: int = 0
) -> Arithmetic:
    """left · right, written out."""
    products = np.asarray(left.values, float) * np.asarray(right.values, float)
    parts = _parts(len(products), keep)
    terms = [
        f"{factor(left.values[part[0]])}·{factor(right.values[part[0]])}"
        if len(part) == 1
        else _left_out(products, part)
        for part in parts
    ]
    return Arithmetic(
        question=question,
        columns=_header(columns, parts),
        rows=(
            (left.label, _cells(left.values, parts)),
            (right.label, _cells(right.values, parts)),
            (f"{left.label}·{right.label}", _cells(products, parts, add=True)),
        ),
        lines=(f"{' + '.join(terms)} = {number(result)}",),
        result=result,
        note=_note(parts, len(products), [*left.values, *right.values, result]),
    )


def _parts(n: int, keep: int) -> list[range]:
    """0 ... n-1 in order: a range of one is a term to show, a longer one is left out.

    All terms of a short sum; of a long one the first three, `keep` and the last two.
    """
    if n <= MOST_TERMS:
        return [range(i, i + 1) for i in range(n)]
    shown = sorted({0, 1, 2, keep, n - 2, n - 1})
    parts = [range(1)]
    for before, i in pairwise(shown):
        if i > before + 1:
            parts.append(range(before + 1, i))
        parts.append(range(i, i + 1))
    return parts


def _header(names: Sequence[str], parts: list[range]) -> tuple[str, ...]:
    return tuple(names[part[0]] if len(part) == 1 else GAP for part in parts)


def _cells(values: np.ndarray, parts: list[range], *, add: bool = False) -> tuple[str, ...]:
    """The shown values; with `add`, the sum of those left out in their place."""
    return tuple(
        number(_sum(values[part.start : part.stop])) if add or len(part) == 1 else GAP for part in parts
    )


def _left_out(values: np.ndarray, part: range) -> str:
    """What stands in a sum for the terms that are not shown."""
    return f"({len(part)} more: {number(_sum(values[part.start : part.stop]))})"


def _sum(values: np.ndarray) -> float:
    return float(np.sum(values, dtype=float))


def _about_the_maximum(largest: float, subtracted: bool) -> str:
    """What the code does and this line does not, or the other way round."""
    if largest == -math.inf:
        return "Nothing is allowed in this row, so there is nothing to share out: 0 / 0 is NaN."
    if not math.isfinite(largest):
        return f"The row holds {number(largest)}, which has no share: the row is NaN."
    if subtracted:
        return f"{number(largest)}, the row's largest z, is subtracted first; the share is the same without."
    return f"The code first subtracts {number(largest)}, the row's largest z; the share is the same."


def _note(parts: list[range], n: int, printed: Sequence[float]) -> str:
    shown = sum(len(part) == 1 for part in parts)
    left_out = f"{shown} of {n} terms are shown; the total counts all." if shown < n else ""
    return " ".join(filter(None, (left_out, _rounding(printed))))


def _rounding(printed: Sequence[float]) -> str:
    exact = all(not math.isfinite(value) or is_short(float(value)) for value in printed)
    return "" if exact else "Numbers are rounded here, the result is computed from all digits."


def _check_one_head(steps: AttentionSteps) -> None:
    if steps.scores.ndim != 2:
        raise ShapeError(f"one head is written out at a time, but the scores are {steps.scores.shape}")
