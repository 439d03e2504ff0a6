"""Items of the mask page. Each takes a Case and lets the core find the answer."""

from dataclasses import replace

import numpy as np

from core import masks
from core.attention import softmax
from core.leak import leak_test
from core.numbers import number
from core.quiz.case import Case
from core.quiz.model import Item
from core.setup import Setup


def m1(case: Case) -> Item:
    """One key left takes it all."""
    causal = ("causal", "Causal mask on: what is the weight of the first word, {}, on itself?")
    window = ("window", "A window lets each word see itself only: what is the weight of {} on itself?")
    mask, question = case.pick(causal, (causal, window))
    row = 0 if mask == "causal" else case.pick(0, range(case.setup.seq_len))
    before, n = float(case.steps.weights[row, row]), case.setup.seq_len
    case = case.on(replace(case.setup, mask=mask, window=1))
    weight = float(case.steps.weights[row, row])
    slips = {
        "That was its weight before the mask. What the mask takes away is shared out anew.": before,
        "It may attend to itself: the mask hides only other words here.": 0.0,
        f"That is an equal share among {n} words, but all the others are hidden.": 1 / n,
    }
    same = "exactly" if np.array_equal(case.steps.output[row], case.steps.v[row]) else "not exactly"
    return case.number(
        question.format(case.query(row)),
        weight,
        slips,
        "Every row of A still sums to 1, and only one key is left in this one.",
        "It is the only key left, so it gets the whole budget.",
        f"The weight is {number(weight)}; without the mask it was {before:.3f}. "
        f"The output is {same} its own value row.",
        cell=(row, row),
    )


def m2(case: Case) -> Item:
    """A later word cannot move an earlier row."""
    n = case.setup.seq_len
    place = case.pick(n - 1, range(1, n))
    masked = replace(case.setup, mask="causal")
    moved, moved_open = _rows_moved(masked, place), _rows_moved(case.setup, place)
    word = "the last word" if place == n - 1 else f"{case.key(place)} (word {place + 1} of {n})"
    parts = {
        "all": ("all", range(n)),
        "none": ("none", ()),
        "later": ("only the last" if place == n - 1 else (
            f"{case.query(place)} and those after "
            "it"
        ), range(place, n)),
        "one more": ("only the last two" if place == n - 1 else f"those before {case.query(place)}",
                     range(n - 2, n) if place == n - 1 else range(place)),
    }  # fmt: skip
    meanings = {
        "all": "That is what happens without a mask. With it, earlier rows give this word weight 0.",
        "none": "At least the row of the word itself moves: it has another query now.",
        "one more": "Rows before the word give it a weight of exactly 0, so it cannot move them.",
    }
    key = next((name for name, (_, rows) in parts.items() if set(rows) == moved), "no part")
    return case.on(masked).choice(
        f"Causal mask on. You replace {word}. Which output rows change?",
        [(name, text, meanings.get(name, "")) for name, (text, _) in parts.items()],
        key,
        "A causal mask gives every later word a weight of exactly 0, and 0 times anything is 0.",
        f"Leak test: {len(moved)} of {n} output rows moved; without the mask {len(moved_open)} of {n}.",
        (place, place),
        {"replace": f"{place} {case.inputs.key_tokens[place]}"},
    )


def m3(case: Case) -> Item:
    """Masked after softmax."""
    n = case.setup.seq_len
    sums = (case.steps.weights * masks.causal(n)).sum(-1)
    options = [
        (
            "one",
            "1 everywhere",
            ("Then the hidden shares would have to go to the other words. Nobody does that."),
        ),
        ("less", "less than 1, except the last row", ""),
        ("more", "more than 1", "A factor of 0 or 1 takes shares away and adds none."),
        ("zero", "0", "The allowed words keep their shares."),
    ]
    return case.on(replace(case.setup, mask="causal")).choice(
        "A causal mask is applied after softmax: weights are multiplied by 0 or 1. The rows then sum to …",
        options,
        _sums(sums),
        "The hidden shares are taken away and handed to nobody. Dividing by the new sums would repair it.",
        f"Row sums: {', '.join(f'{value:.2f}' for value in sums)}.",
        show={"mask_lab": "Ways to mask", "variant": "0 after softmax"},
    )


def m4(case: Case) -> Item:
    """0 is a live score."""
    shares = {row: _later_share(case, row) for row in range(case.setup.seq_len - 2)}
    row = case.pick(0, [row for row, share in shares.items() if share > 0.05 and abs(share - 0.5) > 0.1])
    share, later = shares[row], case.setup.seq_len - 1 - row
    near = f"{share:.2f}"
    options = [
        ("0", "0", "Only e^(−∞) is 0. A score of 0 counts as e⁰ = 1."),
        (near, f"about {near}", ""),
        ("0.5", "exactly 0.5", "Nothing cuts the row in halves: each hidden word counts as e⁰ = 1."),
        ("nan", "NaN", "0 is an ordinary number. NaN needs 0 / 0 or inf / inf."),
    ]
    key = "nan" if np.isnan(share) else min((near, "0", "0.5"), key=lambda text: abs(float(text) - share))
    return case.on(replace(case.setup, mask="causal")).choice(
        f"A mask writes 0 instead of −∞ into the scores of later words. Row {case.query(row)} then gives "
        f"its {later} later words together …",
        options,
        key,
        "e⁰ = 1, so a score of 0 is an ordinary, live score. Only e^(−∞) is 0.",
        f"The {later} later words get {share:.3f} together. With −∞ they get exactly 0.",
        (row, row + 1),
        {"mask_lab": "Ways to mask", "variant": "0 before softmax"},
    )


def _rows_moved(setup: Setup, place: int) -> set[int]:
    return {int(row) for row in np.flatnonzero(leak_test(setup, place).moved[0])}


def _sums(sums: np.ndarray) -> str:
    """What the row sums of a causal map are like."""
    if np.allclose(sums, 1):
        return "one"
    if (sums[:-1] < 1).all() and np.isclose(sums[-1], 1):
        return "zero" if np.allclose(sums[:-1], 0) else "less"
    return "more"


def _later_share(case: Case, row: int) -> float:
    """What the later words of a row get together when their scores are set to 0."""
    scores = np.where(masks.causal(case.setup.seq_len), case.steps.scaled_scores, 0.0)
    return float(softmax(scores)[row, row + 1 :].sum())
