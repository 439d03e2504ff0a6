"""Look for the computation that made an output: the right one, one fault, two faults."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.clinic.precision import (
    ROUNDOFF,
    Target,
    allowance,
    implied_roundoff,
    largest_error,
    relative_error,
)
from core.faults.pipeline import STAGES, Choice, State, faulty_choices, run, walk
from core.faults.problem import Problem

FAR = 0.3  # a relative error above this is no rounding of any number format
Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One computation and how well it reproduces the file."""

    choices: tuple[Choice, ...]
    roundoff: float  # the unit roundoff its residuals imply
    max_error: float
    dead_rows: str  # what rows with nothing allowed hold: "", "NaN", "0", "mean", "unmasked"

    @property
    def faults(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.choices if not choice.free)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(choice.label) for choice in self.faults)

    @property
    def conventions(self) -> tuple[str, ...]:
        return tuple(choice.variant for choice in self.choices if choice.free)


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """What a search with at most one fault found."""

    candidates: list[Candidate]  # the right way and each fault that comes near
    invisible: list[Choice]  # faults that would change nothing on this data
    visible: list[Choice]


class Search:
    """The search of one reading of the file."""

    def __init__(self, problem: Problem, targets: Sequence[Target], roundoff: float) -> None:
        self.problem = problem
        self.targets = list(targets)
        self.roundoff = roundoff  # the coarsest arithmetic that the file's numbers suggest

    def assess(self, choices: Iterable[Choice], state: State | None = None, near: float = FAR) -> Candidate | None:
        """The candidate of these choices; None if it is far from the file."""
        choices = tuple(choices)
        state = run(self.problem, choices) if state is None else state
        if relative_error(state, self.targets) > near:
            return None
        roundoff = implied_roundoff(self.problem, choices, state, self.targets)
        error = largest_error(state, self.targets)
        return Candidate(choices, roundoff, error, state.dead_rows)

    def accepts(self, candidate: Candidate, roundoff: float | None = None) -> bool:
        roundoff = self.roundoff if roundoff is None else roundoff
        return candidate.roundoff <= roundoff * allowance(self.problem, roundoff)

    def right(self) -> Candidate | None:
        """The right computation in whichever convention fits best."""
        only_conventions = {
            stage: [choice for choice in choices if choice.free]
            for stage, choices in faulty_choices(self.problem).items()
        }
        found = [self.assess(choices, state) for choices, state in walk(self.problem, only_conventions, 0)]
        return min(filter(None, found), key=lambda candidate: candidate.roundoff, default=None)

    def one_fault(self) -> Examination:
        """Try every single fault; note too which of them could not show on this data."""
        states = walk(self.problem, faulty_choices(self.problem), 1)
        _, right_state = next(states)
        as_right = [Target(target.name, getattr(right_state, target.name)) for target in self.targets]
        near = min(FAR, 1e5 * self.roundoff)
        candidates, invisible, visible = [], [], []
        first = self.assess((), right_state)
        if first:
            candidates.append(first)
        for choices, state in states:
            faults = [choice for choice in choices if not choice.free]
            found = self.assess(choices, state, near)
            if found:
                candidates.append(found)
            if faults and len(choices) == 1:
                hides = self._same_as_right(choices, state, as_right)
                (invisible if hides else visible).extend(faults)
        return Examination(candidates, invisible, visible)

    def _same_as_right(self, choices, state: State, as_right: Sequence[Target]) -> bool:
        if relative_error(state, as_right) > min(FAR, 1e5 * self.roundoff):
            return False
        roundoff = implied_roundoff(self.problem, choices, state, as_right)
        return roundoff <= self.roundoff * allowance(self.problem, self.roundoff)

    def two_faults(self, visible: Sequence[Choice], progress: Progress | None = None) -> list[Candidate]:
        """Try every pair of visible faults, first roughly in float32, then the near ones exactly."""
        rough = as_float32(self.problem)
        targets = [Target(target.name, target.array.astype(np.float32)) for target in self.targets]
        chosen = {stage: [c for c in visible if c.stage == stage] for stage in STAGES}
        chosen["dead"] = faulty_choices(self.problem)["dead"]
        near = max(min(FAR, 1e5 * self.roundoff), 1e-3)
        pairs = []
        for count, (choices, state) in enumerate(walk(rough, chosen, 2)):
            if progress and count % 200 == 0:
                progress(min(count / max(len(visible) ** 2 / 2, 1), 1.0), "pairs of faults")
            if relative_error(state, targets) <= near and sum(not c.free for c in choices) == 2:
                pairs.append(choices)
        found = [self.assess(choices, near=near) for choices in pairs]
        return [candidate for candidate in found if candidate and self.accepts(candidate)]

    def ties(self, candidates: Sequence[Candidate], fewest_only: bool = True) -> list[Candidate]:
        """The accepted candidates that explain the file as well as the best, fewest faults first."""
        accepted = [c for c in candidates if c.faults and self.accepts(c)]
        if not accepted:
            return []
        if fewest_only:
            fewest = min(len(c.faults) for c in accepted)
            accepted = [c for c in accepted if len(c.faults) == fewest]
        best = min(c.roundoff for c in accepted)
        limit = max(2.0 * best, 0.3 * self.roundoff, 64 * ROUNDOFF["float64"])
        tied = [c for c in accepted if c.roundoff <= limit]
        return sorted(tied, key=lambda candidate: candidate.roundoff)


def as_float32(problem: Problem) -> Problem:
    """The same problem with single-precision arrays, for a rough and quick look."""

    def short(array):
        return array.astype(np.float32) if isinstance(array, np.ndarray) and array.dtype.kind == "f" else array

    arrays = {name: short(getattr(problem, name)) for name in ("q", "k", "v", "x", "bias")}
    return replace(problem, **arrays, projections={n: short(a) for n, a in problem.projections.items()})
