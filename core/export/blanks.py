"""Fill in the code: what belongs into each blank. Answers are compared as text, never run."""

import re
from dataclasses import dataclass

GAP = "____"
LONGEST = 60


@dataclass(frozen=True, slots=True)
class CodeBlank:
    """One line of code with one place left open."""

    id: str
    page: str  # slug of the page that explains it
    written: str  # the code as it should be
    open: str  # the same with ____
    about: str  # what the line has to do, with the shapes
    accepted: tuple[str, ...]  # the first is the one to show
    slips: tuple[tuple[tuple[str, ...], str], ...]  # (answers, what they would do)
    hint: str


@dataclass(frozen=True, slots=True)
class CodeChecked:
    """What became of one blank."""

    state: str  # "empty", "right" or "wrong"
    sentence: str


AXIS = CodeBlank(
    id="axis",
    page="softmax",
    written="e.sum(axis=-1, keepdims=True)",
    open=f"e.sum(axis={GAP}, keepdims=True)",
    about="e is (h, n_q, n_k). Each row must sum to 1.",
    accepted=("-1", "2"),
    slips=(
        (("0",), "That adds up over the heads: each cell would share with the same cell of the other heads."),
        (("1", "-2"), "That is the axis of the queries: the columns would sum to 1, not the rows."),
        (("None",), "That adds up everything: the whole map would sum to 1."),
    ),
    hint="A row runs over the keys, and the keys are the last axis.",
)
KEEPDIMS = CodeBlank(
    id="keepdims",
    page="softmax",
    written="z.max(axis=-1, keepdims=True)",
    open=f"z.max(axis=-1, keepdims={GAP})",
    about="z is (h, n_q, n_k); the row maxima are to be subtracted from their rows.",
    accepted=("True", "1"),
    slips=(
        (
            ("False", "0", "None"),
            "Then the maxima are (h, n_q), and broadcasting pairs them with the wrong axis.",
        ),
        (("true",), "Python writes it with a capital T."),
    ),
    hint="The axis of the keys must stay, with size 1, so that each row meets its own maximum.",
)
SQRT = CodeBlank(
    id="sqrt",
    page="scale",
    written="np.sqrt(q.shape[-1])",
    open=f"np.sqrt({GAP})",
    about="q and k are (h, n, d_k). The spread of the scores is to be divided out.",
    accepted=("q.shape[-1]", "d_k", "k.shape[-1]", "q.shape[2]", "k.shape[2]"),
    slips=(
        (("T", "n_q", "n_k", "len(q)", "q.shape[1]", "k.shape[1]", "q.shape[-2]", "k.shape[-2]"),
         "That is the number of words. A score sums over the channels."),
        (("d_model",), "That is the width of all heads together. One head's score sums over d_k channels."),
        (("d_v", "v.shape[-1]", "v.shape[2]"), (
            "That is the width of a value. Values take no part in the "
            "scores."
        )),
        (("n_heads", "h", "q.shape[0]"), "That is the number of heads."),
        (("np.sqrt(d_k)", "sqrt(d_k)", "d_k**0.5"), "The root is there already."),
    ),
    hint="A score is a sum of as many products as a query has channels.",
)  # fmt: skip
TRANSPOSE = CodeBlank(
    id="transpose",
    page="score",
    written="q @ k.swapaxes(-1, -2)",
    open=f"q @ k.swapaxes({GAP})",
    about="q is (h, n_q, d_k), k is (h, n_k, d_k); the scores are (h, n_q, n_k).",
    accepted=("-1,-2", "-2,-1", "1,2", "2,1", "-1,1", "1,-1", "-2,2", "2,-2"),
    slips=(
        (("0,1", "1,0"), "That moves the head axis: heads would meet one another."),
        (("0,2", "2,0", "0,-1", "-1,0"), "That puts the channels first and the heads last."),
        (("-1,-1", "-2,-2", "1,1", "2,2"), "That swaps an axis with itself: nothing happens."),
    ),
    hint="The last two axes of k change places, so that channels meet channels.",
)
ORDER = CodeBlank(
    id="order",
    page="heads",
    written="x.transpose(1, 0, 2).reshape(seq_len, n_heads * d)",
    open=f"x.transpose({GAP}).reshape(seq_len, n_heads * d)",
    about="x is (h, T, d). A word's heads must come to stand side by side: (T, h d).",
    accepted=("1,0,2", "(1,0,2)", "[1,0,2]", "1,0,-1", "-2,0,-1"),
    slips=(
        (("0,1,2",), "Nothing moves then, and the reshape mixes words: a row would hold pieces of several."),
        (("1,2,0",), "That interleaves the heads channel by channel."),
        (("2,1,0", "2,0,1", "0,2,1"), "The channels of a head must stay the last axis."),
        (("1,0", "0,1"), "NumPy's transpose takes the whole order of axes, three of them here."),
    ),
    hint="The reshape joins the last two axes: they must be the head and its channels, in that order.",
)
FILL = CodeBlank(
    id="fill",
    page="mask",
    written="np.where(allowed, scaled, -np.inf)",
    open=f"np.where(allowed, scaled, {GAP})",
    about="scaled is (h, n_q, n_k). A hidden key must get a weight of exactly 0.",
    accepted=("-np.inf", "float('-inf')", "-math.inf", "-float('inf')", "np.float64('-inf')"),
    slips=(
        (("0", "0.0", "-0.0"), "e⁰ = 1: a score of 0 is an ordinary, live score."),
        (("np.inf", "float('inf')", "math.inf"), (
            "The sign: e^∞ would take the whole row, and inf − inf is "
            "NaN."
        )),
        (("-10", "-10.0"), (
            "A little weight leaks, and more where the scores are low "
            "themselves."
        )),
        (("-1e9", "-1e4", "-1e10", "np.finfo(float).min"),
         (
             "It works here, as long as one key of the row is allowed. With none, every key gets the same "
             "share."
         )),
        (("None", "np.nan", "float('nan')"), "Then the whole row becomes NaN."),
    ),
    hint="Which exponent makes e to it exactly 0?",
)  # fmt: skip

NUMPY_BLANKS = (TRANSPOSE, SQRT, FILL, KEEPDIMS, AXIS, ORDER)  # in the order of the steps


def check_code(blank: CodeBlank, text: str) -> CodeChecked:
    """What the reader typed -> how it stands. The text is compared, never run."""
    given = normalised(text)
    if not given:
        return CodeChecked("empty", "")
    if given in {normalised(answer) for answer in blank.accepted}:
        return CodeChecked("right", f"Right: {blank.written}")
    for answers, meaning in blank.slips:
        if given in {normalised(answer) for answer in answers}:
            return CodeChecked("wrong", meaning)
    return CodeChecked("wrong", blank.hint)


def normalised(text: str) -> str:
    """The same code, written the same way: no spaces, one kind of quotes and minus, the usual short name."""
    text = text[:LONGEST].replace("−", "-").replace('"', "'").replace("numpy.", "np.")
    return re.sub(r"\s+", "", text).rstrip(",;")
