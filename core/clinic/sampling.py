"""Parts of an input: what the search can afford to look at, and a sentence that says which."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.clinic.precision import Target
from core.faults.problem import Problem
from core.files import InputError

MAX_SCORES = 1 << 21  # B · h · n_q · n_k of what is examined at all
MOST_SCORES = 1 << 22  # ... of the least that must be looked at: one entry and one group of heads
ROUGH_SCORES = 1 << 12  # ... of what faults are tried on first


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A problem, or some batch entries and heads of one, with the arrays it has to reproduce."""

    problem: Problem
    targets: tuple[Target, ...]
    whole: bool = True  # nothing was left out
    sentence: str = ""  # what was left out


def part_of(problem: Problem, targets: Sequence[Target], max_scores: int) -> Part:
    """Fewer batch entries, then fewer heads, until there are at most `max_scores` scores.

    One entry and one group of heads are kept whatever their size. Heads can be left out only
    while they are apart, before anything joins them.
    """
    targets = tuple(targets)
    _check_size(problem)
    one_entry = problem.n_heads * problem.n_q * problem.n_k
    n_entries = min(problem.batch, max(1, max_scores // one_entry))
    groups = problem.n_kv_heads
    if not (problem.flat or problem.merged or problem.x is not None):
        groups = min(groups, max(1, problem.n_kv_heads * max_scores // (one_entry * n_entries)))
    if n_entries == problem.batch and groups == problem.n_kv_heads:
        return Part(problem, targets)
    entries = most_masked(problem, n_entries)
    small = problem.batch_entries(entries)
    small = small.first_groups(groups) if groups < problem.n_kv_heads else small
    cut = tuple(
        Target(
            t.name, t.array[entries][:, : small.n_heads] if groups < problem.n_kv_heads else t.array[entries]
        )
        for t in targets
    )
    sentence = (
        f"Large input: {n_entries} of {problem.batch} batch entries and {small.n_heads} of "
        f"{problem.n_heads} heads "
        "were examined; faults that mix the entries or heads left out were not tried."
    )
    return Part(small, cut, False, sentence)


def _check_size(problem: Problem) -> None:
    joined = problem.flat or problem.merged or problem.x is not None
    least = problem.n_q * problem.n_k * problem.n_heads // (1 if joined else problem.n_kv_heads)
    if least > MOST_SCORES:
        raise InputError(
            "too_large",
            f"{problem.n_q} queries and {problem.n_k} keys give {least:,} scores that cannot be looked at "
            f"apart, the limit is {MOST_SCORES:,}: hand in a shorter piece",
        )


def one_entry(part: Part) -> Part:
    """All heads of the most masked batch entry."""
    if part.problem.batch == 1:
        return part
    entries = most_masked(part.problem, 1)
    targets = tuple(Target(t.name, t.array[entries]) for t in part.targets)
    return Part(part.problem.batch_entries(entries), targets, False)


def most_masked(problem: Problem, n_entries: int) -> list[int]:
    """The batch entries with the most padding, in their order: a mask's faults show there."""
    if problem.key_keep is None:
        return list(range(n_entries))
    real = np.count_nonzero(problem.key_keep, axis=1).astype(float)
    real[real == 0] = np.inf  # an entry with nothing but padding shows nothing
    return sorted(int(i) for i in np.argsort(real, kind="stable")[:n_entries])
