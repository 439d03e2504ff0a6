"""What a file cannot show, because a fault would give the same numbers, and why."""

from collections.abc import Sequence

import numpy as np

from core.clinic.readings import Reading
from core.faults.choices_mask import triangle
from core.faults.pipeline import Choice, State, run
from core.faults.problem import Problem

#: faults met often enough that an output is not called correct while one of them cannot show
HEADLINES = {
    "score.qk_swapped", "score.rope_missing", "score.alibi_sign", "score.alibi_missing",
    "scale.missing", "scale.by_d_k", "scale.by_sqrt_d_model", "scale.by_sqrt_seq", "scale.by_sqrt_heads",
    "mask.missing_causal", "mask.missing_padding", "mask.missing", "mask.inverted",
    "softmax.axis_query", "blend.weights_transposed", "blend.k_used_as_v", "blend.returns_v",
    "heads.split_without_transpose", "heads.merge_without_transpose", "heads.attends_over_heads",
    "heads.gqa_tiled", "heads.batch_first", "projection.wo_missing",
}  # fmt: skip
MAIN_VARIANTS = ("", "keys", "queries")


AFTER_WEIGHTS = ("blend", "merge", "output")


def hidden_headlines(reading: Reading, invisible: Sequence[Choice]) -> list[Choice]:
    """The common faults that could not show; with weights alone nothing is asked of the steps after them."""
    beyond = () if _has_output(reading) else AFTER_WEIGHTS
    said_twice = {"mask.missing_causal"} if _mask_holds_triangle(reading.problem) else set()
    return [
        c
        for c in invisible
        if c.label in HEADLINES - said_twice and c.variant in MAIN_VARIANTS and c.stage not in beyond
    ]


def _mask_holds_triangle(problem: Problem) -> bool:
    """Whether the explicit mask hides all that the triangle hides: code that applies it needs no other."""
    if not problem.causal or problem.allowed is None:
        return False
    return bool((problem.allowed <= triangle(problem)).all())


def _has_output(reading: Reading) -> bool:
    return any(target.name == "output" for target in reading.targets)


def reasons(reading: Reading, invisible: Sequence[Choice], state: State | None = None) -> list[str]:
    """One sentence for each reason, with the steps and the faults that it hides."""
    state = run(reading.problem) if state is None else state
    grouped: dict[str, list[Choice]] = {}
    for choice in invisible:
        unseen = choice.stage in AFTER_WEIGHTS and not _has_output(reading)
        why = "the file has weights but no output" if unseen else reason(reading.problem, state, choice)
        grouped.setdefault(why, []).append(choice)
    return [_sentence(why, choices) for why, choices in grouped.items()]


def _sentence(why: str, choices: Sequence[Choice]) -> str:
    steps = ", ".join(dict.fromkeys(str(c.label).split(".")[0] for c in choices))
    labels = ", ".join(dict.fromkeys(str(c.label) for c in choices))
    return f"{steps}: {why} ({labels})"


def reason(problem: Problem, state: State, choice: Choice) -> str:
    """Why this fault gives the same numbers here."""
    step, label = choice.stage, str(choice.label)
    before_blend = step in (
        "position",
        "score",
        "scale",
        "bias",
        "causal",
        "padding",
        "combine",
        "fill",
        "softmax",
    )
    if before_blend and problem.n_k == 1:
        return "there is one key, and its weight is 1 whatever the score"
    if before_blend and "weights" not in label and _constant(state.v):
        return "all value rows are equal, so any weights that sum to 1 give the same output"
    if step in ("position", "score", "scale", "softmax") and _constant(state.scores.swapaxes(-1, -2)):
        return "every key has the same score, so the weights are uniform whatever the scale"
    return _reason_of_step(problem, state, step, label)


def _reason_of_step(problem: Problem, state: State, step: str, label: str) -> str:
    if step == "scale":
        return _scale_reason(problem, label)
    if step == "score" and np.array_equal(state.q, state.k):
        return "q and k hold the same numbers"
    if label in ("blend.k_used_as_v", "score.v_used_as_k") and np.array_equal(state.k, state.v):
        return "k and v hold the same numbers"
    if step in ("causal", "padding", "combine", "fill") and (state.allowed is None or state.allowed.all()):
        return "the mask hides nothing from these queries"
    return "it would change no number by more than rounding does"


def _scale_reason(problem: Problem, label: str) -> str:
    if problem.d_k == 1:
        return "d_k is 1, so dividing by sqrt(d_k) changes nothing"
    sizes = {
        "scale.by_sqrt_seq": "T",
        "scale.by_sqrt_heads": "the number of heads",
        "scale.by_sqrt_batch": "the batch size",
    }
    if label in sizes and problem.d_k in (problem.n_q, problem.n_k, problem.n_heads, problem.batch):
        return f"{sizes[label]} equals d_k = {problem.d_k}"
    return "another factor would change no number by more than rounding does"


def _constant(rows: np.ndarray) -> bool:
    """Whether all rows (last axis but one) are equal up to rounding."""
    spread = np.ptp(rows, axis=-2).max(initial=0.0)
    return bool(spread <= 1e-12 * max(1.0, float(np.abs(rows).max(initial=0.0))))
