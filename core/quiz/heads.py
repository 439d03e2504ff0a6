"""Items of the heads page. Each takes a Case and lets the core find the answer."""

from itertools import product

import numpy as np

from core.attention import AttentionSteps, score, softmax
from core.experiments.heads_compared import cost
from core.experiments.prose import count
from core.experiments.splitting import origins, split_without_transpose
from core.numbers import number
from core.quiz.case import Case
from core.quiz.model import Item
from core.setup import Setup, run

COUNTS = {2: "two", 4: "four", 8: "eight"}
HALVES = ("first half", "second half")


def h1(case: Case) -> Item:
    """The width is divided among the heads."""
    d_model, n_heads = case.pick((512, 8), ((512, 8), (256, 4), (768, 12), (1024, 16), (64, 2)))
    d_k = d_model // n_heads
    slips = {
        "Then every head would work on the full width. The width is divided among them.": d_model,
        "You multiplied. The heads side by side are d_model wide together.": d_model * n_heads,
        "That is the number of heads.": n_heads,
        "You took the root of d_model. A root comes later, in the scale.": d_model**0.5,
    }
    return case.number(
        f"d_model = {d_model}, {n_heads} heads. What is d_k?",
        d_k,
        slips,
        "The model's width is cut into as many equal slices as there are heads.",
        f"{d_model} / {n_heads} = {d_k}: the width is divided among the heads, not copied.",
        f"{n_heads} heads of {d_k} side by side are {n_heads * d_k} wide again.",
    )


def h2(case: Case) -> Item:
    """reshape without transpose."""
    n, d_k = case.pick(7, (5, 6, 7, 8)), case.pick(4, (2, 4, 8))
    places = [(head, row) for head in (0, 1) for row in range(n) if _really_at(n, d_k, head, row)[0] != row]
    head, row = case.pick((0, 1), places)
    token, half = _really_at(n, d_k, head, row)
    swapped = f"This place holds a piece of token {token}: reshape keeps the flat order."
    options = [
        (
            f"{row}.{head}",
            f"{HALVES[head]} of token {row}",
            ("The transpose would bring that here. reshape alone does not."),
        ),
        (f"{token}.{half}", f"{HALVES[half]} of token {token}", ""),
        (f"{row}.{1 - head}", f"{HALVES[1 - head]} of token {row}", swapped),
        (
            "error",
            "nothing: it raises an error",
            ("The number of elements fits, so nothing is raised: a silent bug."),
        ),
    ]
    return case.on(Setup(case.setup.example, n, d_k, n_heads=2)).choice(
        f"x is (1, {n}, {2 * d_k}), 2 heads. What does head {head}, row {row} of x.reshape(1, 2, {n}, {d_k}) "
        "hold, without a transpose? (Tokens and heads are counted from 0.)",
        options,
        f"{token}.{half}",
        "reshape only cuts the same flat order anew. The shape is right and the content is wrong, silently.",
        f"Traced element by element: token {token}, channels {half * d_k} to {half * d_k + d_k - 1}.",
        (row, 0),
        {"heads_lab": "Wrong reshape"},
    )


def h3(case: Case) -> Item:
    """More heads, the same number of multiply-adds."""
    h, d_model, n = case.pick(8, (2, 4, 8)), case.pick(512, (256, 512)), case.pick(128, (64, 128))
    before, after = cost(n, d_model, 1), cost(n, d_model, h)
    one, many = before.scores + before.blend, after.scores + after.blend
    options = [
        (str(h), str(h), "Each head is also that much narrower."),
        ("1", "1", ""),
        (str(h * h), str(h * h), f"There are {h} products, and each is {h} times cheaper."),
        (f"1/{h}", f"1/{h}", f"Each head is that much cheaper, but there are {h} of them."),
    ]
    return case.choice(
        f"Same d_model, same T. Going from 1 head to {h}, the multiply-adds of Q Kᵀ and A V are "
        "multiplied by …",
        options,
        f"1/{one // many}" if many < one else str(many // one),
        f"{h} products of width {d_model} / {h}. Only the number of softmax entries grows, {h} times.",
        f"T = {n}, d_model = {d_model}: {count(one)} with one head, {count(many)} with {h}. "
        f"Softmax entries: {count(before.softmax_entries)} and {count(after.softmax_entries)}.",
        show={"heads_lab": "Cost", "cost_len": n, "cost_width": d_model},
    )


def h4(case: Case) -> Item:
    """One wide head's scores are the sum of the narrow heads' scores."""
    h, d_k = case.pick((2, 4), tuple(product((2, 4, 8), (2, 4, 8, 16))))
    if case.seed:
        case = case.on(Setup("random", case.setup.seq_len, d_k, n_heads=h, seed=case.seed))
    else:
        case = case.on(Setup("two_heads", 7, d_k, n_heads=h))
    heads, several, wide_k = run(case.setup).heads, COUNTS[h], h * d_k
    every = "both" if h == 2 else f"all {several}"
    wide = score(np.concatenate(list(heads.q), axis=-1), np.concatenate(list(heads.k), axis=-1))
    named = {"sum": heads.scores.sum(0), "average": heads.weights.mean(0), "larger": heads.scores.max(0)}
    options = [
        ("sum", f"the sum of the {several} heads' scores", ""),
        (
            "average",
            f"the average of the {several} heads' weights",
            ("Weights come after softmax, in each head apart."),
        ),
        (
            "unrelated",
            "unrelated to them",
            (f"{wide_k} channels are {several} slices of {d_k}, and so are the products."),
        ),
        (
            "larger",
            "the larger of the two" if h == 2 else f"the largest of the {several}",
            (f"Nothing chooses between the heads: {every} parts of the sum count."),
        ),
    ]
    row = 4
    weights = softmax(wide / np.sqrt(wide_k))
    difference = number(float(np.abs(wide - named["sum"]).max()))
    return case.choice(
        f"The {wide_k}-wide scores of one head, compared with {several} {d_k}-wide heads cut from the same "
        "vectors, are …",
        options,
        next((name for name, scores in named.items() if np.allclose(wide, scores)), "unrelated"),
        f"A dot product over {wide_k} channels is the sum of {several} over {d_k}. "
        f"One head must mix {every} wishes before its one softmax.",
        f"Largest difference to the sum: {difference}. {_favourites(case, heads, weights, row)}",
        (row, int(heads.weights[0, row].argmax())),
        {"heads_lab": "One wide head"},
    )


def _really_at(seq_len: int, d_k: int, head: int, row: int) -> tuple[int, int]:
    """-> (token, half) that a reshape of (T, 2 d_k) to (2, T, d_k) really puts at [head, row]."""
    halves = np.broadcast_to(np.repeat([0, 1], d_k), (seq_len, 2 * d_k))
    found = (split_without_transpose(x, 2)[head, row] for x in (origins(seq_len, 2 * d_k), halves))
    token, half = (int(part[0]) for part in found)
    return token, half


def _favourites(case: Case, heads: AttentionSteps, weights: np.ndarray, row: int) -> str:
    """What the first two heads' favourites of a row get in these heads, and in the one wide head."""
    tops = [int(heads.weights[head, row].argmax()) for head in (0, 1)]
    apart = " and ".join(
        (f"{case.key(top)} {heads.weights[head, row, top]:.2f}") for head, top in enumerate(tops)
    )
    mixed = " and ".join(f"{case.key(top)} {weights[row, top]:.2f}" for top in tops)
    which = "the heads" if len(heads.weights) == len(tops) else "heads 0 and 1"
    return f"Row {case.query(row)}: apart, {which} give {apart}; the one head gives {mixed}."
