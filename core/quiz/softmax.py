"""Items of the softmax page. Each takes a Case and lets the core find the answer."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.attention import softmax
from core.experiments.prose import fixed
from core.numbers import number
from core.quiz.case import Case, cells
from core.quiz.model import Item

CONSTANTS = (100, -100, 50, -50, 200, -200, 300, -300, 500, 1000, -1000)  # those that the page's lab can add
OVERFLOWS = (("float32", 1000), ("float32", 200), ("float64", 2000), ("float16", 50))


def w1(case: Case) -> Item:
    """A constant added to a row."""
    constant = case.pick(100, CONSTANTS)
    row = case.pick(4, range(len(case.steps.weights)))
    before = case.steps.weights[row]
    after = softmax(case.steps.scaled_scores[row : row + 1] + float(constant))[0]
    difference = float(np.abs(after - before).max())
    effect = _effect(before, after)
    key = "extreme" if effect == "flatter" else effect
    extreme = "nearly 1" if constant > 0 else "nearly 0"
    options = [
        (
            "extreme",
            f"all become {extreme}",
            ("They share a budget of 1, so they cannot all move the same way."),
        ),
        ("same", "do not change", ""),
        ("sharper", "become sharper", "Softmax reads the gaps between scores, and no gap changed."),
        ("nan", "overflow and become NaN", "Only without the row maximum subtracted, and for large scores."),
    ]
    return case.choice(
        f"Add {number(constant)} to every score of one row. Its weights …",
        options,
        key,
        f"{_e_to(constant)} stands in every numerator and in the sum, and cancels. "
        "Subtracting the row maximum is the same move.",
        f"The largest change of a weight in row {case.query(row)} is {number(difference)}.",
        (row, int(before.argmax())),
        {"softmax_lab": "Shift", "shift": constant},
    )


def w2(case: Case) -> Item:
    """A factor on a row."""
    verb, does, factor = case.pick(
        ("Double", "double", 2.0),
        (("Double", "double", 2.0), ("Triple", "triple", 3.0), ("Halve", "are halved", 0.5)),
    )
    tops = [(row, int(weights.argmax())) for row, weights in enumerate(case.steps.weights)]
    row, col = case.pick((4, 1), tops)
    before = case.steps.weights[row]
    after = softmax(case.steps.scaled_scores[row : row + 1] * factor)[0]
    key = _effect(before, after)
    options = [
        ("same", "do not change", "A common sum cancels in softmax. A common factor does not."),
        ("times", does, "Then they would no longer sum to 1."),
        ("sharper", "become sharper", "The gaps between the scores shrank."),
        ("flatter", "become flatter", "The gaps between the scores grew."),
    ]
    gaps = {"sharper": "grew", "flatter": "shrank"}.get(key, "stayed")
    measured = f"{case.query(row)} → {case.key(col)} goes from {before[col]:.3f} to {after[col]:.3f}."
    reason = f"Only the gaps between scores matter, and they {gaps}."
    question = f"{verb} every score of one row. Its weights …"
    show = {"softmax_lab": "Hardness", "hardness": factor}
    return case.choice(question, options, key, reason, measured, (row, col), show)


def w3(case: Case) -> Item:
    """A negative score still has a share."""
    z, weights = case.steps.scaled_scores, case.steps.weights
    row, col = case.pick((6, 0), cells((z < 0) & (weights < 0.1)))
    weight, score = float(weights[row, col]), float(z[row, col])
    if math.isnan(weight):
        key = "undefined"
    else:
        key = "negative" if weight < 0 else "zero" if weight == 0 else "small"
    options = [
        ("negative", "negative", "e to any power is positive, and so is a share. Only scores have signs."),
        ("zero", "exactly 0", "Only a score of −∞ has a share of exactly 0."),
        ("small", "small but above 0", ""),
        ("undefined", "undefined", "e to a negative power is an ordinary small number."),
    ]
    reason = f"{_e_to(score)} = {number(math.exp(score))} is above 0, and so is its share of the row."
    question = f"The scaled score {case.query(row)} → {case.key(col)} is {number(score)}. Its weight is …"
    return case.choice(question, options, key, reason, f"The weight is {number(weight)}.", (row, col))


def w4(case: Case) -> Item:
    """Equal scores share equally."""
    n, score = case.pick(7, (4, 5, 6, 7, 8, 9)), case.pick(0, (0, 1, 2, -1))
    weight = float(softmax(np.full((1, n), float(score)))[0, 0])
    slips = {
        "A score of 0 does not mean no weight: e⁰ = 1 for each key.": 0.0,
        "Each has the row's largest score, but they share one budget of 1.": 1.0,
        "That is the power e^z. Divide it by the row's sum.": math.exp(score),
        f"There are {n} keys: the query's own word is one of them.": 1 / (n - 1),
    }
    return case.number(
        f"All {n} scores of a row are {number(score)}. What is the weight of each key? (3 decimals)",
        weight,
        slips,
        "Equal scores get equal shares, and the shares sum to 1.",
        f"Equal scores share equally, whatever they are: 1/{n} = {weight:.3f}.",
        f"The core's softmax gives each {weight:.3f}.",
        decimals=3,
    )


def w5(case: Case) -> Item:
    """A gap is a factor."""
    z, weights = case.steps.scaled_scores, case.steps.weights
    row, high, low = case.pick((5, 1, 6), _pairs_with_a_gap(z))
    gap, ratio = float(z[row, high] - z[row, low]), float(weights[row, high] / weights[row, low])
    times = {"scores": z[row, high] / z[row, low], "gap": math.exp(gap), "twice": math.exp(2 * gap)}
    big, small, power = case.key(high), case.key(low), _e_to(gap)
    options = [
        (
            "scores",
            f"{times['scores']:.2g} times that of {small}",
            ("Weights go with e to the score, not with the score."),
        ),
        ("gap", f"about {times['gap']:.1f} times that of {small}", ""),
        (
            "twice",
            (f"about {times['twice']:.1f} times that of {small}"),
            f"That belongs to a gap of {number(2 * gap)}.",
        ),
        (
            "plus",
            f"{number(gap)} more than that of {small}",
            ("No weight is above 1, so none can be that much larger."),
        ),
    ]
    return case.choice(
        f"Row {case.query(row)}: {big} has scaled score {number(z[row, high])}, {small} has "
        f"{number(z[row, low])}. The weight of {big} is …",
        options,
        min(times, key=lambda name: abs(math.log(times[name] / ratio))),
        f"A gap of {number(gap)} is a factor {power} = {math.exp(gap):.3f}, whatever the other scores are.",
        f"{weights[row, high]:.3f} against {weights[row, low]:.3f}, a ratio of {ratio:.3f}.",
        (row, high),
    )


def w6(case: Case) -> Item:
    """Overflow without the row maximum."""
    dtype, base = case.pick(OVERFLOWS[0], OVERFLOWS)
    scores = np.array([[base, base + 1, base + 2]], dtype=dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        plain = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    right = softmax(scores.astype(float))[0]
    key = _overflowed(plain[0], right)
    limit = int(math.log(np.finfo(dtype).max))
    options = [
        (
            "right",
            "the right weights",
            (f"e^{base} does not fit into {dtype}; e^{limit} is the last that does."),
        ),
        ("last", "[0, 0, 1]", "Then the largest would win. But all three powers overflow alike."),
        ("nan", "[nan, nan, nan]", ""),
        ("error", "an exception", "Floating point does not stop. It goes on with inf and NaN, silently."),
    ]
    return case.choice(
        f"A {dtype} softmax of [{base}, {base + 1}, {base + 2}], without the row maximum subtracted, gives …",
        options,
        key,
        f"exp overflows to inf (in {dtype} above {limit}), and inf / inf is NaN.",
        f"Without the subtraction: {_list(plain[0])}. With it: {_list(right)}.",
        show={"softmax_lab": "Number formats"},
    )


def w7(case: Case) -> Item:
    """Rows sum to 1, columns do not."""
    rows, columns = case.steps.weights.sum(-1), case.steps.weights.sum(-2)
    ones = (bool(np.allclose(rows, 1)), bool(np.allclose(columns, 1)))
    key = {(True, False): "rows", (False, True): "columns", (True, True): "both"}.get(ones, "diagonal")
    options = [
        ("rows", "every row", ""),
        (
            "columns",
            "every column",
            ("Then each key would share itself out. It is the query that has a budget."),
        ),
        ("both", "both", "Then every key would be equally popular in the end."),
        ("diagonal", "the diagonal", "That is each word's attention to itself. Nothing ties those together."),
    ]
    most = int(columns.argmax())
    measured = (
        f"Row sums: {rows.min():.3f} to {rows.max():.3f}. Column sums: {columns.min():.2f} to "
        f"{columns.max():.2f}, the largest at {case.key(most)}."
    )
    reason = "Each query hands out a budget of 1. A popular key collects more than 1 in its column."
    return case.choice("Which sums are 1 in the weights A?", options, key, reason, measured, (0, most))


def w8(case: Case) -> Item:
    """A hard choice has no slope."""
    case = case.on(replace(case.setup, example="kite"))
    unique = (case.steps.scaled_scores == case.steps.scaled_scores.max(-1, keepdims=True)).sum(-1) == 1
    row = case.pick(4, [int(row) for row in np.flatnonzero(unique)])  # at a tie, argmax does jump
    z, v = case.steps.scaled_scores[row], case.steps.v[:, 0]
    soft, hard = _slopes(lambda scores: softmax(scores[None])[0], z, v), _slopes(_one_hot, z, v)
    key = _steepness(hard, soft)
    options = [
        ("larger", "larger", "Harder looks like stronger, but a nudge that changes nothing has slope 0."),
        ("same", "the same", "Softmax moves a little with every nudge. Argmax waits, then jumps."),
        ("zero", "0 almost everywhere", ""),
        ("negative", "negative", "For a slope the output would have to move, and it stays where it is."),
    ]
    reason = "A small nudge changes nothing until the winner flips, so no signal says which way to move."
    measured = f"Row {case.query(row)}, slope for each score: argmax {_list(hard)}, softmax {_list(soft)}."
    question = "You replace softmax by a hard argmax. The slope of the output for each score is then …"
    show = {"softmax_lab": "Soft or hard"}
    return case.choice(question, options, key, reason, measured, (row, int(z.argmax())), show)


def _effect(before: np.ndarray, after: np.ndarray) -> str:
    """What happened to a row of weights."""
    if not np.isfinite(after).all():
        return "nan"
    if np.abs(after - before).max() < 1e-9:
        return "same"
    return "sharper" if after.max() > before.max() else "flatter"


def _overflowed(plain: np.ndarray, right: np.ndarray) -> str:
    """What a softmax without the subtraction gave."""
    if np.isnan(plain).any():
        return "nan"
    return "right" if np.allclose(plain, right, atol=0.01) else "last"


def _steepness(hard: np.ndarray, soft: np.ndarray) -> str:
    """How the slopes of a hard choice compare with those of a soft one."""
    if not hard.any():
        return "zero"
    if (hard < 0).all():
        return "negative"
    return "larger" if np.abs(hard).max() > np.abs(soft).max() else "same"


def _pairs_with_a_gap(z: np.ndarray) -> list[tuple[int, int, int]]:
    """-> (row, key, other key) where both scores are positive and 1 or 2 apart."""
    n_q, n_k = z.shape
    pairs = [(row, high, low) for row in range(n_q) for high in range(n_k) for low in range(n_k)]
    return [(r, high, low) for r, high, low in pairs if z[r, high] - z[r, low] in (1, 2) and z[r, low] > 0]


def _e_to(exponent: float) -> str:
    """4 -> "e^4", −2 -> "e^(−2)"."""
    return f"e^({number(exponent)})" if exponent < 0 else f"e^{number(exponent)}"


def _one_hot(scores: np.ndarray) -> np.ndarray:
    """A hard argmax: 1 for the largest score, 0 for all others."""
    return (np.arange(len(scores)) == scores.argmax()).astype(float)


def _slopes(
    weigh: Callable[[np.ndarray], np.ndarray], z: np.ndarray, v: np.ndarray, step: float = 1e-6
) -> np.ndarray:
    """How the output weigh(z) · v moves for a nudge of each score: central differences."""
    nudges = step * np.eye(len(z))
    return np.array([(weigh(z + nudge) - weigh(z - nudge)) @ v / (2 * step) for nudge in nudges])


def _list(values: np.ndarray) -> str:
    return f"[{', '.join(fixed(value) for value in values)}]"
