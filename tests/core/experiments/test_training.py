"""core/experiments/training.py, lookup.py and fetching.py: against torch.optim, and over several seeds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.experiments import lookup
from core.experiments.fetching import fetch
from core.experiments.training import Training, control_pair, scale_pair, sweep, train, train_pair
from core.gradients import attention_backward

GOLDEN = dict(np.load(Path(__file__).parents[2] / "golden" / "labs.npz"))
SEEDS = range(5)


def last(progress):
    for one in progress:
        found = one
    return found


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(("optimiser", "rate"), [("sgd", 10.0), ("adam", 0.05)])
def test_losses_are_those_of_torch_optim(optimiser, rate, scaled):
    found = last(train(Training(16, scaled, rate, optimiser, n_steps=5)))
    golden = GOLDEN[f"training_{optimiser}_{'scaled' if scaled else 'unscaled'}"]
    np.testing.assert_allclose(found.losses, golden, rtol=1e-9)


@pytest.fixture(scope="module")
def wide():
    return [last(train_pair(*scale_pair(Training(256, seed=seed)), every=200)) for seed in SEEDS]


def test_at_256_the_scaled_one_learns_and_the_other_sticks(wide):
    assert all(lab.first.test_accuracy > 0.97 for lab in wide)
    assert all(0.4 < lab.second.test_accuracy < 0.75 for lab in wide)
    assert np.mean([lab.second.test_accuracy for lab in wide]) == pytest.approx(0.56, abs=0.08)
    assert all(lab.first.test_loss < 0.1 < 0.7 < lab.second.test_loss for lab in wide)


def test_many_wrong_rows_are_dead_without_the_scale_and_none_with_it(wide):
    assert np.mean([lab.second.dead_share for lab in wide]) == pytest.approx(0.42, abs=0.08)
    assert all(lab.first.dead_share == 0 for lab in wide)


def test_yet_the_whole_gradient_is_larger_without_the_scale(wide):
    assert all(lab.second.gradient_norms[0] > 3 * lab.first.gradient_norms[0] for lab in wide)


def test_at_4_both_learn_and_the_unscaled_one_faster():
    labs = [last(train_pair(*scale_pair(Training(4, seed=seed, n_steps=400)), every=400)) for seed in SEEDS]
    assert np.mean([lab.first.test_accuracy for lab in labs]) > 0.95
    assert np.mean([lab.second.test_accuracy for lab in labs]) > 0.95
    early = [np.mean([getattr(lab, one).losses[:100].mean() for lab in labs]) for one in ("first", "second")]
    assert early[1] < early[0]


def test_the_controls_show_that_the_size_of_the_scores_is_the_cause():
    labs = [last(train_pair(*control_pair(Training(256, seed=seed)), every=200)) for seed in SEEDS]
    assert all(lab.first.test_accuracy > 0.97 for lab in labs)  # no scale, small start
    assert all(lab.second.test_accuracy < 0.75 for lab in labs)  # scale, large start
    assert labs[0].names == ("without the scale, small start", "with the scale, large start")


@pytest.mark.parametrize(
    ("optimiser", "rates", "stuck"), [("sgd", (3.0, 10.0, 100.0), 0.7), ("adam", (0.03,), 0.3)]
)
def test_each_at_its_own_best_step_size(optimiser, rates, stuck):
    tried = list(sweep(Training(256, optimiser=optimiser, n_steps=400), rates))
    assert [one.finished for one in tried] == [False] * (len(rates) - 1) + [True]
    best = tried[-1].best
    assert best.first.test_loss < 0.01
    assert best.second.test_loss > stuck
    assert best.second.test_loss == min(one.test_loss for one in tried[-1].unscaled)


def test_progress_can_be_stopped_and_repeats_by_its_seed():
    training = Training(16, n_steps=30)
    progress = train(training, every=10)
    first = next(progress)
    assert (first.step, first.finished) == (10, False)
    progress.close()
    again = list(train(training, every=10))
    np.testing.assert_array_equal(again[0].losses, first.losses)
    assert [one.step for one in again] == [10, 20, 30]
    assert again[-1].finished
    other = next(train(replace(training, seed=1), every=10))
    assert not np.array_equal(other.losses, first.losses)


def test_smooth_losses_are_means_of_ten():
    found = last(train(Training(4, n_steps=25)))
    assert found.smooth_losses[24] == pytest.approx(found.losses[15:25].mean())
    assert found.smooth_losses[3] == pytest.approx(found.losses[:4].mean())


def test_a_batch_holds_what_the_task_says():
    batch = lookup.draw_batch(np.random.default_rng(0), 50)
    assert (batch.allowed.sum(axis=-1) == lookup.SEQ_LEN).all()
    assert batch.allowed[np.arange(50), 0, batch.asked].all()  # the symbol asked for stands in the sequence
    assert (batch.v[np.arange(50), batch.asked].argmax(axis=-1) == batch.answer).all()


def test_the_dead_share_counts_wrong_rows_alone():
    """Keys far apart: rows that look at the right key are as flat as those that look at a wrong one."""
    batch = lookup.draw_batch(np.random.default_rng(0), 200)
    queries = np.random.default_rng(1).permutation(np.eye(lookup.N_SYMBOLS))
    queries[:16] = np.eye(lookup.N_SYMBOLS)[:16]  # half of the symbols ask for themselves
    steps = lookup.forward(100 * queries, np.eye(lookup.N_SYMBOLS), batch, 1.0)
    _, right, d_output = lookup.cross_entropy(steps.output, batch.answer)
    gradients = attention_backward(steps, d_output, 1.0)
    norms = np.linalg.norm(gradients.masked_scores[:, 0], axis=-1) * 200
    wrong = steps.output[:, 0].argmax(axis=-1) != batch.answer
    assert 0.2 < right < 0.9
    assert lookup.dead_share(gradients, steps, batch.answer) == (norms[wrong] < 1e-3).mean()
    assert (norms[wrong] < 1e-3).mean() < (norms < 1e-3).mean()
    assert lookup.dead_share(gradients, steps, steps.output[:, 0].argmax(axis=-1)) == 0.0


def test_all_weight_on_the_right_key_gives_the_best_loss():
    batch = lookup.draw_batch(np.random.default_rng(0), 8)
    output = np.eye(lookup.N_LABELS)[batch.answer][:, None]
    loss, right, _ = lookup.cross_entropy(output, batch.answer)
    assert loss == pytest.approx(0, abs=1e-12)
    assert right == 1


@pytest.mark.parametrize(
    "wrong",
    [{"d_k": 0}, {"n_steps": 0}, {"learning_rate": 0.0}, {"learning_rate": float("nan")}, {"optimiser": "x"}],
)
def test_what_cannot_be_trained_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must be"):
        Training(**wrong)


def test_pairs_in_step_need_as_many_steps():
    with pytest.raises(ValueError, match="30 and 20"):
        next(train_pair(Training(4, n_steps=30), Training(4, n_steps=20)))


@pytest.mark.parametrize(
    ("d_k", "rate", "scaled", "unscaled"),
    [
        (256, 0.3, (0.97, 1), (0.20, 0.32)),
        (256, 3.0, (0.97, 1), (0.20, 0.32)),
        (64, 0.3, (0.97, 1), (0.30, 0.60)),
        (64, 3.0, (0.97, 1), (0.30, 0.60)),
        (4, 1.0, (0.79, 0.95), (0.87, 0.99)),
    ],
)
def test_fetching_one_value(d_k, rate, scaled, unscaled):
    lab = last(fetch(d_k, rate, seed=1))
    assert lab.finished
    assert scaled[0] <= lab.scaled[-1] <= scaled[1]
    assert unscaled[0] <= lab.unscaled[-1] <= unscaled[1]


def test_fetching_over_five_seeds():
    labs = [last(fetch(64, 1.0, seed, n_runs=60)) for seed in SEEDS]
    assert all(lab.scaled[-1] > 0.97 for lab in labs)
    assert all(0.25 < lab.unscaled[-1] < 0.65 for lab in labs)


def test_fetching_yields_as_it_goes():
    seen = [len(lab.scaled) for lab in fetch(4, n_steps=50, n_runs=5, every=20)]
    assert seen == [20, 40, 50]
