"""Items of the score page. Each takes a Case and lets the core find the answer."""

from itertools import product

import numpy as np

from core.arithmetic import score_cell
from core.edits import written_edits
from core.experiments.prose import sizes
from core.numbers import number
from core.quiz.case import Case, cells, vector
from core.quiz.model import Item
from core.setup import Setup, inputs, run, with_edit


def s1(case: Case) -> Item:
    """One dot product by hand."""
    q, k, scores = case.steps.q, case.steps.k, case.steps.scores
    both_negative = ((q[:, None] < 0) & (k[None] < 0)).any(-1)
    row, col = case.pick((4, 1), cells((both_negative | (q[:, None] * k[None] < 0).any(-1)) & (scores != 0)))
    products = q[row] * k[col]
    lost = np.where((q[row] < 0) & (k[col] < 0), -products, products)
    question = (
        f"The query of {case.query(row)} is {vector(q[row])}, the key of {case.key(col)} is "
        f"{vector(k[col])}. What is their score?"
    )
    slips = {
        "Minus times minus is plus. You counted it as minus.": lost.sum(),
        "You added the sizes of the products. A plus times a minus is negative.": np.abs(products).sum(),
        "That is one step too far: the score divided by √d_k.": case.steps.scaled_scores[row, col],
        "You added up the entries. Multiply entry by entry first.": q[row].sum() + k[col].sum(),
    }
    return case.number(
        question,
        scores[row, col],
        slips,
        "Multiply entry by entry, mind the signs, and add it all up: a dot product is one number.",
        f"{score_cell(case.steps, row, col, case.inputs).lines[0]}.",
        f"The core's S holds {number(scores[row, col])} in this cell.",
        cell=(row, col),
    )


def s2(case: Case) -> Item:
    """The shape of the scores."""
    seq_len, d_k = case.pick(7, (5, 6, 7, 9)), case.pick(4, (2, 3, 4, 8))
    case = case.on(Setup(case.setup.example, seq_len=seq_len, d_k=d_k, seed=case.seed))
    q, scores = case.steps.q, case.steps.scores
    by_channel = f"{d_k} × {d_k}"
    options = [
        (sizes(scores), sizes(scores), ""),
        (by_channel, by_channel, "That is Qᵀ K: channels against channels, with the words summed away."),
        (sizes(q), sizes(q), "That is the shape of Q. S has one number for each pair of words."),
        (sizes(q.T), sizes(q.T), "That is the shape of Kᵀ alone, before the product."),
    ]
    reason = (
        f"One number for each pair of a query and a key: {seq_len} queries times {seq_len} keys. "
        f"The {d_k} channels are summed away."
    )
    question = f"Q is {sizes(q)} and K is {sizes(case.steps.k)}. What is the shape of Q Kᵀ?"
    return case.choice(question, options, sizes(scores), reason, f"The core's S is {sizes(scores)}.")


def s3(case: Case) -> Item:
    """What an edited key (or query) can change."""
    tensor, other, line = case.pick(
        ("key", "query", "column"), (("key", "query", "column"), ("query", "key", "row"))
    )  # fmt: skip
    place = case.pick(1, range(case.setup.seq_len))
    word = case.key(place)
    moved = _can_change(case.setup, tensor[0], place)
    mixed = f"That is where its {other} counts. Rows of S are queries, columns are keys."
    options = [
        ("row", f"row {word}", mixed),
        ("column", f"column {word}", mixed),
        ("both", f"row and column {word}", f"The {other} of {word} is another vector. It did not change."),
        ("cell", "one cell", f"Every {other} meets this {tensor}, so a whole {line} hangs on it."),
    ]
    kind = _where(moved, place)
    reason = f"{line.capitalize()} {word} of S holds the products of this {tensor} with every {other}."
    measured = f"Each entry was edited in turn: {int(moved.sum())} cells of S moved. They lie in one {kind}."
    question = f"You edit the {tensor} of {word}. Which part of S can change?"
    edits = _telling_edits(case, tensor[0], place)
    return case.choice(question, options, kind, reason, measured, (place, place), {"edits": edits})


def s4(case: Case) -> Item:
    """Two words with the same key."""
    case, one, two = _with_equal_keys(case)
    scores = case.steps.scores
    rows_equal = bool((scores[one] == scores[two]).all())
    columns_equal = bool((scores[:, one] == scores[:, two]).all())
    kind = {(False, True): "columns", (True, False): "rows"}.get((rows_equal, columns_equal), "nothing")
    pair = f"{case.key(one)} and {case.key(two)}"
    options = [
        ("rows", "their rows", "Rows belong to queries, and their queries differ."),
        ("columns", "their columns", ""),
        ("nothing", "nothing: they are two words", "S never sees a word, only its query and its key."),
        ("diagonal", "only their cells on the diagonal", "Each query meets both keys, not only its own."),
    ]
    found = {True: "equal", False: "different"}
    measured = f"{pair} in S: their columns are {found[columns_equal]}, their rows are {found[rows_equal]}."
    reason = (
        "Equal keys give equal scores for every query. "
        "Without a position in the key nothing can tell the two apart."
    )
    question = f"{pair} have the same key. What must be identical in S?"
    return case.choice(question, options, kind, reason, measured, (0, one))


def s5(case: Case) -> Item:
    """S is not symmetric."""
    s = case.steps.scores
    row, col = case.pick((4, 1), cells((s != 0) & (s != s.T) & (-s != s.T)))
    there, back = float(s[row, col]), float(s[col, row])
    kind = {there: "same", -there: "negative", 0.0: "zero"}.get(back, "other")
    forth, reverse = (f"{case.query(i)} → {case.key(j)}" for i, j in ((row, col), (col, row)))
    options = [
        ("same", f"also {number(there)}", "It would be if each word's query equalled its key. They differ."),
        ("negative", number(-there), "Nothing ties the two scores together, not even up to a sign."),
        ("other", "some other number", "Here it happens to be 0: that query and that key share nothing."),
        ("zero", "0", "The other direction is a product of its own, and it is not 0 here."),
    ]
    reason = "Each direction is a product of its own: one word's query with the other word's key."
    measured = f"{forth} is {number(there)}, {reverse} is {number(back)}."
    question = f"The score {forth} is {number(there)}. Then {reverse} is …"
    return case.choice(question, options, kind, reason, measured, (row, col))


def _can_change(setup: Setup, tensor: str, place: int) -> np.ndarray:
    """-> bool (n_q, n_k): cells of S that some edit of this one vector moves."""
    before = run(setup).heads.scores[0]
    moved = np.zeros(before.shape, dtype=bool)
    for channel, value in enumerate(getattr(inputs(setup), tensor)[0, place]):
        edits = with_edit(setup, tensor, 0, place, channel, float(value) + 1)
        after = run(Setup(setup.example, setup.seq_len, setup.d_k, edits=edits)).heads.scores[0]
        moved |= after != before
    return moved


def _telling_edits(case: Case, tensor: str, place: int) -> str:
    """-> edits of this one vector, as few and as small as will move every cell of S that it can move."""
    vector, others = (case.steps.k, case.steps.q) if tensor == "k" else (case.steps.q, case.steps.k)
    able = others.any(axis=-1)
    small = product(range(3), repeat=vector.shape[1])
    steps = sorted(small, key=lambda step: (np.count_nonzero(step), sum(step)))
    step = next(step for step in steps if ((others @ step != 0) == able).all())
    edits = {(tensor, 0, place, i): float(vector[place, i] + step[i]) for i in np.flatnonzero(step).tolist()}
    return written_edits(edits)


def _where(moved: np.ndarray, place: int) -> str:
    """Which part of the matrix the moved cells lie in."""
    row, column = np.zeros_like(moved), np.zeros_like(moved)
    row[place], column[:, place] = True, True
    for name, part in (("cell", row & column), ("row", row), ("column", column), ("both", row | column)):
        if not (moved & ~part).any():
            return name
    return "everywhere"


def _with_equal_keys(case: Case) -> tuple[Case, int, int]:
    """-> case, two words with equal keys and unequal queries; a drawn case gets there by edits."""
    q, k = case.steps.q, case.steps.k
    pairs = [(i, j) for i in range(len(k)) for j in range(i + 1, len(k)) if (q[i] != q[j]).any()]
    one, two = case.pick((0, 3), [pair for pair in pairs if case.seed or (k[pair[0]] == k[pair[1]]).all()])
    if not case.seed:
        return case, one, two
    edits = ";".join(f"k.0.{two}.{channel}={value:g}" for channel, value in enumerate(k[one]))
    return case.on(Setup(case.setup.example, case.setup.seq_len, case.setup.d_k, edits=edits)), one, two
