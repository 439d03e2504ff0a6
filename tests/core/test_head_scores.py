"""core/head_scores.py: the shipped weights do on held-out items what the page says that they do."""

import time

import numpy as np
import pytest

from core import head_scores
from core.attention import attention
from core.grammar import MAX_LEN, VOCABULARY
from core.head_scores import JOBS, cut_cells, measure, strongest_cut
from core.held_out import N_TEXTS, TASKS, held_out
from core.tiny_model import N_HEADS, N_LAYERS, Change, Cut, forward, run_model

ALL_HEADS = [(layer, head) for layer in range(N_LAYERS) for head in range(N_HEADS)]


def best_head(job: str) -> tuple[int, int]:
    layer, head = divmod(int(measure().heads.weight[job].argmax()), N_HEADS)
    return layer, head


def off(*heads: tuple[int, int]) -> head_scores.Measured:
    return measure(Change(off=frozenset(heads)))


# What the weights must do


@pytest.mark.parametrize(
    ("task", "least"),
    [("subject", 0.99), ("predicate", 0.99), ("brackets", 0.99), ("coreference", 0.97), ("induction", 0.97)],
)
def test_held_out_accuracy(task: str, least: float) -> None:
    assert measure().accuracy[task] >= least


@pytest.mark.parametrize("job", ["previous", "induction", "subject", "predicate", "coreference", "brackets"])
def test_at_least_one_head_does_the_job(job: str) -> None:
    table, (layer, head) = measure().heads, best_head(job)
    assert table.weight[job][layer, head] > 0.5
    assert table.weight[job][layer, head] > 5 * table.uniform[job]
    assert job in table.jobs(layer, head)


# The table says what it claims


def test_the_scores_equal_a_slow_count() -> None:
    """Each mean again, cell by cell, from one head's maps."""
    items, table = held_out(), measure().heads
    layer, head = 1, 3
    maps = forward(items.ids).layers[layer].multi_head.heads.weights[:, head]
    cells = {job: [] for job in JOBS}
    for ids, weights in zip(items.ids[:N_TEXTS], maps, strict=False):
        for i in range(1, MAX_LEN):
            cells["previous"].append(weights[i, i - 1])
            cells["first"].append(weights[i, 0])
            cells["itself"].append(weights[i, i])
            if (ids[:i] == ids[i]).any():
                cells["same_token"].append(weights[i, :i][ids[:i] == ids[i]].sum())
    for name, task in items.tasks.items():
        cells[name] = [maps[r, q, k] for r, q, k in zip(task.row, task.query, task.key, strict=True)]
    for job in JOBS:
        assert table.weight[job][layer, head] == pytest.approx(np.mean(cells[job]), abs=1e-5)
    rival = [maps[r, q][on].sum() for r, q, on in _rivals("coreference")]
    assert table.rival["coreference"][layer, head] == pytest.approx(np.mean(rival), abs=1e-5)
    positive = np.where(maps[:N_TEXTS] > 0, maps[:N_TEXTS], 1)
    assert table.entropy[layer, head] == pytest.approx(
        -(positive * np.log2(positive)).sum(-1).mean(), abs=1e-4
    )
    back = np.arange(MAX_LEN)[:, None] - np.arange(MAX_LEN)
    assert table.distance[layer, head] == pytest.approx((maps[:N_TEXTS] * back).sum(-1).mean(), abs=1e-4)


def _rivals(name: str) -> list[tuple[int, int, np.ndarray]]:
    task = held_out().tasks[name]
    return list(zip(task.row, task.query, task.rivals, strict=True))


def test_the_uniform_head_is_one_over_n() -> None:
    table = measure().heads
    n = np.arange(2, MAX_LEN + 1)
    for job in ("previous", "first", "itself"):
        assert table.uniform[job] == pytest.approx((1 / n).mean())
    for name in TASKS:
        query = held_out().tasks[name].query
        assert table.uniform[name] == pytest.approx((1 / (query + 1)).mean())
    assert table.uniform_entropy == pytest.approx(np.log2([1, *n]).mean())
    assert table.uniform_distance == pytest.approx(np.arange(MAX_LEN).mean() / 2)


def test_a_model_without_preferences_scores_uniform() -> None:
    """With every head's queries at zero each table entry is the baseline, so the two are of one measure."""
    items = held_out()
    steps = forward(items.ids, attend=lambda q, k, v, allowed: attention(np.zeros_like(q), k, v, allowed))
    table = head_scores._head_table(items, steps)
    for job in JOBS:
        assert np.allclose(table.weight[job], table.uniform[job], atol=1e-5), job
    assert np.allclose(table.entropy, table.uniform_entropy, atol=1e-4)
    assert np.allclose(table.distance, table.uniform_distance, atol=1e-3)


def test_the_loss_is_the_mean_surprise() -> None:
    ids = held_out().ids[:N_TEXTS]
    probabilities = forward(held_out().ids).probabilities
    came = [probabilities[r, i, ids[r, i + 1]] for r in range(N_TEXTS) for i in range(MAX_LEN - 1)]
    assert measure().text_loss == pytest.approx(-np.log(came).mean(), abs=1e-4)


def test_measuring_is_quick_enough_for_a_page() -> None:
    times = []
    for fault in ("", "scale.missing", "scale.by_d_k"):
        measure.cache_clear()
        start = time.process_time()
        measure(Change(fault=fault))
        times.append(time.process_time() - start)
    assert min(times) < 1


def test_cuts_are_not_measured_over_all_rows() -> None:
    with pytest.raises(ValueError, match="a cut belongs to one sentence"):
        measure(Change(cuts=(Cut(0, 0, 1, 0),)))


# Interventions: what the page says about them is true


def test_a_head_that_does_a_job_is_needed_for_it() -> None:
    right = measure().accuracy
    assert off(best_head("coreference")).accuracy["coreference"] < 0.6 < right["coreference"]
    assert off(best_head("predicate")).accuracy["predicate"] < 0.6 < right["predicate"]
    assert off(best_head("subject")).accuracy["subject"] < 0.6 < right["subject"]
    assert off(best_head("induction")).accuracy["induction"] < 0.6 < right["induction"]


def test_the_sharpest_head_is_needed_by_no_task_though_by_the_texts() -> None:
    """No task drops by more than .02 without it. What it does for the texts, no score of the table names."""
    table, right = measure().heads, measure().accuracy
    layer, head = divmod(int(table.entropy.argmin()), N_HEADS)
    assert table.entropy[layer, head] < 0.1 * table.uniform_entropy
    without = off((layer, head))
    assert max(right[task] - without.accuracy[task] for task in TASKS) < 0.02
    assert table.jobs(layer, head) == ()
    assert without.text_loss > measure().text_loss + 0.2


def test_some_head_holds_several_jobs_and_some_none() -> None:
    counts = [len(measure().heads.jobs(*head)) for head in ALL_HEADS]
    assert max(counts) >= 2
    assert min(counts) == 0


@pytest.mark.parametrize("task", ["coreference", "subject"])
def test_cutting_one_cell_breaks_the_prediction_and_a_control_does_not(task: str) -> None:
    cut = cut_cells(task, *best_head(task))
    assert cut.n >= 100
    assert cut.before == pytest.approx(measure().probability[task], abs=1e-6)
    assert cut.after < 0.35 * cut.before
    assert cut.control > 0.95 * cut.before


def test_the_strongest_cut_is_the_largest_difference_of_all_cuts() -> None:
    pairs = [("brackets", *best_head("brackets")), ("coreference", 0, 0), ("coreference", 0, 3)]
    lost = {pair: cut_cells(*pair).before - cut_cells(*pair).after for pair in pairs}
    assert strongest_cut(pairs) == max(lost, key=lost.__getitem__)
    assert strongest_cut(pairs[::-1]) == strongest_cut(pairs)
    assert len({round(value, 3) for value in lost.values()}) == len(pairs), (
        "the pairs differ, so it was a choice"
    )


def test_a_cut_over_all_items_equals_one_cut_in_one_sentence() -> None:
    layer, head = best_head("coreference")
    task, items = held_out().tasks["coreference"], held_out()
    row, query, key = int(task.row[0]), int(task.query[0]), int(task.key[0])
    words = tuple(VOCABULARY[i] for i in items.ids[row][1:])
    change = Change(cuts=(Cut(layer, head, query, key),))
    alone = run_model(words, change).probabilities[query]
    allowed = head_scores._without(layer, head, task.query[:1], task.key[:1])
    batch = forward(items.ids[[row]], allowed=allowed).probabilities[0, query]
    assert np.allclose(alone, batch, atol=1e-6)


def test_a_missing_scale_costs_little_at_inference_here() -> None:
    right, broken = measure(), measure(Change(fault="scale.missing"))
    assert 0.02 < broken.text_loss - right.text_loss < 0.3
    assert broken.accuracy["coreference"] > 0.97


def test_dividing_by_d_k_costs_more() -> None:
    broken = measure(Change(fault="scale.by_d_k"))
    assert broken.text_loss - measure().text_loss > 0.3
    assert broken.accuracy["coreference"] < 0.75


@pytest.mark.parametrize(
    "fault",
    ["mask.after_softmax", "mask.missing_causal", "heads.split_without_transpose", "score.qk_swapped"],
)
def test_these_faults_destroy_the_model(fault: str) -> None:
    broken = measure(Change(fault=fault))
    assert broken.text_loss > 2 * measure().text_loss
    assert broken.accuracy["coreference"] < 0.25
    assert broken.accuracy["induction"] < 0.25
