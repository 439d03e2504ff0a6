"""Items of the scale page. Each takes a Case and lets the core find the answer."""

import math

import numpy as np

from core.attention import attention, scale, score, softmax
from core.gradients import jacobian_norm
from core.numbers import number
from core.quiz.case import Case
from core.quiz.model import Item
from core.setup import Setup, inputs

ROWS = 400  # sampled rows of random scores
KEYS = 8


def c1(case: Case) -> Item:
    """One division by √d_k."""
    d_k = case.pick(64, (4, 16, 64, 256))
    raw = float(case.pick(3, (2, 3, 5, -3)) * math.isqrt(d_k))
    scaled = float(scale(np.array([[raw]]), d_k)[0, 0])
    slips = {
        f"You divided by d_k = {d_k}. The divisor is its square root.": raw / d_k,
        "You left the score as it was.": raw,
        "You multiplied. The scale is a division.": raw * math.sqrt(d_k),
        f"You halved {d_k}. Its square root is {math.isqrt(d_k)}.": raw / (d_k / 2),
        "You subtracted the root. It is a divisor.": raw - math.sqrt(d_k),
    }
    return case.number(
        f"d_k = {d_k} and a raw score is {number(raw)}. What is the scaled score?",
        scaled,
        slips,
        "The scaled score is the score divided by the square root of d_k.",
        f"{number(raw)} / √{d_k} = {number(raw)} / {math.isqrt(d_k)} = {number(scaled)}.",
        f"The core's scale() gives {number(scaled)}.",
    )


def c2(case: Case) -> Item:
    """How the spread of scores grows with d_k."""
    start, factor = case.pick(16, (4, 8, 16, 32)), case.pick(4, (4, 16))
    end, root = start * factor, math.isqrt(factor)
    small, large = (_random_scores(case.rng, d_k, ROWS) for d_k in (start, end))
    grown = float(large.std() / small.std())
    options = [
        ("1", "1", "Then more channels would bring no more spread. Each further product adds variance."),
        (str(root), str(root), ""),
        (
            str(factor),
            str(factor),
            (f"That is how the variance grows. The size is its root, √{factor} = {root}."),
        ),
        (str(factor**2), str(factor**2), "Independent products partly cancel: the size grows less than d_k."),
    ]
    key = min((key for key, _, _ in options), key=lambda key: abs(math.log(int(key) / grown)))
    reason = (
        f"The variance grows with the number of summed products, here {factor} times. The size grows by its "
        f"root, √{factor} = {root}. That is why the divisor is a square root."
    )
    measured = (
        f"{small.size} random scores each: {small.std():.2f} at d_k = {start}, {large.std():.2f} at {end}, "
        f"a factor of {grown:.2f}."
    )
    question = (
        f"Entries are independent, with mean 0 and variance 1. d_k goes from {start} to {end}. "
        "The typical size (standard deviation) of a raw score is multiplied by …"
    )
    show = {"scale_lab": "Variance", "lab_d_k": end}
    return case.choice(question, options, key, reason, measured, show=show)


def c3(case: Case) -> Item:
    """A wrong divisor."""
    by_width, by_none = ("divides by d_k, not by √d_k", 4.0), ("forgets to divide by √d_k", 1.0)
    wrong, divisor = case.pick(by_width, (by_width, by_none))
    right, found = case.steps.weights, softmax(case.steps.scores / divisor)
    row, col = case.pick((4, 1), [(i, int(weights.argmax())) for i, weights in enumerate(right)])
    options = [
        ("sharper", "sharper", "A larger divisor makes the gaps between scores smaller, not larger."),
        ("flatter", "flatter", "A smaller divisor leaves the gaps between scores larger, not smaller."),
        ("same", "the same", "Softmax removes a common sum, not a common factor: it reads the gaps."),
        ("sums", "no longer normalised", "Softmax comes after the division and makes every row sum to 1."),
    ]
    kind = _compared(right, found)
    gaps = "smaller" if kind == "flatter" else "larger"
    return case.choice(
        f"In the {case.setup.example} example at T = {case.setup.seq_len} and d_k = {case.setup.d_k} "
        f"somebody {wrong}. Compared with the right weights, the rows become …",
        options,
        kind,
        f"Softmax reads the gaps between scores. With {gaps} gaps the rows get {kind}.",
        f"{case.query(row)} → {case.key(col)} goes from {right[row, col]:.3f} to {found[row, col]:.3f}.",
        (row, col),
        {"scale_lab": "Divisors"},
    )


def c4(case: Case) -> Item:
    """The scale keeps the order."""
    d_k = case.pick(4, (4, 16, 64))
    random = _random_scores(case.rng, d_k, ROWS)
    moved = _winners_moved(random, d_k) + _winners_moved(case.steps.scores, case.setup.d_k)
    options = [
        (
            "often",
            "yes, often",
            ("Then a key would overtake another when both are divided by the same number."),
        ),
        ("never", "no, never", ""),
        (
            "long",
            "only for long sequences",
            ("Every score of a row has the same divisor, however long the row."),
        ),
        (
            "negative",
            "only if scores are negative",
            ("A positive divisor keeps the order of negative numbers too."),
        ),
    ]
    reason = "One positive divisor for the whole row keeps its order. It changes by how much the winner wins."
    measured = (
        f"The example's {len(case.steps.scores)} rows and {ROWS} random ones at d_k = {d_k}: "
        f"the winner changed in {moved}."
    )
    question = "Does dividing by √d_k change which key wins a row?"
    return case.choice(question, options, "often" if moved else "never", reason, measured)


def c5(case: Case) -> Item:
    """Without the scale the slope dies, at a large d_k."""
    d_k = case.pick(256, (4, 256, 512, 1024))
    scores = _random_scores(case.rng, d_k, ROWS)
    raw, scaled = (float(np.median(jacobian_norm(softmax(s)))) for s in (scores, scale(scores, d_k)))
    sizes = {"same": 1.0, "half": 0.5, "tenth": 0.1, "fiftieth": 0.005}
    key = min(sizes, key=lambda name: abs(math.log(sizes[name]) - math.log(raw / scaled)))
    if key == "fiftieth":
        reason = "At this width most rows are nearly one-hot, and a slope a·(1 − a) is then tiny."
    else:
        reason = "At so small a width the raw scores are hardly larger than the scaled ones: no harm is done."
    options = [
        ("same", "the same", reason),
        ("half", "one half", reason),
        ("tenth", "one tenth", reason),
        ("fiftieth", "less than one fiftieth", reason),
    ]
    measured = (
        f"Median over {ROWS} rows: {number(raw)} raw, {number(scaled)} scaled, "
        f"a ratio of {number(raw / scaled)}."
    )
    question = (
        f"d_k = {d_k}, random vectors of unit variance, {KEYS} keys. Without the scale, the median slope of "
        "softmax (the norm of its Jacobian) is about … of the scaled one."
    )
    show = {"scale_lab": "Gradient", "measure": "median gradient", "n_keys": KEYS}
    return case.choice(question, options, key, reason, measured, show=show)


def c6(case: Case) -> Item:
    """The scale does not standardise."""
    factor = case.pick(100.0, (10.0, 30.0, 100.0))
    wide = inputs(Setup("random", seq_len=8, d_k=64, seed=case.seed))
    before, after = (attention(size * wide.q, wide.k, wide.v).weights for size in (1.0, factor))
    narrow = attention(factor * case.steps.q, case.steps.k, case.steps.v).weights
    rescued = (bool(np.allclose(case.steps.weights, narrow)), bool(np.allclose(before, after)))
    key = {(True, True): "always", (False, True): "wide"}.get(rescued, "no")
    options = [
        (
            "always",
            "yes, it normalises any scores",
            ("Then the divisor would have to look at the scores. It is fixed."),
        ),
        ("no", "no, it only offsets the growth with d_k", ""),
        ("wide", "yes, but only from d_k = 64 on", "At d_k = 64 the divisor is 8, whatever the scores are."),
        (
            "indifferent",
            "softmax does not care about size",
            ("A common sum cancels in softmax. A factor makes it sharper."),
        ),
    ]
    name = number(factor)
    return case.choice(
        f"Somebody's queries are {name} times too large. Does dividing by √d_k rescue the softmax?",
        options,
        key,
        f"The divisor knows d_k and nothing else. Scores {name} times too large stay {name} times too large.",
        f"Random queries and keys at d_k = 64: the mean largest weight goes from {before.max(-1).mean():.2f} "
        f"to {after.max(-1).mean():.2f}.",
    )


def _compared(right: np.ndarray, found: np.ndarray) -> str:
    """How other weights differ from the right ones, on the whole."""
    if not np.allclose(found.sum(-1), 1):
        return "sums"
    if np.allclose(found, right):
        return "same"
    return "sharper" if found.max(-1).mean() > right.max(-1).mean() else "flatter"


def _random_scores(rng: np.random.Generator, d_k: int, rows: int) -> np.ndarray:
    """-> (rows, KEYS) scores of independent normal queries and keys."""
    q, k = rng.standard_normal((rows, 1, d_k)), rng.standard_normal((rows, KEYS, d_k))
    return score(q, k)[:, 0]


def _winners_moved(scores: np.ndarray, d_k: int) -> int:
    """In how many rows the division changes which score is the largest."""
    return int((scores.argmax(-1) != scale(scores, d_k).argmax(-1)).sum())
