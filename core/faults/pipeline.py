"""Attention as a chain of small choices: the right one at every stage, or a faulty one.

A fault is one wrong choice at one stage; two faults are two of them. Whatever is chosen, the
same chain runs, so that a single fault, a pair and the right computation are one mechanism.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from core.faults.problem import Problem

#: The stages in the order in which they run.
STAGES = (
    "project", "split", "position", "group", "axes", "score", "scale", "bias",
    "causal", "padding", "combine", "fill", "softmax", "dead", "weights", "blend", "merge", "output",
)  # fmt: skip

State = SimpleNamespace
"""What is known so far: q, k, v, scores, scaled, allowed, masked, weights, heads_out, output ..."""

Updates = dict[str, Any]


def always(_problem: Problem) -> bool:
    """No problem is left out."""
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One way to do one stage."""

    stage: str
    compute: Callable[[Problem, State], Updates]
    label: str | None = None  # the fault that it is; None for the right way and for free conventions
    variant: str = ""  # which of several ways to make the same mistake
    when: Callable[[Problem], bool] = always  # whether it can differ from the right way
    free: bool = False  # another convention, not a fault
    mixes: str = ""  # "heads" or "batch": what a part of the problem must keep whole for this choice
    rare: bool = False  # beside the common mistakes: paired with common faults only
    number: float | None = None  # what was fitted or added, if that is one number

    @property
    def name(self) -> str:
        """The label and the variant, for a progress line or a test."""
        return f"{self.label or 'convention'} ({self.variant})" if self.variant else str(self.label)


RIGHT: dict[str, Choice] = {}
FAULTY: dict[str, list[Choice]] = {stage: [] for stage in STAGES}
CONVENTIONS: dict[str, list[Choice]] = {stage: [] for stage in STAGES}


def right(stage: str) -> Callable:
    """Decorator: this function is the right way to do the stage."""

    def register(compute: Callable) -> Callable:
        RIGHT[stage] = Choice(stage, compute)
        return compute

    return register


def faulty(
    stage: str,
    label: str,
    variant: str = "",
    when: Callable[[Problem], bool] = always,
    mixes: str = "",
    rare: bool = False,
    number: float | None = None,
) -> Callable:
    """Decorator: this function is a wrong way to do the stage, known as `label`."""

    def register(compute: Callable) -> Callable:
        FAULTY[stage].append(Choice(stage, compute, label, variant, when, False, mixes, rare, number))
        return compute

    return register


def convention(stage: str, variant: str, when: Callable[[Problem], bool] = always) -> Callable:
    """Decorator: this function is another way to do the stage that is not wrong."""

    def register(compute: Callable) -> Callable:
        CONVENTIONS[stage].append(Choice(stage, compute, None, variant, when, free=True))
        return compute

    return register


def start(problem: Problem) -> State:
    """The state before the first stage."""
    return State(q=problem.q, k=problem.k, v=problem.v, d_k=problem.d_k, mask_fits=True)


def advance(
    problem: Problem, state: State, choice: Choice, jitter: "Jitter | Rounding | None" = None
) -> State:
    """The state after one more stage. Filling a mask rounds nothing, so it gets no jitter."""
    updates = choice.compute(problem, state)
    if jitter and choice.stage in jitter.stages:
        updates = {name: value if name == "masked" else jitter(value) for name, value in updates.items()}
    return State(**{**state.__dict__, **updates})


def run(problem: Problem, choices: Iterable[Choice] = (), jitter: "Jitter | Rounding | None" = None) -> State:
    """Run every stage, right except for `choices` (at most one a stage) -> the final state."""
    chosen = {choice.stage: choice for choice in choices}
    state = start(problem)
    with np.errstate(all="ignore"):  # faulty arithmetic overflows and divides by zero: that is its result
        for stage in STAGES:
            state = advance(problem, state, chosen.get(stage, RIGHT[stage]), jitter)
    return state


class Rounding:
    """Some stages kept in a shorter number format, as half precision or a GPU's TF32 does."""

    def __init__(self, to_format: Callable[[np.ndarray], np.ndarray], stages: Iterable[str]) -> None:
        """`to_format` rounds an array; every array that these stages make passes through it."""
        self.to_format = to_format
        self.stages = frozenset(stages)

    def __call__(self, value: object) -> object:
        """The value rounded, if it is an array of real numbers."""
        is_real = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        return self.to_format(value) if is_real else value


class Jitter:
    """Relative noise of one rounding on every array that a stage makes.

    The difference to the exact run is what rounding at `size` may do to the output.
    """

    stages = frozenset(STAGES)

    def __init__(self, size: float, seed: int = 0) -> None:
        """Noise of relative `size`."""
        self.size = size
        self.random = np.random.default_rng(seed)

    def __call__(self, value: object) -> object:
        """The value with noise, if it is an array of real numbers."""
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        return value * (1 + self.size * self.random.uniform(-1, 1, value.shape))


def walk(
    problem: Problem, choices: dict[str, list[Choice]], max_faults: int, given: Choice | None = None
) -> Iterator[tuple[tuple[Choice, ...], State]]:
    """Every combination of at most `max_faults` of `choices`, with its final state.

    Depth first, so that combinations share the stages before their first difference. `given` is
    made in every one of them and not counted. Free choices (conventions) cost nothing; those of
    the stage `dead` are tried only where a row has nothing allowed.
    """
    with np.errstate(all="ignore"):
        yield from _walk(problem, choices, max_faults, given, 0, start(problem), ())


def _walk(
    problem: Problem,
    choices: dict[str, list[Choice]],
    budget: int,
    given: Choice | None,
    depth: int,
    state: State,
    chosen: tuple[Choice, ...],
) -> Iterator[tuple[tuple[Choice, ...], State]]:
    if depth == len(STAGES):
        yield chosen, state
        return
    stage = STAGES[depth]
    is_given = given is not None and given.stage == stage
    options = (given,) if is_given else (RIGHT[stage], *choices.get(stage, ()))
    for choice in options:
        free = is_given or choice.free or choice.label is None
        if (not free and not budget) or (stage == "dead" and choice.free and not state.dead.any()):
            continue
        made = chosen if choice is RIGHT[stage] else (*chosen, choice)
        try:
            after = advance(problem, state, choice)
            yield from _walk(problem, choices, budget - (not free), given, depth + 1, after, made)
        except ValueError:
            if not made:
                raise  # the right way itself does not fit these shapes
            continue  # code with these faults would have raised an error: it did not make this output


def faulty_choices(problem: Problem) -> dict[str, list[Choice]]:
    """The faults and conventions that can make a difference to this problem, by stage."""
    return {
        stage: [choice for choice in (*FAULTY[stage], *CONVENTIONS[stage]) if choice.when(problem)]
        for stage in STAGES
    }
