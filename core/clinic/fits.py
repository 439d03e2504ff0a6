"""Faults with a number in them that no list can hold: fitted to the data.

A scale, a fill value or a dropout mask is estimated from the output; whether the result
reproduces the file is judged afterwards, like any other candidate.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from core.clinic.precision import Target
from core.clinic.sampling import Part
from core.faults.choices_mask import hide
from core.faults.pipeline import Choice, State, run
from core.faults.problem import Problem

FACTORS = np.geomspace(2.0**-9, 2.0**7, 33)
FILLS = np.array([-200.0, -60.0, -30.0, -15.0, -8.0, -4.0, -2.0, -0.5, 0.5, 2.0, 5.0])


def scale_by(factor: float) -> Choice:
    return Choice("scale", lambda p, s: {"scaled": s.scores * factor}, "scale.wrong_constant", f"times {factor:.6g}")


def fill_with(value: float) -> Choice:
    label = "mask.filled_with_small_negative" if value < 0 else "mask.filled_with_positive"
    return Choice("fill", lambda p, s: hide(s, value), label, f"{value:.6g}")


def add_outside(value: float) -> Choice:
    label = "mask.filled_with_small_negative" if value < 0 else "mask.filled_with_positive"
    return Choice("fill", lambda p, s: hide(s, s.scaled + value), label, f"{value:.6g} added")


def times_output(factor: float) -> Choice:
    def multiplied(p: Problem, s: State) -> dict:
        return {"heads_out": factor * (s.weights @ s.v)}

    return Choice("blend", multiplied, "blend.output_scaled", f"times {factor:.6g}")


def fitted_choices(small: Part, exact: Part) -> Iterator[Choice]:
    """The best scale, fill and factor on the output (fitted to `small`), and dropout masks (of `exact`)."""
    problem, targets = small.problem, small.targets
    makers: list[tuple[Callable[[float], Choice], np.ndarray]] = [
        (scale_by, np.concatenate([FACTORS, -FACTORS])),
        (times_output, np.array([0.5, 2.0])),
    ]
    if problem.masks:
        makers += [(fill_with, FILLS), (add_outside, FILLS)]
    for maker, starts in makers:
        number = fitted_number(problem, targets, maker, starts)
        if number is not None:
            yield maker(number)
    yield from dropout_choices(exact.problem, exact.targets)


def fitted_number(
    problem: Problem, targets: Sequence[Target], maker: Callable[[float], Choice], starts: np.ndarray
) -> float | None:
    """The number for which maker(number) comes closest to the targets: a grid, then Gauss-Newton."""

    def residual(number: float) -> np.ndarray | None:
        state = run(problem, [maker(float(number))])
        parts = [target.residual(state) for target in targets]
        return None if any(part is None for part in parts) else np.concatenate([p.ravel() for p in parts])

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


def dropout_choices(problem: Problem, targets: Sequence[Target]) -> Iterator[Choice]:
    """Dropout left on: weights or outputs are each 0 or 1 / (1 - p) times the right ones."""
    right = run(problem)
    weights = recovered_weights(problem, right, targets)
    if weights is not None and (pattern := dropout_pattern(weights, right.weights)) is not None:
        kept, factor = pattern
        yield Choice(
            "weights", lambda p, s: {"weights": np.where(kept, factor * s.weights, 0.0)},
            "blend.dropout_active", f"p = {1 - 1 / factor:.2f}",
        )  # fmt: skip
    out = next((t.array for t in targets if t.name == "output"), None)
    if out is not None and (pattern := dropout_pattern(out, right.output)) is not None:
        kept, factor = pattern
        yield Choice(
            "output", lambda p, s: {"output": np.where(kept, factor * right.output, 0.0)},
            "blend.dropout_active", f"on the output, p = {1 - 1 / factor:.2f}",
        )  # fmt: skip


def recovered_weights(problem: Problem, right: State, targets: Sequence[Target]) -> np.ndarray | None:
    """The weights that made the output: handed in, or out · pinv(v) where v has full rank."""
    by_name = {target.name: target.array for target in targets}
    if "output" not in by_name:
        return by_name.get("weights")
    heads_out = heads_output(problem, right, by_name["output"])
    if heads_out is None or not np.isfinite(heads_out).all() or np.linalg.matrix_rank(right.v).min() < problem.n_k:
        return by_name.get("weights")
    return heads_out @ np.linalg.pinv(right.v)


def heads_output(problem: Problem, right: State, out: np.ndarray) -> np.ndarray | None:
    """The output of each head (B, h, n_q, d_v), from one that was joined and projected."""
    if "wo" in problem.projections:
        wo = problem.projections["wo"]
        if np.linalg.matrix_rank(wo) < wo.shape[0]:
            return None
        out = (out - problem.projections.get("bo", 0.0)) @ np.linalg.pinv(wo)
    if not problem.merged:
        return out
    batch, seq_len, width = out.shape
    return out.reshape(batch, seq_len, problem.n_heads, width // problem.n_heads).swapaxes(1, 2)


def dropout_pattern(found: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float] | None:
    """Which entries were kept, and the factor 1 / (1 - p) > 1 on them; None if it is not dropout."""
    if found.shape != right.shape:
        return None
    size = np.abs(right)
    clear = size > 1e-3 * size.max(initial=0.0)  # small ones drown in rounding
    if not clear.any() or not np.isfinite(found).all():
        return None
    ratio = np.divide(found, right, out=np.zeros_like(found), where=clear)
    kept_ratios = ratio[clear & (ratio > 0.5)]
    if kept_ratios.size == 0 or kept_ratios.size == np.count_nonzero(clear):
        return None
    factor = float(np.median(kept_ratios))
    spread = np.abs(kept_ratios - factor).max()
    gone = np.abs(ratio[clear & (ratio <= 0.5)]).max(initial=0.0)
    if not 1.001 < factor < 20 or spread > 0.1 * factor or gone > 0.1:
        return None
    return np.where(clear, ratio > 0.5 * factor, found > 0.5 * factor * right), factor
