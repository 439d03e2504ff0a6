"""How exactly numbers were computed, and whether a difference is more than rounding.

Nothing here trusts a dtype: a float64 file may hold float32 or bfloat16 results. What counts is
how many bits the numbers use, and what one rounding a step does to this very computation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from core.faults.pipeline import STAGES, Choice, Jitter, Rounding, State, run
from core.faults.problem import Problem

#: unit roundoff: the largest relative error of one rounding, 2^-p for p bits of precision
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SHORT_BITS = 6  # fewer than any format keeps
CLOSER = 0.5  # the part of the error that may be left where rounding is the explanation
PROBE = 2.0**-17  # the size of the noise that measures how sensitive a computation is


def roundoff_of(array: np.ndarray) -> float:
    """The unit roundoff of the shortest number format that holds every value of `array` exactly."""
    values = array[np.isfinite(array)] if array.dtype.kind == "f" else np.zeros(0)
    if array.dtype == np.float16:
        return ROUNDOFF["float16"]
    for name in ("bfloat16", "float16", "float32"):  # the coarsest first
        if np.array_equal(rounded_to(values, name), values):
            return ROUNDOFF[name]
    return ROUNDOFF["float64"]


def is_short(array: np.ndarray) -> bool:
    """Whether the values are short by themselves, as small whole numbers are: they tell of no format."""
    if array.dtype == np.float16:
        return False
    mantissa = np.frexp(np.where(np.isfinite(array), array, 0.0))[0] * 2.0**SHORT_BITS
    return bool((mantissa == np.rint(mantissa)).all())


def suggested_roundoffs(fields: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """The roundoff that the output's bits suggest, and the coarsest among all arrays."""
    reals = {name: array for name, array in fields.items() if array.dtype.kind == "f"}
    each = {name: roundoff_of(array) for name, array in reals.items()}
    fine = each.get("out", each.get("weights", ROUNDOFF["float64"]))
    return fine, max([fine, *(each[name] for name, array in reals.items() if not is_short(array))])


def rounded_to(values: np.ndarray, name: str) -> np.ndarray:
    """`values` rounded to a number format, as float64."""
    with np.errstate(over="ignore"):
        if name == "bfloat16":
            return rounded_to_bfloat16(values)
        return values.astype(name).astype(np.float64)


def rounded_to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Round to nearest even with 8 bits of precision: the upper half of a float32."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounding = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    kept = (bits + rounding) & np.uint32(0xFFFF0000)
    nearest = kept.view(np.float32).astype(np.float64)
    return np.where(np.isfinite(values), nearest, values)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One array of the file that a computation has to reproduce."""

    name: str  # the field of the pipeline's state: "output" or "weights"
    array: np.ndarray  # float64, in the shape that the pipeline gives it

    def residual(self, state: State) -> np.ndarray | None:
        """prediction - array where finite; None if the shapes or the places of NaN and inf differ."""
        return _difference(getattr(state, self.name), self.array)


def _difference(prediction: np.ndarray, array: np.ndarray) -> np.ndarray | None:
    if prediction.shape != array.shape:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        residual = prediction - array
    finite = np.isfinite(residual)
    if finite.all():
        return residual
    both = np.isfinite(prediction)
    if not np.array_equal(both, np.isfinite(array)) or not finite[both].all():
        return None
    return np.where(finite, residual, 0.0)


def kept_bits(values: np.ndarray, bits: int, cut_off: bool = False) -> np.ndarray:
    """`values` with so many bits of mantissa, rounded to nearest or cut off; the exponent stays free."""
    mantissa, exponent = np.frexp(values)
    scaled = mantissa * 2.0**bits
    kept = np.trunc(scaled) if cut_off else np.rint(scaled)
    return np.where(np.isfinite(values), np.ldexp(kept, exponent - bits), values)


#: bfloat16, and float16 or TF32, rounded or cut off; where they are met: inputs, scores, weights, throughout
SHORT_FORMATS = ((8, False), (11, False), (11, True))
SHORT_PLACES = (
    ("project",), ("score",), ("scale",), ("softmax",), ("project", "softmax"),
    ("project", "score", "scale", "softmax"), STAGES,
)  # fmt: skip


def explained_by_rounding(problem: Problem, choices: Sequence[Choice], targets: Sequence[Target]) -> bool:
    """Whether a shorter format in some places brings the same computation much closer to the file.

    A coarse agreement alone may also be a small mistake that nothing here knows.
    """
    exact = relative_error(run(problem, choices), targets)
    for bits, cut_off in SHORT_FORMATS:
        for places in SHORT_PLACES:
            rounding = Rounding(partial(kept_bits, bits=bits, cut_off=cut_off), places)
            if relative_error(run(problem, choices, rounding), targets) < CLOSER * exact:
                return True
    return False


def relative_error(state: State, targets: Sequence[Target]) -> float:
    """Root mean square of the residuals over that of the array, the worst target; inf if it cannot fit."""
    worst = 0.0
    for target in targets:
        residual = target.residual(state)
        if residual is None:
            return np.inf
        worst = max(worst, _rms(residual) / (size(target.array) or 1.0))
    return worst


def largest_error(state: State, targets: Sequence[Target]) -> float:
    """The largest residual of all targets; inf if one cannot fit."""
    residuals = [target.residual(state) for target in targets]
    return max(float(np.abs(r).max(initial=0.0)) if r is not None else np.inf for r in residuals)


def _rms(values: np.ndarray) -> float:
    flat = values.ravel()
    with np.errstate(over="ignore", under="ignore"):
        squares = float(flat @ flat)
    if squares == 0 or not 1e-200 < squares < 1e300:  # squares that under- or overflow
        largest = float(np.abs(flat).max(initial=0.0))
        flat = flat / largest if largest else flat
        return largest * float(np.sqrt(flat @ flat / max(flat.size, 1)))
    return float(np.sqrt(squares / max(flat.size, 1)))


def size(array: np.ndarray) -> float:
    """Root mean square of the finite entries."""
    return _rms(np.where(np.isfinite(array), array, 0.0))


def implied_roundoff(
    problem: Problem,
    choices: Sequence[Choice],
    state: State,
    targets: Sequence[Target],
    limit: float = np.inf,
) -> float:
    """The unit roundoff that arithmetic would need to explain the residuals; inf if none can.

    The same computation is run again with the noise of one rounding at every stage. What that
    noise does to each row, against the residual of that row, tells how coarse the file's own
    arithmetic would have to be if this computation were the file's. One run may draw too little
    noise by chance: an answer somewhat above `limit` is measured again with more runs.
    """
    noisy = [run(problem, choices, Jitter(PROBE))]
    found = _worst(state, noisy, targets)
    if limit < found < 100 * limit:
        noisy += [run(problem, choices, Jitter(PROBE, seed)) for seed in (1, 2, 3, 4)]
        found = _worst(state, noisy, targets)
    return found


def _worst(state: State, noisy: Sequence[State], targets: Sequence[Target]) -> float:
    return max(
        implied_by(getattr(state, t.name), [getattr(n, t.name) for n in noisy], t.array) for t in targets
    )


def implied_by(prediction: np.ndarray, noisy: Sequence[np.ndarray], array: np.ndarray) -> float:
    """The unit roundoff that explains prediction - array, from what noise of PROBE does to each row."""
    residual = _difference(prediction, array)
    if residual is None:
        return np.inf
    noises = [_difference(each, prediction) for each in noisy]
    # a draw that tipped a value over into inf tells nothing: the value's own size is left to judge by
    unit = max(float(np.abs(array[np.isfinite(array)]).max(initial=0.0)), size(prediction)) or 1.0
    squares = [(noise / unit) ** 2 for noise in noises if noise is not None] or [np.zeros_like(residual)]
    shown = np.where(np.isfinite(prediction), prediction, 0.0) / unit
    floor = 0.02 * PROBE * size(array) / unit + 1e-150
    row = np.mean(squares, axis=(0, -1))[..., None]
    sigma = np.sqrt(row + (PROBE * shown) ** 2 / 3 + floor**2)
    ratio = residual / unit / sigma
    return PROBE * max(_rms(ratio), float(np.abs(ratio).max(initial=0.0)) / 6)


def allowance(problem: Problem, roundoff: float) -> float:
    """How much more than one rounding a step an honest computation may show.

    Short sums in half precision are kept in longer registers; float32 and float64 sums may be
    made in any order, plain loops included, and their error grows with their length.
    """
    longest = max(problem.d_k, problem.n_k, problem.d_model)
    return 4.0 if roundoff > 1e-5 else 8.0 + 2.0 * float(np.sqrt(longest))
