"""A fault on a live example: what a faulty implementation gives, step by step, beside the right one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.faults.catalogue import FAULTS, Fault
from core.faults.pipeline import FAULTY, STAGES, Choice, State, run
from core.faults.problem import Problem, problem_of


@dataclass(frozen=True, slots=True, eq=False)
class FaultySteps:
    """Every tensor of one faulty attention, named as in AttentionSteps, without extra leading axes."""

    scores: np.ndarray
    scaled_scores: np.ndarray
    masked_scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray


def choices_of(label: str, problem: Problem) -> list[Choice]:
    """The ways to make this fault that can differ from the right way on this problem."""
    return [c for stage in STAGES for c in FAULTY[stage] if c.label == label and c.when(problem)]


def faults_for(problem: Problem) -> list[Fault]:
    """The faults that can be made on this problem, in the catalogue's order."""
    possible = {c.label for stage in STAGES for c in FAULTY[stage] if c.when(problem)}
    return [fault for fault in FAULTS if fault.label in possible]


def faulty_attention(
    label: str | None,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    allowed: np.ndarray | None = None,
    *,
    causal: bool = False,
    key_keep: np.ndarray | None = None,
    variant: int = 0,
    **settings: Any,
) -> FaultySteps:
    """q (..., n_q, d_k), k (..., n_k, d_k), v (..., n_k, d_v) -> all steps with the fault `label` made.

    Up to two leading axes, (h, T, d) or (B, h, T, d). `label` None gives the right computation.
    Give causal=True or key_keep rather than a ready mask where a causal or a padding fault is
    meant. Raises KeyError if the fault cannot be made on this input.
    """
    problem = problem_of(q, k, v, allowed, causal=causal, key_keep=key_keep, **settings)
    if label is None:
        return steps_of(run(problem), np.ndim(q))
    choices = choices_of(label, problem)
    if not choices:
        raise KeyError(f"{label} cannot be made on this input (q {q.shape}, k {k.shape})")
    return steps_of(run(problem, [choices[variant]]), np.ndim(q))


def steps_of(state: State, rank: int) -> FaultySteps:
    """The named tensors of a final state, with as many axes as the input had."""

    def like_input(array: np.ndarray) -> np.ndarray:
        return array.reshape(array.shape[max(0, array.ndim - rank) :]) if rank < array.ndim else array

    tensors = (state.scores, state.scaled, state.masked, state.weights, state.output)
    return FaultySteps(*(like_input(np.asarray(tensor)) for tensor in tensors))
