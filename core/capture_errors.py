"""How far the four steps, run on a capture's q, k and v, are from the weights and output in the file.

A difference is called rounding as long as the file's own number format can explain it: scores that are
off by the format's roundoff times their size, and what softmax and the blend make of that.
"""

from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps
from core.captures import Capture
from core.clinic.precision import ROUNDOFF, is_short, roundoff_of

HALF = 1e-5  # the roundoff of half precision is above it
MOST_EXPONENT = 50.0  # e^50 is beyond every weight, so that no bound overflows


@dataclass(frozen=True, slots=True)
class Beyond:
    """The cell with the largest difference that is more than rounding, of one tensor of all heads."""

    tensor: str  # "weights" or "output"
    head: int
    row: int
    col: int  # a key of the weights, a channel of the output
    own: float  # as the file holds it
    computed: float  # by the four steps on q, k and v
    rounding: float  # the most that rounding makes of it in this cell


@dataclass(frozen=True, slots=True)
class Errors:
    """Largest differences of all heads: None where the file holds nothing, NaN where its numbers are such."""

    weights: float | None
    output: float | None
    number_format: str  # of ROUNDOFF: the shortest in which the file's numbers were kept
    beyond: tuple[Beyond, ...]  # at most one for each tensor; empty where rounding explains all


def errors(capture: Capture) -> Errors:
    """Compute every head's weights and output, and compare them with those in the file."""
    number_format = _number_format(capture)
    largest: dict[str, float] = {}
    worst: dict[str, Beyond] = {}
    held = [name for name, own in (("weights", capture.weights), ("output", capture.out)) if own is not None]
    for head in range(capture.n_heads if held else 0):
        steps = capture.head(head)
        rounding = _rounding(capture, steps, ROUNDOFF[number_format])
        for name in held:
            own = own_tensor(capture, name, head)
            difference, beyond = _compare(name, head, getattr(steps, name), own, rounding[name])
            largest[name] = float(np.maximum(largest.get(name, 0.0), difference))  # NaN stays
            if beyond and (name not in worst or _size(beyond) > _size(worst[name])):
                worst[name] = beyond
    return Errors(largest.get("weights"), largest.get("output"), number_format, tuple(worst.values()))


def own_tensor(capture: Capture, name: str, head: int) -> np.ndarray:
    """The file's own "weights" (n_q, n_k) or "output" (n_q, d_v) of one head, float64."""
    tensor = capture.weights if name == "weights" else capture.out
    if tensor is None:
        raise ValueError(f"the file holds no {name}")
    return tensor[head].astype(np.float64)


def _compare(
    name: str, head: int, computed: np.ndarray, own: np.ndarray, rounding: np.ndarray
) -> tuple[float, Beyond | None]:
    """-> the largest difference in one head, and the cell of the largest that is more than rounding."""
    differences = np.abs(computed - own)
    over = np.where(np.isfinite(differences) & (differences > rounding), differences, 0.0)
    if not over.any():
        return float(differences.max()), None
    row, col = (int(i) for i in np.unravel_index(over.argmax(), over.shape))
    cell = Beyond(name, head, row, col, *(float(each[row, col]) for each in (own, computed, rounding)))
    return float(differences.max()), cell


def _size(cell: Beyond) -> float:
    return abs(cell.own - cell.computed)


def _number_format(capture: Capture) -> str:
    """The shortest format in which one of the file's arrays was kept; small whole numbers tell of none."""
    held = (capture.q, capture.k, capture.v, capture.weights, capture.out)
    arrays = [a for a in held if a is not None and a.dtype.kind == "f" and not is_short(a)]
    coarsest = max((roundoff_of(array) for array in arrays), default=ROUNDOFF["float32"])
    return next(name for name, roundoff in ROUNDOFF.items() if roundoff == coarsest)


def _rounding(capture: Capture, steps: AttentionSteps, roundoff: float) -> dict[str, np.ndarray]:
    """The most that rounding makes of each cell of one head: "weights" (n_q, n_k), "output" (n_q, d_v).

    A score is a sum, rounded by a few times the roundoff of its terms. Two scores of a row that are off
    by d each change a weight by the factor e^2d at most. Softmax and the blend round once more.
    """
    longest = max(capture.q.shape[-1], capture.k.shape[1])
    # Half precision keeps its sums in longer registers; float32 and float64 may add up in any order.
    slack = roundoff * (4 if roundoff > HALF else 8 + 2 * np.sqrt(longest))
    terms = abs(capture.scaling) * (np.abs(steps.q).astype(np.float64) @ np.abs(steps.k).T)
    terms = np.where(np.isfinite(steps.masked_scores), terms, 0.0)
    off = slack * terms.max(axis=-1, keepdims=True)
    factor = np.expm1(np.minimum(2 * off, MOST_EXPONENT)) + slack
    weights = np.minimum(steps.weights * factor + roundoff**2, 1.0)
    values = np.abs(steps.v)
    return {"weights": weights, "output": weights @ values + slack * (steps.weights @ values)}
