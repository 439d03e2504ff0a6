"""Nothing explains the whole output: are some heads, or some batch entries, right by themselves?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.clinic.layouts import heads_output
from core.clinic.precision import PROBE, Target, implied_by
from core.clinic.readings import Reading
from core.faults.pipeline import Jitter, run
from core.faults.problem import Problem

HEADS, ENTRIES = 1, 0  # the axis of (B, h, n_q, d_v)
NAMES = {HEADS: ("head", "heads"), ENTRIES: ("batch entry", "batch entries")}


@dataclass(frozen=True, slots=True)
class Partly:
    """Which heads (or entries) the right computation gives, and which it does not."""

    axis: int
    right: tuple[int, ...]
    wrong: tuple[int, ...]
    max_error: float  # of the wrong ones

    @property
    def share(self) -> float:
        """Which part of them is right."""
        return len(self.right) / (len(self.right) + len(self.wrong))

    @property
    def sentence(self) -> str:
        """In words."""
        verb = "is" if len(self.wrong) == 1 else "are"
        how = f"off by up to {self.max_error:.2g}" if np.isfinite(self.max_error) else "not even finite"
        return f"{self.right_sentence} {_listed(self.axis, self.wrong)} {verb} {how}."

    @property
    def right_sentence(self) -> str:
        """The right ones, in words."""
        verb = "is" if len(self.right) == 1 else "are"
        return f"{_listed(self.axis, self.right)} {verb} right."

    @property
    def where(self) -> str:
        """The wrong ones, in words."""
        told = _listed(self.axis, self.wrong)
        return f"only in {told[0].lower()}{told[1:]}"


def _listed(axis: int, numbers: Sequence[int]) -> str:
    one, several = NAMES[axis]
    name = one if len(numbers) == 1 else several
    return f"{name.capitalize()} {', '.join(map(str, numbers))}"


def partly_right(reading: Reading, limit: float, axes: Sequence[int] = (HEADS, ENTRIES)) -> Partly | None:
    """The right and the wrong ones along the first of `axes` that has both; None if none has.

    `limit` is the largest implied roundoff that honest arithmetic may show.
    """
    problem = reading.problem
    out = next((t.array for t in reading.targets if t.name == "output"), None)
    if out is None or "wo" in problem.projections:
        return None
    array = heads_output(problem, out)
    exact, noisy = run(problem).heads_out, run(problem, (), Jitter(PROBE)).heads_out
    if array is None or array.shape != exact.shape:
        return None
    for axis in axes:
        parts = [[np.take(x, [i], axis) for x in (exact, noisy, array)] for i in range(array.shape[axis])]
        good = [implied_by(e, [n], a) <= limit for e, n, a in parts]
        if any(good) and not all(good):
            right = tuple(i for i, ok in enumerate(good) if ok)
            wrong = tuple(i for i, ok in enumerate(good) if not ok)
            errors = [np.abs(parts[i][0] - parts[i][2]) for i in wrong]
            error = max(float(np.nan_to_num(e, nan=np.inf).max(initial=0.0)) for e in errors)
            return Partly(axis, right, wrong, error)
    return None


def wrong_part(reading: Reading, partly: Partly) -> Reading | None:
    """The wrong heads or entries as a reading of their own; None where they cannot be cut out."""
    problem, chosen = reading.problem, list(partly.wrong)
    if partly.axis == ENTRIES:
        targets = tuple(Target(t.name, t.array[chosen]) for t in reading.targets)
        return replace(reading, problem=problem.batch_entries(chosen), targets=targets)
    if problem.flat or problem.x is not None or problem.merged or problem.alibi:
        return None
    targets = tuple(Target(t.name, t.array[:, chosen]) for t in reading.targets)
    return replace(reading, problem=_some_heads(problem, chosen), targets=targets)


def _some_heads(problem: Problem, chosen: list[int]) -> Problem:
    """These query heads, each with its own copy of its key and value head."""
    groups = [i // (problem.n_heads // problem.n_kv_heads) for i in chosen]

    def cut(array: np.ndarray | None) -> np.ndarray | None:
        has_heads = array is not None and array.ndim == 4 and array.shape[1] == problem.n_heads > 1
        return array[:, chosen] if array is not None and has_heads else array

    return replace(
        problem,
        q=problem.q[:, chosen],
        k=problem.k[:, groups],
        v=problem.v[:, groups],
        allowed=cut(problem.allowed),
        bias=cut(problem.bias),
        n_heads=len(chosen),
        n_kv_heads=len(chosen),
        all_heads=problem.total_heads,
    )
