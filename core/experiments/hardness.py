"""Softmax labs: how hard the choice is, what a shift does, which way the shares run, soft against hard."""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import blend, softmax
from core.experiments.prose import counted, fixed, significant, weight
from core.readouts import entropies


@dataclass(frozen=True, slots=True, eq=False)
class HardnessLab:
    """One row of scores times a multiplier, through softmax; the scores and the values stay as they are."""

    multiplier: float
    weights: np.ndarray  # (n_k,) at this multiplier
    usual: np.ndarray  # (n_k,) at multiplier 1
    visible: np.ndarray  # (n_k,) bool: False for a masked key
    key_tokens: tuple[str, ...]

    @property
    def entropy(self) -> float:
        """Bits; 2^entropy is the number of keys that effectively share the row."""
        return float(entropies(self.weights))

    @property
    def caption(self) -> str:
        """What the bars show."""
        top = int(self.weights.argmax())
        keys = counted(int(self.visible.sum()), "key")
        among = f"{significant(2**self.entropy)} of {keys} effectively share the row"
        if self.multiplier == 0:
            return f"Multiplier 0: every score is 0, so each key gets {weight(self.weights[top])}; {among}."
        return (
            f"Scores times {self.multiplier:g}: {self.key_tokens[top]} gets {weight(self.weights[top])} "
            f"(times 1: {weight(self.usual[top])}), the smallest weight is "
            f"{significant(self.weights[self.visible].min())}; {among}. The scores keep their order; only "
            "how hard the choice is changes."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "0 gives equal shares, a large multiplier comes close to the largest score taking all "
            "(argmax); it never gets there in exact arithmetic, though floats round the others to 0 in the "
            "end. A tie stays a tie at any multiplier."
        )


def hardness_lab(
    scaled_row: np.ndarray, multiplier: float = 1.0, key_tokens: tuple[str, ...] | None = None
) -> HardnessLab:
    """scaled_row (n_k,), what goes into softmax -> its weights when multiplied by `multiplier` >= 0."""
    if not 0 <= multiplier < math.inf:
        raise ValueError(f"multiplier must be 0 or more, but it is {multiplier}")
    visible = np.isfinite(scaled_row)  # 0 × -inf would be NaN: a hidden key stays hidden
    row = np.where(visible, multiplier * np.where(visible, scaled_row, 0.0), scaled_row)
    return HardnessLab(
        multiplier, softmax(row[None])[0], softmax(scaled_row[None])[0], visible, _names(row, key_tokens)
    )


@dataclass(frozen=True, slots=True, eq=False)
class ShiftLab:
    """The same constant added to every score of a row."""

    shift: float
    before: np.ndarray  # (n_k,) weights
    after: np.ndarray  # (n_k,) weights, the row's maximum subtracted first
    without_subtraction: np.ndarray  # (n_k,) weights by the bare formula; NaN where exp overflowed

    @property
    def difference(self) -> float:
        """The largest change of a weight."""
        return float(np.abs(self.after - self.before).max())

    @property
    def caption(self) -> str:
        """What the bars show: nothing moves."""
        if np.isnan(self.without_subtraction).any():
            bare = "gives NaN here: exp overflows, or every exp is 0."
        else:
            error = np.abs(self.without_subtraction - self.before).max()
            bare = f"differs by {significant(error)}."
        return (
            f"{significant(self.shift, 3)} added to every score: the bars do not move. The largest "
            f"difference is {significant(self.difference)}. The bare formula, with no maximum subtracted, "
            f"{bare}"
        )

    @property
    def note(self) -> str:
        """Why."""
        return (
            "The factor e^shift stands in every numerator and in the sum, and cancels. "
            "Subtracting the row's maximum is the same move with a well chosen constant. Differences near "
            "10⁻¹⁶ are rounding: a shifted score has fewer digits left for its fraction."
        )


def shift_lab(scaled_row: np.ndarray, shift: float = 100.0) -> ShiftLab:
    """scaled_row (n_k,), what goes into softmax -> its weights before and after `shift` is added to all."""
    shifted = scaled_row + shift
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(shifted)
        bare = exps / exps.sum()
    return ShiftLab(shift, softmax(scaled_row[None])[0], softmax(shifted[None])[0], bare)


@dataclass(frozen=True, slots=True, eq=False)
class AxisLab:
    """Softmax over each row (right) and over each column (the usual slip)."""

    by_row: np.ndarray  # (n_q, n_k)
    by_column: np.ndarray  # (n_q, n_k)
    key_tokens: tuple[str, ...]

    @property
    def row_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the rows, (n_q,) each: normalised by row, by column."""
        return self.by_row.sum(axis=-1), self.by_column.sum(axis=-1)

    @property
    def column_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the columns, (n_k,) each: normalised by row, by column."""
        return self.by_row.sum(axis=-2), self.by_column.sum(axis=-2)

    @property
    def caption(self) -> str:
        """What the sums show."""
        rows, columns = self.row_sums[1], self.column_sums[0]
        top = int(columns.argmax())
        collected = f"{self.key_tokens[top]} collects most, {fixed(columns[top])} in all"
        by_row = f"By row every row sums to 1; {collected}. "
        if len(rows) == 1:
            return f"{by_row}With one query each weight by column is 1: the row sums to {fixed(rows[0])}."
        if np.allclose(rows, 1):
            return by_row + "By column every column sums to 1, and here the rows happen to as well."
        return by_row + (
            f"By column every column sums to 1, and the rows sum to anything from {fixed(rows.min())} to "
            f"{fixed(rows.max())}: some queries get more than a whole blend, some less."
        )

    @property
    def note(self) -> str:
        """Why rows."""
        return (
            "A row is one query's budget, handed out over the keys, so softmax runs along the last axis, "
            "the keys. Both ways something sums to 1; that alone proves nothing."
        )


def axis_lab(masked_scores: np.ndarray, key_tokens: tuple[str, ...] | None = None) -> AxisLab:
    """masked_scores (n_q, n_k) -> softmax along the rows, and along the columns."""
    return AxisLab(softmax(masked_scores), softmax(masked_scores.T).T, _names(masked_scores[0], key_tokens))


@dataclass(frozen=True, slots=True, eq=False)
class SoftHardLab:
    """One channel of the output as each score is nudged: softmax against taking the largest."""

    channel: str
    soft_output: float
    hard_output: float
    soft_slopes: np.ndarray  # (n_k,) a_j (v_j - output), by the formula
    hard_slopes: np.ndarray  # (n_k,) measured; NaN where the nudge makes another key win: it jumps there
    nudge: float  # by how much each score was moved, both ways, to measure
    key_tokens: tuple[str, ...]

    @property
    def caption(self) -> str:
        """What the two rows of slopes show."""
        steepest = int(np.abs(self.soft_slopes).argmax())
        soft = (
            f"Soft: the output {self.channel} = {fixed(self.soft_output)} moves with every score whose "
            f"value is not the output itself; most with {self.key_tokens[steepest]}, slope "
            f"{fixed(self.soft_slopes[steepest])}. "
        )
        if np.isnan(self.hard_slopes).any():
            return soft + (
                f"Hard: {int(np.isnan(self.hard_slopes).sum())} keys tie for the largest score, or nearly, "
                "so a nudge makes the output jump: no slope there. Away from a tie every slope is 0."
            )
        return soft + (
            f"Hard: the output is {fixed(self.hard_output)}, the winner's value, and all "
            f"{len(self.hard_slopes)} slopes are exactly 0: no nudge tells the model which way to move."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            f"The hard slopes are measured by moving each score by ±{self.nudge:g}. Taking the largest has "
            "slope 0 almost everywhere and jumps at a tie. There are estimators that train through it; "
            "plain backpropagation gets nothing."
        )


def soft_hard_lab(
    masked_row: np.ndarray,
    v: np.ndarray,
    channel: int = 0,
    channel_name: str = "channel",
    key_tokens: tuple[str, ...] | None = None,
    nudge: float = 1e-3,
) -> SoftHardLab:
    """masked_row (n_k,), v (n_k, d_v) -> slopes of output[channel] by each score, soft and hard."""
    weights, values = softmax(masked_row[None])[0], v[:, channel]
    output = float(weights @ values)
    return SoftHardLab(
        channel_name,
        output,
        float(hard_output(masked_row, v)[channel]),
        weights * (values - output),
        _measured_hard_slopes(masked_row, v, channel, nudge),
        nudge,
        _names(masked_row, key_tokens),
    )


def hard_output(masked_row: np.ndarray, v: np.ndarray) -> np.ndarray:
    """masked_row (n_k,), v (n_k, d_v) -> the value of the largest score (of the first one in a tie)."""
    one_hot = np.zeros((1, len(masked_row)))
    one_hot[0, masked_row.argmax()] = 1.0
    return blend(one_hot, v)[0]


def _measured_hard_slopes(masked_row: np.ndarray, v: np.ndarray, channel: int, nudge: float) -> np.ndarray:
    """(output(+nudge) - output(-nudge)) / (2 nudge) for each score; NaN where the winner changes."""
    slopes = np.empty(len(masked_row))
    for j in range(len(masked_row)):
        up, down = masked_row.astype(float), masked_row.astype(float)
        up[j] += nudge
        down[j] -= nudge
        change = hard_output(up, v)[channel] - hard_output(down, v)[channel]
        slopes[j] = change / (2 * nudge) if up.argmax() == down.argmax() else math.nan
    return slopes


def _names(row: np.ndarray, key_tokens: tuple[str, ...] | None) -> tuple[str, ...]:
    """The keys' names, or their numbers."""
    return tuple(f"key {j}" for j in range(len(row))) if key_tokens is None else tuple(key_tokens)
