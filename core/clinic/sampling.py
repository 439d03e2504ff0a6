"""A part of large input that the search can afford, and a sentence that says which."""

from collections.abc import Callable
from dataclasses import replace

from core.clinic.precision import Target
from core.clinic.readings import Reading
from core.faults.problem import Problem

MAX_SCORES = 1 << 20  # B · h · n_q · n_k


def sampled(problem: Problem) -> tuple[Callable[[Reading], Reading], str]:
    """A function that cuts any reading of this input down, and what it leaves, in words."""
    per_entry = problem.n_heads * problem.n_q * problem.n_k
    keep = max(1, MAX_SCORES // per_entry)
    if problem.batch <= keep:
        return (lambda reading: reading), ""
    entries = list(range(keep))

    def cut(reading: Reading) -> Reading:
        targets = tuple(Target(t.name, t.array[entries]) for t in reading.targets)
        return replace(reading, problem=reading.problem.batch_entries(entries), targets=targets)

    return cut, f"Large input: only the first {keep} of {problem.batch} batch entries were examined."
