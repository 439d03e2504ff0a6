"""One fault on the reader's own example: the right tensors, the broken ones, and what moved."""

import random
from dataclasses import dataclass, replace

import numpy as np

from core.faults.catalogue import Fault, fault_named
from core.faults.live import FaultySteps, choices_of
from core.faults.pipeline import FAULTY, Choice, State, run
from core.faults.problem import Problem
from core.heads import merge_heads, split_heads
from core.leak import with_other_word
from core.masks import causal
from core.offered import GIVEN
from core.real import MODEL
from core.setup import Inputs, Setup, allowed, inputs, key_is_real
from core.tiny_model import N_HEADS as MODEL_HEADS

#: the faults to choose from, by step; the two best known come first
SHOWN = (
    "scale.missing",
    "mask.missing_causal",
    "scale.by_d_k",
    "scale.multiplied",
    "scale.by_sqrt_d_model",
    "scale.by_sqrt_seq",
    "scale.after_softmax",
    "mask.missing_padding",
    "mask.filled_with_zero",
    "mask.filled_with_small_negative",
    "mask.after_softmax",
    "mask.peeks_one_ahead",
    "mask.strict_lower",
    "mask.inverted",
    "softmax.axis_query",
    "softmax.missing",
    "softmax.hard",
    "softmax.not_normalised",
    "softmax.twice",
    "score.qk_swapped",
    "score.k_not_transposed",
    "score.same_tensor_twice",
    "blend.weights_transposed",
    "blend.k_used_as_v",
    "blend.mean_of_v",
    "heads.split_without_transpose",
    "heads.merge_without_transpose",
)
STEPS = ("score", "scale", "mask", "softmax", "blend", "heads")
VISIBLE = 1e-3  # a hidden fault must move a number by more than this


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """The same inputs through the right and through the faulty computation; h heads side by side."""

    setup: Setup
    fault: Fault
    right: FaultySteps  # weights (h, n_q, n_k), output (h, n_q, d_v)
    wrong: FaultySteps  # the output's width may differ: the keys, blended, are as wide as the keys
    allowed: np.ndarray | None  # (n_q, n_k), what the mask is meant to allow
    moved: np.ndarray  # (h, n_q), how far each wrong output row moves if the last word is replaced


def setup_for(setup: Setup, label: str | None) -> Setup:
    """The reader's setup with what this fault needs to show: a causal mask, or more than one head."""
    if setup.mask == "none":
        setup = replace(setup, mask="causal")
    if setup.n_heads > 1 or label not in NEEDS_HEADS:
        return setup
    if setup.is_real:
        return replace(setup, n_heads=MODEL_HEADS) if setup.example == MODEL else setup
    return replace(setup, n_heads=2)


NEEDS_HEADS = {"heads.split_without_transpose", "heads.merge_without_transpose", "scale.by_sqrt_d_model"}


def broken(setup: Setup, label: str) -> Broken:
    """The fault `label` on `setup_for(setup, label)`; ValueError, in a sentence, where it cannot be made."""
    setup = setup_for(setup, label)
    given = inputs(setup)
    problem = _problem(setup, given)
    choice = _choice(label, problem)
    wrong = _steps(problem, [choice])
    last = given.k.shape[1] - 1
    q, k, v = with_other_word(given, setup.seed, last)
    after = _steps(_problem(setup, replace(given, q=q, k=k, v=v)), [choice])
    with np.errstate(invalid="ignore"):
        moved = np.abs(after.output - wrong.output).max(-1)
    return Broken(setup, fault_named(label), _steps(problem), wrong, allowed(setup), moved)


def hidden_fault(setup: Setup, seed: int) -> str:
    """The label of the fault that mystery number `seed` hides: one that shows on this example.

    Raises ValueError, in a sentence, where no fault does.
    """
    labels = [label for label in SHOWN if _shows(setup, label)]
    if not labels:
        raise ValueError("no fault changes a number on this example: choose another one for a mystery.")
    return random.Random(seed).choice(labels)


def _shows(setup: Setup, label: str) -> bool:
    """Whether a reader could see it: made with the reader's own heads, and a number moves."""
    if setup_for(setup, label).n_heads != setup.n_heads:
        return False
    try:
        made = broken(setup, label)
    except ValueError:
        return False
    if made.right.output.shape != made.wrong.output.shape:
        return True
    return not np.allclose(made.right.output, made.wrong.output, atol=VISIBLE, rtol=0)


def _problem(setup: Setup, given: Inputs) -> Problem:
    """The reader's example as a problem: causal and padding apart, since they go wrong apart."""
    hidden = allowed(setup)
    is_causal = hidden is not None and np.array_equal(hidden, causal(*hidden.shape))
    named = setup.mask not in (GIVEN, "window")
    keep = key_is_real(setup)[None] if "padding" in setup.mask else None
    n_heads = len(given.q)
    arrays = (given.q, given.k, given.v)
    q, k, v = (merge_heads(a)[None] if n_heads > 1 else a[None] for a in arrays)
    return Problem(
        q, k, v, n_heads=n_heads, n_kv_heads=n_heads, flat=n_heads > 1, merged=n_heads > 1,
        causal=is_causal or "causal" in setup.mask, key_keep=keep,
        allowed=None if named or is_causal else hidden,
    )  # fmt: skip


def _choice(label: str, problem: Problem) -> Choice:
    choices = choices_of(label, problem)
    if label == "blend.k_used_as_v":  # it runs with any width: the shape of the output then tells
        choices = [choice for choice in FAULTY["blend"] if choice.label == label]
    if choices:
        return choices[0]
    step = label.split(".")[0]
    if label in NEEDS_HEADS:
        why = "it needs more than one head, and this example shows a single one"
    elif not problem.square and step != "mask":
        why = f"it needs as many queries as keys, but there are {problem.n_q} and {problem.n_k}"
    elif label == "score.k_not_transposed":
        why = (
            f"with {problem.n_k} keys and d_k = {problem.d_k}, `q @ k` stops with a shape error. "
            f"It runs, and is silently wrong, where T = d_k"
        )
    else:
        why = "its mask is not in use here: choose another mask"
    raise ValueError(f"{label} cannot be made on this example: {why}.")


def _steps(problem: Problem, choices: list[Choice] | None = None) -> FaultySteps:
    """The final state with one leading axis, the heads."""
    state: State = run(problem, choices or [])
    shape = (problem.n_heads, problem.n_q, problem.n_k)
    output = split_heads(state.output, problem.n_heads)[0] if problem.merged else state.output[0]
    grids = (state.scores, state.scaled, state.masked, state.weights)
    return FaultySteps(*(np.broadcast_to(grid[0], shape) for grid in grids), output)
