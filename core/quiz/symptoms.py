"""Items of the clinic page: a printout, and the fault that explains it.

Every suspect's printout is made by running the suspect, so the answer is the one that prints the same.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.attention import softmax
from core.experiments.prose import fixed
from core.quiz.case import Case
from core.quiz.model import Item
from core.setup import Setup, allowed

SUSPECTS = {
    "mask": "missing mask",
    "scale": "missing scale",
    "axis": "softmax over the wrong axis",
    "swap": "Q and K swapped",
    "late mask": "mask after softmax",
    "no softmax": "no softmax",
    "late scale": "scale after softmax",
}
BROKEN = {  # the same fault on the page Break it
    "mask": "mask.missing_causal",
    "scale": "scale.missing",
    "axis": "softmax.axis_query",
    "swap": "score.qk_swapped",
    "late mask": "mask.after_softmax",
    "no softmax": "softmax.missing",
    "late scale": "scale.after_softmax",
}
DOES = {
    "mask": "Without the mask, later words get weight.",
    "scale": "Without the scale, the rows are near one-hot at this width.",
    "axis": "Over the wrong axis, the columns sum to 1 and the rows do not.",
    "swap": "Swapped, S is transposed. Softmax and mask are untouched, and so is the spread of the rows.",
    "late mask": "Masked after softmax, every row but the last sums to less than 1.",
    "no softmax": "Without softmax the rows sum to anything, also below 0.",
    "late scale": "Divided after softmax, all rows have the same sum, 1/√d_k.",
}


@dataclass(frozen=True, slots=True, eq=False)
class Printout:
    """What somebody printed of their weights."""

    row_sums: np.ndarray  # (n_q,)
    column_sums: np.ndarray  # (n_k,)
    future: float  # the largest weight on a later word
    typical_max: float  # the median of the rows' largest weights

    def same(self, other: "Printout") -> bool:
        """Whether both print the same."""
        mine, theirs = (
            np.hstack([p.row_sums, p.column_sums, p.future, p.typical_max]) for p in (self, other)
        )
        return bool(np.allclose(mine, theirs))


def faulty_weights(fault: str, q: np.ndarray, k: np.ndarray, may_attend: np.ndarray) -> np.ndarray:
    """q, k (T, d_k), may_attend (T, T) -> the weights (T, T) that an implementation with this fault makes."""
    root = np.sqrt(q.shape[-1])
    scores = k @ q.T if fault == "swap" else q @ k.T
    scaled = scores if fault in ("scale", "late scale") else scores / root
    masked = scaled if fault in ("mask", "late mask") else np.where(may_attend, scaled, -np.inf)
    if fault == "no softmax":
        return np.where(may_attend, scaled, 0.0)
    weights = softmax(masked.T).T if fault == "axis" else softmax(masked)
    if fault == "late mask":
        return weights * may_attend
    return weights / root if fault == "late scale" else weights


def printout(weights: np.ndarray) -> Printout:
    """Weights (T, T) -> what is read off them."""
    future = float(np.triu(weights, 1).max())
    return Printout(weights.sum(-1), weights.sum(-2), future, float(np.median(weights.max(-1))))


def d1(case: Case) -> Item:
    """Saturated rows at a large width."""
    fault = case.pick("scale", ("scale", "mask", "axis"))
    case = case.on(Setup("random", 12, 64, "causal", seed=case.seed))
    shown, key = _show_and_find(case, fault, ("mask", "scale", "axis", "swap"))
    normal = np.allclose(shown.row_sums, 1)
    sums = (
        "every row sums to 1"
        if normal
        else f"row sums from {shown.row_sums.min():.2f} to {shown.row_sums.max():.2f}"
    )
    future = "no weight on later words" if shown.future == 0 else f"up to {shown.future:.2f} on a later word"
    right = printout(faulty_weights("none", case.steps.q, case.steps.k, _may(case.setup)))
    question = (
        f"A causal model, d_k = 64. A printout of A says: {sums}, {future}, and the rows' largest weight is "
        f"typically (median) {shown.typical_max:.3f}. Which suspect comes first?"
    )
    measured = (
        f"Done rightly, the same queries and keys have a typical largest weight of {right.typical_max:.3f}."
    )
    return _item(case, question, ("mask", "scale", "axis", "swap"), key, measured)


def d2(case: Case) -> Item:
    """Sums that tell which step went wrong."""
    suspects = ("late mask", "axis", "no softmax", "late scale")
    fault = case.pick("axis", suspects)
    case = case.on(replace(case.setup, mask="causal" if fault == "late mask" else "none"))
    shown, key = _show_and_find(case, fault, suspects)
    sums, ones = _list(shown.row_sums), np.allclose(shown.column_sums, 1)
    columns = "every column sums to 1" if ones else f"column sums {_list(shown.column_sums)}"
    question = f"Row sums of somebody's A: {sums}; {columns}. What happened?"
    return _item(case, question, suspects, key, f"Running that fault prints the same row sums: {sums}.")


def _item(case: Case, question: str, suspects: tuple[str, ...], key: str, measured: str) -> Item:
    options = [(name, SUSPECTS[name], f"{DOES[name]} The printout shows otherwise.") for name in suspects]
    show: dict[str, int | float | str] = {"broken": BROKEN[key], "mystery": 0}
    if case.setup.mask == "none":  # that page shows a causal mask in place of none; this one hides nothing
        show |= {"mask": "window", "window": case.setup.seq_len}
    made = case.choice(question, options, key, DOES[key], measured, show=show)
    return replace(made, show_page="break_it")


def _show_and_find(case: Case, fault: str, suspects: tuple[str, ...]) -> tuple[Printout, str]:
    """Print the faulty weights; run every suspect and find the one that prints the same."""
    q, k, may_attend = case.steps.q, case.steps.k, _may(case.setup)
    shown = printout(faulty_weights(fault, q, k, may_attend))
    fits = [name for name in suspects if printout(faulty_weights(name, q, k, may_attend)).same(shown)]
    if len(fits) != 1:
        raise ValueError(f"item {case.id}, seed {case.seed}: the printout fits {fits}")
    return shown, fits[0]


def _may(setup: Setup) -> np.ndarray:
    hidden = allowed(setup)
    return np.ones((setup.seq_len, setup.seq_len), dtype=bool) if hidden is None else hidden


def _list(values: np.ndarray) -> str:
    return ", ".join(fixed(value) for value in values)
