"""Numbers of the lesson by name, for prose: a text names them in braces, so that none can go stale."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from core import masks
from core.arithmetic import score_cell
from core.attention import softmax
from core.examples import EXAMPLES
from core.experiments.prose import fixed
from core.numbers import number
from core.quiz import item
from core.setup import Setup, inputs, run

KITE = Setup()
COREF = Setup("coref", seq_len=EXAMPLES["coref"].seq_len)


@lru_cache(maxsize=1)
def facts() -> dict[str, str]:
    """name -> the number as it is printed. All are of the kite's own cell unless the name says otherwise."""
    return _chain() | _contrasts() | _of_the_mask() | _of_the_heads() | _of_the_cup()


def fill(text: str) -> str:
    """Markdown with {names} -> the same with their numbers. Raises KeyError for an unknown name."""
    return text.format_map(facts())


def _chain() -> dict[str, str]:
    """The trace of one cell, and the sizes."""
    names, steps, row, col = inputs(KITE), run(KITE).heads.head(0), *_cell(KITE)
    return {
        "query": f"“{names.query_tokens[row]}”",
        "key": f"“{names.key_tokens[col]}”",
        "channel": f"“{names.value_channels[0]}”",
        "products": score_cell(steps, row, col, names).lines[0],
        "score": number(steps.scores[row, col]),
        "score_back": number(steps.scores[col, row]),
        "scaled": number(steps.scaled_scores[row, col]),
        "weight": fixed(steps.weights[row, col], 3),
        "output": fixed(steps.output[row, 0]),
        "largest_value": number(steps.v[:, 0].max()),
        "smallest_weight": fixed(steps.weights.min(), 4),
        "T": str(KITE.seq_len),
        "d_k": str(KITE.d_k),
        "d_v": str(steps.v.shape[-1]),
        "root": number(np.sqrt(KITE.d_k)),
    }


def _contrasts() -> dict[str, str]:
    """What the same cell gets when something is done differently."""
    steps, row, col = run(KITE).heads.head(0), *_cell(KITE)
    columns = steps.weights.sum(-2)
    return {
        "weight_unscaled": fixed(softmax(steps.scores)[row, col], 3),
        "weight_by_d_k": fixed(softmax(steps.scores / KITE.d_k)[row, col], 3),
        "popular_key": f"“{inputs(KITE).key_tokens[int(columns.argmax())]}”",
        "popular_sum": fixed(columns.max()),
        "equal_share": fixed(1 / KITE.seq_len, 3),
    }


def _of_the_mask() -> dict[str, str]:
    """With the causal mask, and with zeros in its place."""
    names, steps = inputs(KITE), run(KITE).heads.head(0)
    masked = run(replace(KITE, mask="causal")).heads.head(0)
    zeros = softmax(np.where(masks.causal(KITE.seq_len), steps.scaled_scores, 0.0))
    return {
        "first": f"“{names.query_tokens[0]}”",
        "first_weight_masked": number(masked.weights[0, 0]),
        "first_best": f"“{names.key_tokens[int(steps.weights[0].argmax())]}”",
        "first_best_weight": fixed(steps.weights[0].max()),
        "later_share_of_zeros": fixed(zeros[0, 1:].sum()),
        "last": f"“{names.query_tokens[-1]}”",
    }


def _of_the_heads() -> dict[str, str]:
    """One wide head against two narrow ones, as item H4 measures it."""
    steps = run(Setup("two_heads", n_heads=2)).heads
    names, row, col = inputs(KITE), *_cell(KITE)
    other = int(steps.weights[1, row].argmax())
    wide = softmax(steps.scores.sum(0) / np.sqrt(2 * KITE.d_k))[row]
    return {
        "second_key": f"“{names.key_tokens[other]}”",
        "head_0": fixed(steps.weights[0, row, col]),
        "head_1": fixed(steps.weights[1, row, other]),
        "one_head_first": fixed(wide[col]),
        "one_head_second": fixed(wide[other]),
        "reshape_holds": next(o.text for o in item("H2").options if o.key == item("H2").answer),
    }


def _of_the_cup() -> dict[str, str]:
    """The recap's own sentence."""
    weights, names = run(COREF).heads.weights[0], inputs(COREF)
    row = EXAMPLES["coref"].row
    first, second = sorted(int(col) for col in np.argsort(-weights[row], kind="stable")[:2])
    return {
        "cup": f"“{names.key_tokens[first]}”",
        "plate": f"“{names.key_tokens[second]}”",
        "cup_weight": fixed(weights[row, first], 3),
        "plate_weight": fixed(weights[row, second], 3),
    }


def _cell(setup: Setup) -> tuple[int, int]:
    return EXAMPLES[setup.example].row, EXAMPLES[setup.example].col
