"""Faults with a number in them that no list can hold: fitted to the data.

A scale, a fill value or a dropout mask is estimated from the output; whether the result
reproduces the file is judged afterwards, like any other candidate.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from core.clinic.layouts import heads_output
from core.clinic.mask_fits import recovered_masks, window_choices
from core.clinic.precision import Target
from core.clinic.sampling import Part
from core.faults.choices_blend import finished, with_constant
from core.faults.choices_fill import hide
from core.faults.choices_score import right_factor
from core.faults.pipeline import Choice, State, run
from core.faults.problem import Problem

FACTORS = np.geomspace(2.0**-9, 2.0**7, 33)
POSITIVE = np.geomspace(1e-6, 1e3, 19)  # caps and constants
FILLS = np.array([-200.0, -60.0, -30.0, -15.0, -8.0, -4.0, -2.0, -0.5, 0.5, 2.0, 5.0])


def scale_by(factor: float) -> Choice:
    """The scores times `factor`."""
    return Choice(
        "scale", lambda _, s: {"scaled": s.scores * factor}, "scale.wrong_constant", f"times {factor:.6g}"
    )


def fill_with(value: float) -> Choice:
    """Hidden scores replaced by `value`."""
    label = "mask.filled_with_small_negative" if value < 0 else "mask.filled_with_positive"
    return Choice("fill", lambda _, s: hide(s, value), label, f"{value:.6g}")


def add_outside(value: float) -> Choice:
    """`value` added to hidden scores."""
    label = "mask.filled_with_small_negative" if value < 0 else "mask.filled_with_positive"
    return Choice("fill", lambda _, s: hide(s, s.scaled + value), label, f"{value:.6g} added")


def capped_at(cap: float) -> Choice:
    """The scaled scores through cap · tanh(· / cap)."""

    def compute(p: Problem, s: State) -> dict:
        return {"scaled": cap * np.tanh(s.scores * right_factor(p, s) / cap)}

    return Choice("scale", compute, "scale.softcapped", f"at {cap:.6g}", number=cap)


def added_to_sum(constant: float) -> Choice:
    """exp(z) / (constant + sum)."""

    def compute(_: Problem, s: State) -> dict:
        return finished(s, with_constant(s.masked, constant))

    return Choice("softmax", compute, "softmax.constant_added", f"{constant:.6g}", number=constant)


def times_output(factor: float) -> Choice:
    """The output times `factor`."""

    def multiplied(_: Problem, s: State) -> dict:
        return {"heads_out": factor * (s.weights @ s.v)}

    return Choice("blend", multiplied, "blend.output_scaled", f"times {factor:.6g}")


def fitted_choices(small: Part, exact: Part) -> Iterator[list[Choice]]:
    """Groups of choices, the quickest to find first: numbers and windows (of `small`), masks and dropout."""
    yield fitted_numbers(small)
    yield list(window_choices(small.problem, small.targets))
    yield list(recovered_masks(exact.problem, exact.targets))
    yield list(dropout_choices(exact.problem, exact.targets))


def fitted_numbers(small: Part) -> list[Choice]:
    """The best scale, cap, constant, fill and factor on the output."""
    problem, targets = small.problem, small.targets
    makers: list[tuple[Callable[[float], Choice], np.ndarray]] = [
        (scale_by, np.concatenate([FACTORS, -FACTORS])),
        (capped_at, POSITIVE),
        (added_to_sum, POSITIVE),
        (times_output, np.array([0.5, 2.0])),
    ]
    if problem.masks:
        makers += [(fill_with, FILLS), (add_outside, FILLS)]
    found = [(maker, fitted_number(problem, targets, maker, starts)) for maker, starts in makers]
    return [maker(number) for maker, number in found if number is not None]


def fitted_number(
    problem: Problem, targets: Sequence[Target], maker: Callable[[float], Choice], starts: np.ndarray
) -> float | None:
    """The number for which maker(number) comes closest to the targets: a grid, then Gauss-Newton."""

    def residual(number: float) -> np.ndarray | None:
        state = run(problem, [maker(float(number))])
        parts = [target.residual(state) for target in targets]
        fitting = [part.ravel() for part in parts if part is not None]
        return np.concatenate(fitting) if len(fitting) == len(parts) else None

    def distance(number: float) -> float:
        found = residual(number)
        return np.inf if found is None else float(found @ found)

    number = float(min(starts, key=distance))
    best = distance(number)
    if not np.isfinite(best):
        return None
    for _ in range(30):
        step = 1e-6 * max(abs(number), 1e-3)
        here, ahead, behind = residual(number), residual(number + step), residual(number - step)
        if here is None or ahead is None or behind is None:
            return None
        slope = (ahead - behind) / (2 * step)
        move = -(slope @ here) / max(float(slope @ slope), 1e-300)
        while distance(number + move) > best and abs(move) > 1e-15 * abs(number):
            move /= 4
        if distance(number + move) >= best:
            return number
        number, best = number + move, distance(number + move)
    return number


# --- dropout -------------------------------------------------------------------------------------------

RATES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
LEAST_FACTOR = 0.999  # 1 where what is left was not rescaled
MAX_FLIPPED_KEYS = 128  # more keys than this are not searched for a dropout mask


def dropout_choices(problem: Problem, targets: Sequence[Target]) -> Iterator[Choice]:
    """Dropout left on: weights or outputs are each 0 or 1 / (1 - p) times the right ones."""
    right = run(problem)
    by_name = {target.name: target.array for target in targets}
    found = [pattern_of(by_name["weights"], right.weights)] if "weights" in by_name else []
    if "output" in by_name and problem.n_k <= MAX_FLIPPED_KEYS:
        found.append(pattern_in_output(problem, right, by_name["output"]))
    for kept, factor in filter(None, found):
        yield from dropped_weights(kept, factor)
    pattern = pattern_of(by_name["output"], right.output) if "output" in by_name else None
    if pattern and pattern[1] > 1.001:  # without the rescaling zeros in the output may be anything
        kept, factor = pattern
        yield Choice(
            "output",
            lambda _p, _s: {"output": np.where(kept, factor * right.output, 0.0)},
            "blend.dropout_active",
            f"on the output, {_rate(factor)}",
        )


def dropped_weights(kept: np.ndarray, factor: float) -> Iterator[Choice]:
    """Dropout by this pattern; if all heads share it and nothing is rescaled, it may be a late mask."""

    def compute(_: Problem, s: State) -> dict:
        return {"weights": np.where(kept, factor * s.weights, 0.0)}

    yield Choice("weights", compute, "blend.dropout_active", _rate(factor))
    if abs(factor - 1) < 1e-3 and (kept == kept[:1, :1]).all():
        yield Choice("weights", compute, "mask.after_softmax", "another mask than the one that was meant")


def _rate(factor: float) -> str:
    return f"p = {1 - 1 / factor:.2f}" if factor > 1.001 else "what is left is not rescaled"


def pattern_in_output(problem: Problem, right: State, out: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Which weights were kept, and the factor on them, found from the output alone.

    The weights nearest to the right ones that give the output (exact where v has full rank) tell
    most of the mask; single entries are then flipped while that brings the output closer.
    """
    heads_out = heads_output(problem, out)
    if heads_out is None or not np.isfinite(heads_out).all() or not np.isfinite(right.output).all():
        return None
    try:
        inverse = np.linalg.pinv(right.v)
    except np.linalg.LinAlgError:  # numbers too wild to solve for
        return None
    estimate = right.weights + (heads_out - right.weights @ right.v) @ inverse
    tried = [flipped(estimate, right, heads_out, 1 / (1 - rate)) for rate in RATES]
    kept, factor, error = min(tried, key=lambda found: found[2])
    close = error <= 0.05 * float(np.sqrt(np.mean(heads_out**2)))
    return (kept, factor) if close and LEAST_FACTOR < factor < 20 and not kept.all() else None


def flipped(
    estimate: np.ndarray, right: State, out: np.ndarray, factor: float
) -> tuple[np.ndarray, float, float]:
    """The mask near `estimate` that fits best -> which are kept, the factor, the root mean square error."""
    kept = estimate > 0.5 * factor * right.weights
    for _ in range(3):
        residual = out - factor * (kept * right.weights) @ right.v
        for key in range(right.v.shape[-2]):
            change = factor * right.weights[..., key, None] * right.v[..., key, None, :]
            moved = residual + np.where(kept[..., key, None], change, -change)
            better = (moved**2).sum(-1) < (residual**2).sum(-1)
            residual = np.where(better[..., None], moved, residual)
            kept[..., key] ^= better
        blended = (kept * right.weights) @ right.v
        factor = float((blended * out).sum() / max(float((blended**2).sum()), 1e-300))
    return kept, factor, float(np.sqrt(np.mean((out - factor * blended) ** 2)))


def pattern_of(found: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Which entries were kept, and the factor 1 / (1 - p) on them; None if it is not dropout."""
    size = np.abs(right)
    clear = size > 1e-3 * size.max(initial=0.0)  # small ones drown in rounding
    if found.shape != right.shape or not clear.any() or not np.isfinite(found).all():
        return None
    ratio = np.divide(found, right, out=np.zeros_like(found), where=clear)
    kept_ratios = ratio[clear & (ratio > 0.5)]
    if kept_ratios.size in (0, np.count_nonzero(clear)):
        return None
    factor = float(np.median(kept_ratios))
    spread = np.abs(kept_ratios - factor).max()
    gone = np.abs(ratio[clear & (ratio <= 0.5)]).max(initial=0.0)
    if not LEAST_FACTOR < factor < 20 or spread > 0.1 * factor or gone > 0.1:
        return None
    return np.abs(found) > 0.5 * factor * size, factor
