"""The trace card: one cell followed through the four steps, with fewer and fewer numbers given.

On the score page all is written out; then one blank, three blanks, a row with help, a row without,
and at last another sentence alone. What goes into the blanks is the core's own numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.answers import is_right, meaning_of, read_number, rounded
from core.arithmetic import blend_cell, score_cell, softmax_cell
from core.attention import AttentionSteps, softmax
from core.numbers import number
from core.setup import Inputs, Setup, inputs, run
from core.trace.blanks import (
    Blank,
    Cell,
    exponents,
    output_blank,
    power_blank,
    row_weight_blank,
    scaled_blank,
    score_blank,
    total_blank,
    weight_blank,
)

LEVELS = ("written", "one blank", "three blanks", "row", "row alone", "alone")
LEVEL_OF = {  # the page of each level, by its slug
    "score": "written",
    "scale": "one blank",
    "softmax": "three blanks",
    "blend": "row",
    "mask": "row alone",
    "check": "alone",
}
MOST_BLANKS = 8  # of a row; in a longer row the largest shares are asked for
STEPS = ("score", "scaled", "weight", "output")
_SHOWN = {"written": 1, "one blank": 1, "three blanks": 2, "row": 3, "row alone": 2, "alone": 0}
_SOLVED = {"written": 1, "one blank": 2, "three blanks": 3}  # all four on the others


@dataclass(frozen=True, slots=True)
class Card:
    """One cell's card at one level."""

    level: str
    question: str  # "it → kite, who"
    chain: tuple[tuple[str, str], ...]  # (step, number) of the four steps; "" where it is not given
    solved: tuple[tuple[str, str], ...]  # the same once the blanks are filled
    lines: tuple[tuple[str | Blank, ...], ...]  # each line: texts and blanks, in reading order

    @property
    def blanks(self) -> tuple[Blank, ...]:
        """All blanks, in reading order."""
        return tuple(part for line in self.lines for part in line if isinstance(part, Blank))


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one blank."""

    state: str  # "empty", "unreadable", "right" or "wrong"
    sentence: str  # "" when empty


def card(setup: Setup, level: str, row: int, col: int, channel: int = 0, head: int = 0) -> Card:
    """The card of one cell (query row, key col, value channel) of one head.

    Raises ValueError for an unknown level and for a cell that the setup does not have.
    """
    steps = run(setup).heads
    _check_index("head", head, setup.n_heads)
    return card_of(steps.head(head), inputs(setup), level, row, col, channel)


def card_of(steps: AttentionSteps, names: Inputs, level: str, row: int, col: int, channel: int = 0) -> Card:
    """The card of one cell of one head's steps, for whoever has computed them already; raises like card."""
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, but it must be one of {', '.join(LEVELS)}")
    _check_index("row", row, len(names.query_tokens))
    _check_index("col", col, len(names.key_tokens))
    _check_index("channel", channel, len(names.value_channels))
    cell = Cell(steps, names, row, col, channel)
    lines = {
        "written": _written,
        "one blank": _one_blank,
        "three blanks": _three_blanks,
        "row": _output_row,
        "row alone": _weight_row,
        "alone": _alone,
    }[level](cell)
    question = f"{names.query_tokens[row]} → {names.key_tokens[col]}, {names.value_channels[channel]}"
    return Card(
        level, question, _given(cell, _SHOWN[level]), _given(cell, _SOLVED.get(level, 4)), tuple(lines)
    )


def check_blank(blank: Blank, text: str) -> Checked:
    """What the reader typed -> how it stands."""
    if not text.strip():
        return Checked("empty", "")
    given = read_number(text)
    if given is None:
        return Checked("unreadable", "Type a number here, such as 4, −0.5 or 1/7.")
    if is_right(given, blank.answer, blank.decimals):
        return Checked("right", f"Right: {rounded(blank.answer, blank.decimals or 3)}.")
    return Checked("wrong", meaning_of(given, blank.slips, blank.decimals, blank.hint))


def check_card(filled: Card, answers: Mapping[str, str]) -> dict[str, Checked]:
    """Blank id -> how it stands; what was not answered is "empty"."""
    return {blank.id: check_blank(blank, answers.get(blank.id, "")) for blank in filled.blanks}


def is_complete(checked: Mapping[str, Checked]) -> bool:
    """Whether every blank is right. A card without blanks is complete."""
    return all(result.state == "right" for result in checked.values())


def _check_index(name: str, index: int, size: int) -> None:
    if not 0 <= index < size:
        raise ValueError(f"{name} is {index}, but this setup has {name} 0 to {size - 1}")


def _given(cell: Cell, how_many: int) -> tuple[tuple[str, str], ...]:
    """The chain with its first numbers given."""
    numbers = [rounded(value, 3) if i < how_many else "" for i, value in enumerate(_chain(cell))]
    return tuple(zip(STEPS, numbers, strict=True))


def _chain(cell: Cell) -> tuple[float, float, float, float]:
    """score, scaled (and masked) score, weight, output."""
    steps, at = cell.steps, (cell.row, cell.col)
    output = float(steps.output[cell.row, cell.channel])
    return float(steps.scores[at]), float(steps.masked_scores[at]), float(steps.weights[at]), output


def _written(cell: Cell) -> list[tuple[str | Blank, ...]]:
    return [(line,) for line in score_cell(cell.steps, cell.row, cell.col, cell.names).lines]


def _one_blank(cell: Cell) -> list[tuple[str | Blank, ...]]:
    score, d_k = float(cell.steps.scores[cell.row, cell.col]), cell.steps.q.shape[-1]
    return [(f"{number(score)} / √{d_k} = ", scaled_blank(cell))]


def _three_blanks(cell: Cell) -> list[tuple[str | Blank, ...]]:
    """The power, the row's sum, the share. The other powers are given."""
    worked = softmax_cell(cell.steps, cell.row, cell.col, cell.names)
    powers, z = np.exp(exponents(cell)), cell.steps.masked_scores[cell.row]
    shifted = not np.array_equal(exponents(cell), z)
    return [
        *([(worked.lines[-1],)] if shifted else []),
        (f"{worked.lines[0].partition(' / ')[0]} = ", power_blank(cell)),
        (f"sum of the row: {_powers_given(powers, cell.col)} = ", total_blank(cell)),
        ("share: power / sum = ", weight_blank(cell)),
    ]


def _output_row(cell: Cell) -> list[tuple[str | Blank, ...]]:
    """Every channel of the output, its terms written out."""
    lines = []
    for channel, name in enumerate(cell.names.value_channels):
        terms = blend_cell(cell.steps, cell.row, channel, cell.names).lines[0].rpartition(" = ")[0]
        lines.append((f"{name}: {terms} = ", output_blank(cell, channel, f"output.{channel}", name)))
    return lines


def _weight_row(cell: Cell) -> list[tuple[str | Blank, ...]]:
    """The whole row of weights, with no help."""
    weights, words = cell.steps.weights[cell.row], cell.names.key_tokens
    by_size = [int(col) for col in np.argsort(-weights, kind="stable") if col != cell.col]
    shown = sorted([cell.col, *by_size[: MOST_BLANKS - 1]])
    open_row = softmax(cell.steps.scaled_scores[cell.row : cell.row + 1])[0]
    return [(f"{words[col]}: ", row_weight_blank(cell, col, float(open_row[col]))) for col in shown]


def _alone(cell: Cell) -> list[tuple[str | Blank, ...]]:
    """The four numbers of the chain, nothing given."""
    return [
        ("score: ", score_blank(cell)),
        ("scaled: ", scaled_blank(cell)),
        ("weight: ", weight_blank(cell)),
        (
            f"output, {cell.names.value_channels[cell.channel]}: ",
            output_blank(cell, cell.channel, "output", "the output"),
        ),
    ]


def _powers_given(powers: np.ndarray, col: int) -> str:
    """The row's powers as a sum, the asked one left as words."""
    if len(powers) > MOST_BLANKS:
        others = float(powers.sum() - powers[col])
        return f"the power + {number(others)} of the other {len(powers) - 1} words"
    return " + ".join("the power" if i == col else number(power) for i, power in enumerate(powers))
