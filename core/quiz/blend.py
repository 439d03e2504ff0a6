"""Items of the blend page. Each takes a Case and lets the core find the answer."""

from itertools import permutations

import numpy as np

from core.attention import attention
from core.edits import written_edits
from core.experiments.prose import fixed, sizes
from core.numbers import number
from core.quiz.case import Case
from core.quiz.model import Item
from core.setup import Setup

CHANGES = (  # what is done to V, what the output does then, the factor, what is added
    ("double V", "doubles", 2.0, 0.0),
    ("triple V", "triples", 3.0, 0.0),
    ("halve V", "is halved", 0.5, 0.0),
    ("turn the sign of every number of V", "turns its signs", -1.0, 0.0),
    ("multiply V by 10", "is multiplied by 10", 10.0, 0.0),
    ("divide V by 4", "is divided by 4", 0.25, 0.0),
    ("add 5 to every number of V", "rises by 5", 1.0, 5.0),
    ("subtract 2 from every number of V", "falls by 2", 1.0, -2.0),
)


def b1(case: Case) -> Item:
    """No output leaves the range of its values."""
    channel = case.pick(0, range(case.steps.v.shape[1]))
    values, outputs = case.steps.v[:, channel], case.steps.output[:, channel]
    low, high = float(values.min()), float(values.max())
    distinct = {f"{output:.2f}": row for row, output in enumerate(outputs)}
    rows = case.pick((3, 0, 4), list(permutations(distinct.values(), 3)))
    shown = {f"{outputs[row]:.2f}": f"That is the output of {case.query(row)}." for row in rows}
    shown[f"{high + 0.5:g}"] = ""
    outside = [text for text in shown if not low <= float(text) <= high]
    name = f"“{case.inputs.value_channels[channel]}”"
    return case.choice(
        f"Column {name} of V holds values from {number(low)} to {number(high)}. Which output cannot be "
        "there?",
        [(text, text, meaning) for text, meaning in shown.items()],
        outside[0],
        "Weights that are never negative and sum to 1 make an average, and an average stays inside the "
        "range of what it averages.",
        f"Values in {name}: {number(low)} to {number(high)}. Outputs: {outputs.min():.2f} to "
        f"{outputs.max():.2f}.",
        (rows[0], 0),
    )


def b2(case: Case) -> Item:
    """V does not choose."""
    verb, does, factor, added = case.pick(CHANGES[0], CHANGES)
    changed = factor * case.steps.v + added
    before, after = case.steps, attention(case.steps.q, case.steps.k, changed)
    weights_moved = float(np.abs(after.weights - before.weights).max())
    found = (weights_moved > 0, bool(np.allclose(after.output, factor * before.output + added)))
    key = {(False, True): "output", (True, True): "both", (True, False): "weights"}.get(found, "nothing")
    options = [
        (
            "weights",
            "the weights change, the output stays",
            ("V takes no part in choosing: Q and K alone make A."),
        ),
        ("output", f"the output {does}, A stays", ""),
        ("nothing", "nothing: softmax normalises", "Softmax has done its work before V comes in."),
        ("both", f"A {does}, and the output with it", "A row of A always sums to 1."),
    ]
    row, col = case.pick((4, 1), [(i, int(weights.argmax())) for i, weights in enumerate(before.weights)])
    measured = (
        f"Weights moved by {number(weights_moved)}. The output of {case.query(row)} went from "
        f"{fixed(before.output[row, 0])} to {fixed(after.output[row, 0])}."
    )
    reason = "V enters only in the last step, which is a plain matrix product."
    if added:
        reason = "V enters only in the last step. What every value gains, their average gains too."
    lab = {"blend_lab": "Doubling", "doubled": "V"}
    show = lab if (factor, added) == (2, 0) else {"edits": _edits(case.steps.v, changed)}
    return case.choice(f"You {verb}. What happens?", options, key, reason, measured, (row, col), show)


def b3(case: Case) -> Item:
    """The shape of the output."""
    seq_len, d_k = case.pick(7, (5, 6, 7, 9)), case.pick(4, (2, 4, 8))
    case = case.on(Setup(case.setup.example, seq_len=seq_len, d_k=d_k))
    q, v, weights, output = case.steps.q, case.steps.v, case.steps.weights, case.steps.output
    mixed = f"{d_k} × {v.shape[1]}"
    options = [
        (sizes(q), sizes(q), "The width of the output is V's. Only Q and K must be equally wide."),
        (sizes(output), sizes(output), ""),
        (sizes(weights), sizes(weights), "That is A, before it meets V."),
        (mixed, mixed, "The rows of the output are the queries, not the channels."),
    ]
    reason = (
        f"({sizes(weights)}) times ({sizes(v)}). The width of V is free; only Q and K must agree with "
        "each other."
    )
    question = f"Q and K are {sizes(q)}, V is {sizes(v)}. What is the shape of the output?"
    return case.choice(question, options, sizes(output), reason, f"The core's output is {sizes(output)}.")


def _edits(before: np.ndarray, after: np.ndarray) -> str:
    """The edits that turn one V of head 0 into the other."""
    cells = np.argwhere(before != after).tolist()
    return written_edits({("v", 0, row, channel): float(after[row, channel]) for row, channel in cells})
