"""Show it: the state that opens holds the numbers of the claim."""

from dataclasses import replace

import numpy as np
import pytest

from core import quiz
from core.experiments.divisors import divisor_lab
from core.experiments.heads_compared import width_lab
from core.experiments.masking import mask_lab
from core.experiments.prose import fixed
from core.faults.broken import broken
from core.quiz.symptoms import BROKEN, faulty_weights
from core.setup import allowed, changed, inputs, run

SEEDS = range(8)


def shown(item):
    """The state that opens."""
    return replace(item.setup, edits=item.show.get("edits", item.setup.edits))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_edited_vector_moves_all_that_it_can(seed):
    item = quiz.item("S3", seed)
    moved = changed(shown(item))["scores"][0]
    assert f"{moved.sum()} cells of S moved. They lie in one {item.answer}" in item.measured
    line = moved[item.row] if item.answer == "row" else moved[:, item.col]
    assert moved.sum() == line.sum() > 0
    assert changed(shown(item))["q" if item.answer == "row" else "k"].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_divisor_stands_in_the_lab(seed):
    item = quiz.item("C3", seed)
    scores = run(item.setup).heads.scores[0, item.row]
    lab = divisor_lab(64, 8, 0, scores, item.setup.d_k)
    wrong = "none" if "forgets" in item.question else "d_k"
    weights = dict(zip((one.name for one in lab.divisors), lab.example_weights[:, item.col], strict=True))
    assert f"from {weights['√d_k']:.3f} to {weights[wrong]:.3f}" in item.measured


@pytest.mark.parametrize("seed", SEEDS)
def test_the_shift_is_the_one_that_was_asked_about(seed):
    item = quiz.item("W1", seed)
    amount = item.show["shift"]
    assert f"Add {amount} ".replace("-", "−") in item.question
    assert amount % 50 == 0  # the slider's step
    assert abs(amount) <= 1000
    assert item.col == run(item.setup).heads.weights[0, item.row].argmax()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_changed_values_give_the_output_that_was_told(seed):
    item = quiz.item("B2", seed)
    before, after = run(item.setup), run(shown(item))
    if "edits" not in item.show:
        assert "You double V" in item.question
        assert item.show == {"blend_lab": "Doubling", "doubled": "V"}
        return
    outputs = [steps.heads.output[0, item.row, 0] for steps in (before, after)]
    assert f"went from {fixed(outputs[0])} to {fixed(outputs[1])}" in item.measured
    np.testing.assert_array_equal(before.heads.weights, after.heads.weights)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_wrong_mask_stands_in_the_lab(seed):
    item = quiz.item("M4", seed)
    given = inputs(item.setup)
    lab = mask_lab(given.q[0], given.k[0], given.v[0], allowed(item.setup))
    weights = next(one.weights for one in lab.variants if one.name == item.show["variant"])
    assert f"get {weights[item.row, item.row + 1 :].sum():.3f} together" in item.measured


@pytest.mark.parametrize("seed", SEEDS)
def test_the_wide_head_stands_in_the_lab(seed):
    item = quiz.item("H4", seed)
    given = inputs(item.setup)
    lab = width_lab(given.q, given.k, given.v, given.query_tokens, given.key_tokens, allowed(item.setup))
    told = f"{lab.wide.weights[item.row, item.col]:.2f}"
    assert f"“{given.key_tokens[item.col]}” {told}" in item.measured.partition("the one head gives")[2]


@pytest.mark.parametrize("item_id", ["D1", "D2"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_fault_is_the_one_of_the_page_break_it(item_id, seed):
    item = quiz.item(item_id, seed)
    assert item.seen_on == "break_it"
    assert item.show["broken"] == BROKEN[item.answer]
    given, may_attend = inputs(item.setup), allowed(item.setup)
    every = np.ones(2 * [item.setup.seq_len], dtype=bool)
    weights = faulty_weights(item.answer, given.q[0], given.k[0], every if may_attend is None else may_attend)
    opened = replace(
        item.setup, **{name: item.show[name] for name in ("mask", "window") if name in item.show}
    )
    made = broken(opened, item.show["broken"])
    np.testing.assert_allclose(made.wrong.weights[0], weights, atol=1e-12)
