"""The blanks of the trace card: their numbers, the known slips, the hints."""

import math
from dataclasses import dataclass

import numpy as np

from core.answers import Slip, slips_of
from core.attention import AttentionSteps, softmax
from core.numbers import number
from core.powers import written_exponents
from core.setup import Inputs


@dataclass(frozen=True, slots=True)
class Blank:
    """A number for the reader to find."""

    id: str
    label: str  # names the box
    answer: float
    decimals: int  # 0 = exactly
    slips: tuple[Slip, ...]
    hint: str  # how to find it; said after a wrong number with no known cause


@dataclass(frozen=True, slots=True)
class Cell:
    """Where the card looks, and everything there."""

    steps: AttentionSteps  # of one head
    names: Inputs
    row: int
    col: int
    channel: int


def score_blank(cell: Cell) -> Blank:
    """The dot product."""
    scores, answer = cell.steps.scores, float(cell.steps.scores[cell.row, cell.col])
    slips = {"A minus was lost on the way: a plus times a minus is negative, two minuses are plus.": -answer}
    if scores.shape[0] == scores.shape[1]:
        slips["That is the other direction: this key's word asking."] = float(scores[cell.col, cell.row])
    products = cell.steps.q[cell.row] * cell.steps.k[cell.col]
    slips["You added the sizes of the products and lost their signs."] = float(np.abs(products).sum())
    hint = "Multiply query and key entry by entry and add it all up."
    return Blank("score", "the score", answer, _decimals(answer), slips_of(answer, slips), hint)


def scaled_blank(cell: Cell) -> Blank:
    """The score divided by √d_k."""
    score, d_k = float(cell.steps.scores[cell.row, cell.col]), cell.steps.q.shape[-1]
    answer = float(cell.steps.scaled_scores[cell.row, cell.col])
    slips = {
        f"You divided by d_k = {d_k}. The divisor is its square root, {number(math.sqrt(d_k))}.": score / d_k,
        "That is the score as it was. Divide it.": score,
        "You multiplied. The scale is a division.": score * math.sqrt(d_k),
        "The sign of a score stays.": -answer,
    }
    hint = f"Divide the score by √{d_k} = {number(math.sqrt(d_k))}."
    return Blank("scaled", "the scaled score", answer, _decimals(answer), slips_of(answer, slips), hint)


def power_blank(cell: Cell) -> Blank:
    """e to the scaled score, as the softmax writes it."""
    z = float(exponents(cell)[cell.col])
    answer = _exp(z)
    slips = {
        "That is the exponent itself. Raise e to it.": z,
        "You raised e to the raw score. Scale it first.": _exp(float(cell.steps.scores[cell.row, cell.col])),
        "You multiplied by e. The score is an exponent.": math.e * z,
    }
    hint = "Press e^x on the calculator and give it the scaled score."
    return Blank("power", "the power", answer, 3, slips_of(answer, slips), hint)


def total_blank(cell: Cell) -> Blank:
    """The sum of the row's powers."""
    z = exponents(cell)
    powers = np.exp(z)
    answer = float(powers.sum())
    slips = {
        "Those are the scores added up. Add up the powers.": float(z.sum()),
        "That is the sum of the others. The power itself counts too.": answer - float(powers[cell.col]),
    }
    return Blank(
        "total", "the row's sum", answer, 3, slips_of(answer, slips), "Add up e to the score of every key."
    )


def weight_blank(cell: Cell) -> Blank:
    """The share of the row."""
    answer = float(cell.steps.weights[cell.row, cell.col])
    z, n_k = exponents(cell), cell.steps.weights.shape[-1]
    slips = {
        "You shared out the scores. Share out e to the scores.": _ratio(float(z[cell.col]), float(z.sum())),
        "That is the power. Divide it by the row's sum.": _exp(float(z[cell.col])),
        "That is an equal share. This row's scores differ.": 1 / n_k,
        "You used the raw scores. Scale them first.": _plain_share(cell.steps.scores[cell.row], cell.col),
        "You divided by the sum of the column. Softmax works along the row.": _plain_share(
            cell.steps.masked_scores[:, cell.col], cell.row
        ),
    }
    hint = "Divide the power of this key by the sum of the powers of the whole row."
    return Blank("weight", "the weight", answer, 3, slips_of(answer, slips), hint)


def row_weight_blank(cell: Cell, col: int, unmasked: float) -> Blank:
    """One weight of a masked row; `unmasked` is what it would be with no mask."""
    answer = float(cell.steps.weights[cell.row, col])
    if math.isinf(cell.steps.masked_scores[cell.row, col]):
        slips = {"A hidden word has the score −∞, and e^(−∞) is exactly 0.": unmasked}
        hint = "A hidden word gets exactly 0."
    else:
        slips = {
            "That is its share with no mask. What the hidden words had is shared out anew.": unmasked,
            "That is its score. Take e to it, then divide by the row's sum.": float(
                cell.steps.masked_scores[cell.row, col]
            ),
        }
        hint = "e to its score, divided by the sum over the words that are allowed."
    word = cell.names.key_tokens[col]
    return Blank(f"weight.{col}", f"the weight of {word}", answer, 3, slips_of(answer, slips), hint)


def output_blank(cell: Cell, channel: int, blank_id: str, label: str) -> Blank:
    """One number of the output."""
    weights, values = cell.steps.weights[cell.row], cell.steps.v[:, channel]
    answer, top = float(cell.steps.output[cell.row, channel]), int(weights.argmax())
    slips = {
        "That is one term. Every word adds its own.": float(weights[top] * values[top]),
        "That is the winner's value alone. The others add their shares too.": float(values[top]),
        "That is the plain mean. Each value counts by its weight.": float(values.mean()),
        "Those are the values added up. Multiply each by its weight first.": float(values.sum()),
    }
    hint = "Multiply each word's value by its weight, then add it all up."
    return Blank(blank_id, label, answer, 2, slips_of(answer, slips), hint)


def exponents(cell: Cell) -> np.ndarray:
    """What e is raised to along the cell's row."""
    return written_exponents(cell.steps.masked_scores[cell.row])[0]


def _plain_share(scores: np.ndarray, index: int) -> float:
    """softmax of one row of scores, one entry of it."""
    return float(softmax(np.asarray(scores, float)[None])[0, index])


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 700 else math.inf


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if math.isfinite(whole) and whole else math.nan


def _decimals(answer: float) -> int:
    """Whole numbers are asked for exactly, others to two decimals."""
    return 0 if math.isfinite(answer) and answer == round(answer) else 2
