"""core/experiments/variance.py and rows.py: the variances, and the fast sampler against real vectors."""

import numpy as np
import pytest

from core.attention import softmax
from core.experiments import rows
from core.experiments.variance import measured_variance, variance_curve, variance_lab


@pytest.mark.parametrize("d_k", [1, 4, 16, 64, 256, 1024])
def test_variance_is_d_k_within_its_interval(d_k):
    """Over 8 seeds the 95 % interval holds d_k at least 6 times, and always within twice its width."""
    labs = [variance_lab(d_k, seed, n=1000) for seed in range(8)]
    assert sum(lab.raw.low <= d_k <= lab.raw.high for lab in labs) >= 6
    assert all(abs(lab.raw.value - d_k) < 2 * (lab.raw.high - lab.raw.low) / 2 for lab in labs)
    assert all(lab.scaled.value == pytest.approx(1, abs=0.4 if d_k == 1 else 0.2) for lab in labs)


def test_interval_covers_in_95_of_100():
    covered = [
        lab.low <= 16 <= lab.high
        for lab in (measured_variance(rows.score_rows(16, 500, 1, seed)[:, 0], 16) for seed in range(600))
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.03)


def test_scaled_variance_is_the_raw_one_divided():
    lab = variance_lab(64)
    assert lab.scaled.value == pytest.approx(lab.raw.value / 64)
    np.testing.assert_allclose(lab.scaled_scores, lab.raw_scores / 8)


def test_the_largest_score_grows_with_the_width():
    largest = [variance_lab(d_k).largest for d_k in (4, 64, 1024)]
    assert largest[0] < largest[1] / 2 < largest[2] / 4
    assert variance_lab(4).largest == np.abs(variance_lab(4).raw_scores).max()


def test_curve_follows_the_line():
    curve = variance_curve(seed=1)
    np.testing.assert_allclose(curve.raw[:, 0], curve.d_ks, rtol=0.15)
    np.testing.assert_allclose(curve.scaled[:, 0], 1, atol=0.15)
    assert (curve.raw[:, 1] < curve.raw[:, 0]).all()
    assert (curve.raw[:, 0] < curve.raw[:, 2]).all()


def test_fast_scores_are_distributed_like_real_ones():
    """Mean, variance and fourth moment, of scores and of the dependence inside a row."""
    rng = np.random.default_rng(0)
    for d_k in (2, 8):
        q, k = rng.normal(size=(40_000, 1, d_k)), rng.normal(size=(40_000, 2, d_k))
        real, fast = (q @ k.swapaxes(1, 2))[:, 0], rows.score_rows(d_k, 40_000, 2, seed=0)
        assert fast.mean() == pytest.approx(real.mean(), abs=0.06)
        assert fast.var() == pytest.approx(real.var(), rel=0.06)
        assert np.abs(fast).mean() == pytest.approx(np.abs(real).mean(), rel=0.03)
        both = [np.corrcoef(s[:, 0] ** 2, s[:, 1] ** 2)[0, 1] for s in (real, fast)]
        assert both[0] == pytest.approx(both[1], abs=0.06)
        assert both[0] > 0.05  # they share the query's length


def test_real_scores_are_dot_products_of_the_seed():
    q, k = np.random.default_rng(5).standard_normal((2, 3, 4), dtype=np.float32)
    np.testing.assert_allclose(rows.real_scores(4, 3, 5), (q * k).sum(axis=1), rtol=1e-6)


def test_row_statistics_count_what_they_say():
    scores = np.array([[0.0, 0.0], [10.0, 0.0], [4.0, 0.0], [5.0, 0.0]])
    largest = softmax(scores).max(axis=-1)
    found = rows.row_statistics(scores)
    assert found.mean_largest == pytest.approx(largest.mean())
    assert found.share_saturated == 0.5  # 10 and 5; 4 gives 0.982
    assert found.share_dead == 0.25  # 10 alone: 2 a (1 - a) = 0.00009
    assert found.effective_keys == pytest.approx(2**found.mean_entropy)


@pytest.mark.parametrize(("d_k", "n"), [(0, 10), (4, 1), (2.5, 10)])
def test_sizes_that_make_no_sense_are_refused(d_k, n):
    with pytest.raises(ValueError, match="must be a whole number of at least"):
        variance_lab(d_k, n=n)


@pytest.mark.parametrize("d_k", [4, 64, 1024])
def test_the_caption_tells_the_measured_variance_from_the_exact_one(d_k):
    """Measured it is one number here and another there; exactly it is 1 at every width."""
    lab = variance_lab(d_k)
    assert f"they have variance {lab.scaled.value:.2f} (" in lab.caption
    assert f"{lab.scaled.low:.2f} to {lab.scaled.high:.2f}; exactly 1, whatever d_k is)" in lab.caption
