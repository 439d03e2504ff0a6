"""Look for the computation that made an output: the right one, one fault, two faults."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.clinic.precision import (
    ROUNDOFF,
    Target,
    allowance,
    implied_roundoff,
    largest_error,
    relative_error,
)
from core.clinic.sampling import ROUGH_SCORES, Part, one_entry, part_of
from core.faults.catalogue import fault_named
from core.faults.pipeline import STAGES, Choice, State, faulty_choices, run, walk
from core.faults.problem import Problem

MANY_SCORES = 1 << 16  # on more than these, only pairs of faults that people report are tried
FAR = 0.3  # a relative error above this is no rounding of any number format
Progress = Callable[[float, str], None]
Choices = dict[str, list[Choice]]  # by stage


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One computation and how well it reproduces the file."""

    choices: tuple[Choice, ...]
    roundoff: float  # the unit roundoff its residuals imply
    max_error: float
    dead_rows: str  # what rows with nothing allowed hold: "", "NaN", "0", "mean", "unmasked"

    @property
    def faults(self) -> tuple[Choice, ...]:
        """The choices that are faults, without the conventions."""
        return tuple(choice for choice in self.choices if not choice.free)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its faults."""
        return tuple(str(choice.label) for choice in self.faults)

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions that it assumes, in words."""
        return tuple(choice.variant for choice in self.choices if choice.free)


FAR_OFF = Candidate((), np.inf, np.inf, "")  # stands for a computation that is far from the file


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """What a search with at most one fault found."""

    candidates: list[Candidate]  # the right way and each fault that comes near
    invisible: list[Choice]  # faults that would change nothing on this data
    visible: list[Choice]


class Search:
    """The search of one reading of the file."""

    def __init__(self, problem: Problem, targets: Sequence[Target], roundoff: float) -> None:
        """`roundoff` is the coarsest arithmetic that the file's numbers suggest."""
        self.problem = problem
        self.targets = tuple(targets)
        self.exact = Part(problem, self.targets)
        self.small = part_of(problem, targets, ROUGH_SCORES)
        is_small = self.small.whole
        self.rough = self.exact if is_small else _in_single_precision(self.small)
        self.single = self.exact if is_small else _in_single_precision(self.exact)
        self.roundoff = roundoff

    def assess(
        self, choices: Iterable[Choice], state: State | None = None, near: float = FAR
    ) -> Candidate | None:
        """The candidate of these choices; None if it is far from the file."""
        choices = tuple(choices)
        state = run(self.problem, choices) if state is None else state
        if relative_error(state, self.targets) > near:
            return None
        roundoff = implied_roundoff(self.problem, choices, state, self.targets, self.limit)
        error = largest_error(state, self.targets)
        return Candidate(choices, roundoff, error, state.dead_rows)

    @property
    def limit(self) -> float:
        """The largest implied roundoff that honest arithmetic may show."""
        return self.roundoff * allowance(self.problem, self.roundoff)

    @property
    def exactly(self) -> float:
        """An implied roundoff up to which nothing is left to explain: smaller ones differ by chance."""
        return max(0.3 * self.roundoff, 64 * ROUNDOFF["float64"])

    def accepts(self, candidate: Candidate) -> bool:
        """Whether rounding explains what is left."""
        return candidate.roundoff <= self.limit

    def right(self) -> Candidate:
        """The right computation in whichever convention fits best."""
        only_conventions = {
            stage: [choice for choice in choices if choice.free]
            for stage, choices in faulty_choices(self.problem).items()
        }
        states = walk(self.problem, only_conventions, 0)
        found = [self.assess(choices, state) for choices, state in states]
        return min(filter(None, found), key=lambda candidate: candidate.roundoff, default=FAR_OFF)

    def one_fault(self) -> Examination:
        """Try every single fault; note too which of them could not show on this data."""
        choices = faulty_choices(self.problem)
        right_state = run(self.problem)
        as_right = [Target(target.name, getattr(right_state, target.name)) for target in self.targets]
        candidates = [self.assess((), right_state)]
        invisible, visible = [], []
        for combination, near_file, near_right in self._screened(choices):
            if near_file:
                candidates.append(self.assess(combination, near=self.near))
            if len(combination) == 1 and not combination[0].free:
                hides = near_right and self._same_as_right(combination, as_right)
                (invisible if hides else visible).extend(combination)
        return Examination([c for c in candidates if c], invisible, visible)

    @property
    def large(self) -> bool:
        """Whether even the part that is looked at first is too large to try every pair on it."""
        problem = self.rough.problem
        return problem.batch * problem.n_heads * problem.n_q * problem.n_k > MANY_SCORES

    @property
    def near(self) -> float:
        """The relative error above which rounding cannot be the reason."""
        return max(min(FAR, 1e5 * self.roundoff), 1e-3)

    def _screened(self, choices: Choices) -> Iterator[tuple[tuple[Choice, ...], bool, bool]]:
        """Every single fault, and whether it comes near the file and near the right way.

        Faults that mix neither heads nor batch entries are judged on a small part first.
        """
        local, mixing = self._separated(choices)
        for part, some in ((self.rough, local), (self.exact, mixing)):
            states = walk(part.problem, some, 1)
            right_state = next(states)[1]
            as_right = [Target(t.name, getattr(right_state, t.name)) for t in part.targets]
            for combination, state in states:
                if combination:
                    near_file = relative_error(state, part.targets) <= self.near
                    yield combination, near_file, relative_error(state, as_right) <= self.near

    def _separated(self, choices: Choices) -> tuple[Choices, Choices]:
        """The choices that a part of the problem can judge, and those that need all of it."""
        if self.rough is self.exact:
            return choices, {}
        local = {stage: [c for c in some if not c.mixes] for stage, some in choices.items()}
        mixing = {stage: [c for c in some if c.mixes] for stage, some in choices.items()}
        mixing["dead"] = choices.get("dead", [])
        return local, mixing

    def _same_as_right(self, choices: tuple[Choice, ...], as_right: Sequence[Target]) -> bool:
        state = run(self.problem, choices)
        if relative_error(state, as_right) > self.near:
            return False
        roundoff = implied_roundoff(self.problem, choices, state, as_right, self.limit)
        return roundoff <= self.limit

    def two_faults(self, visible: Sequence[Choice], progress: Progress) -> list[Candidate]:
        """Try every pair of visible faults roughly, then the near ones exactly."""
        dead = faulty_choices(self.problem)["dead"]
        often = [c for c in visible if not c.rare and fault_named(str(c.label)).stories]
        reported = _by_stage(often, dead)
        common = reported if self.large else _by_stage([c for c in visible if not c.rare], dead)
        local, mixing = self._separated(common)
        near = self._near_pairs(self.rough, local, 2, None, progress)
        for given in (c for some in mixing.values() for c in some if not c.free):
            near += self._pairs_with(given, common, progress)
        for given in (c for c in visible if c.rare and not self.large):
            near += self._pairs_with(given, reported, progress)
        found = [self.assess(pair, near=self.near) for pair in dict.fromkeys(near)]
        right_state = run(self.problem)
        as_right = [Target(target.name, getattr(right_state, target.name)) for target in self.targets]
        return [c for c in found if c and self.accepts(c) and not self._same_as_right(c.choices, as_right)]

    def _pairs_with(self, given: Choice, others: Choices, progress: Progress) -> list[tuple[Choice, ...]]:
        """The near pairs of `given` and one of `others`, on a part that keeps whole what they mix."""
        if given.mixes == "batch":
            return self._near_pairs(self.single, others, 1, given, progress)
        if given.mixes == "heads":
            return self._near_pairs(one_entry(self.single), _without(("batch",), others), 1, given, progress)
        if self.rough is self.exact:
            return self._near_pairs(self.rough, others, 1, given, progress)
        return self._near_pairs(self.rough, _without(("batch", "heads"), others), 1, given, progress)

    def _near_pairs(
        self, part: Part, choices: Choices, max_faults: int, given: Choice | None, progress: Progress
    ) -> list[tuple[Choice, ...]]:
        """The pairs whose output comes near the file."""
        pairs = []
        what = f"pairs with {given.name}" if given else "pairs of faults"
        total = max(sum(map(len, choices.values())) ** max_faults / max_faults, 1)
        for count, (combination, state) in enumerate(walk(part.problem, choices, max_faults, given)):
            if count % 256 == 0:
                progress(min(count / total, 1.0), what)
            if relative_error(state, part.targets) <= self.near and sum(not c.free for c in combination) == 2:
                pairs.append(combination)
        return pairs

    def ties(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The accepted candidates that fit as well as the best: least assumed first, then the commonest."""
        accepted = [c for c in candidates if c.faults and self.accepts(c)]
        if not accepted:
            return []
        best = min(c.roundoff for c in accepted)
        tied = [c for c in accepted if c.roundoff <= max(2.0 * best, self.exactly)]
        return sorted(tied, key=lambda c: (len(c.conventions), -reports(c), c.roundoff))


def reports(candidate: Candidate) -> int:
    """How many public reports of these faults the catalogue knows: the commoner of equals is told first."""
    return sum(len(fault_named(label).stories) for label in candidate.labels)


def _by_stage(choices: Sequence[Choice], dead: list[Choice]) -> Choices:
    return {stage: [c for c in choices if c.stage == stage] for stage in STAGES} | {"dead": dead}


def _without(mixes: Sequence[str], choices: Choices) -> Choices:
    return {stage: [c for c in some if c.mixes not in mixes] for stage, some in choices.items()}


def _in_single_precision(part: Part) -> Part:
    targets = tuple(Target(target.name, target.array.astype(np.float32)) for target in part.targets)
    return Part(as_float32(part.problem), targets, part.whole)


def as_float32(problem: Problem) -> Problem:
    """The same problem with single-precision arrays, for a rough and quick look."""

    def short(array: Any) -> Any:
        return (
            array.astype(np.float32) if isinstance(array, np.ndarray) and array.dtype.kind == "f" else array
        )

    arrays = {name: short(getattr(problem, name)) for name in ("q", "k", "v", "x", "bias")}
    return replace(problem, **arrays, projections={n: short(a) for n, a in problem.projections.items()})
