"""core/experiments/saturation.py and divisors.py: the table of the lesson, with other seeds."""

import numpy as np
import pytest

from core.experiments.divisors import divisor_lab, divisors
from core.experiments.rows import row_statistics, score_rows
from core.experiments.saturation import gradient_curve, nudge_lab, saturation_lab
from core.gradients import jacobian_norm
from core.setup import Setup, run

# d_k: variance, mean largest raw / scaled, median gradient raw / scaled, share of rows above 0.99
EXPECTED = {
    4: (4.0, 0.53, 0.34, 0.37, 0.36, 0.01),
    16: (15.7, 0.75, 0.36, 0.28, 0.37, 0.09),
    64: (64.2, 0.87, 0.36, 0.064, 0.37, 0.36),
    256: (253, 0.94, 0.36, 0.0017, 0.37, 0.64),
    1024: (1027, 0.97, 0.36, 1.9e-6, 0.37, 0.81),
}
IT = np.array([-2.0, 8, 0, -2, 2, -2, 3])  # raw scores of "it"


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("d_k", EXPECTED)
def test_random_rows_give_the_lessons_table(d_k, seed):
    variance, raw_largest, scaled_largest, raw_norm, scaled_norm, saturated = EXPECTED[d_k]
    lab = saturation_lab(d_k, seed=seed)
    assert lab.raw.score_variance == pytest.approx(variance, rel=0.06)
    assert lab.scaled.score_variance == pytest.approx(1, abs=0.05)
    assert lab.raw.mean_largest == pytest.approx(raw_largest, abs=0.02)
    assert lab.scaled.mean_largest == pytest.approx(scaled_largest, abs=0.02)
    assert lab.raw.share_saturated == pytest.approx(saturated, abs=0.03)
    assert lab.scaled.share_saturated < 0.002
    # A median of a quantity that spans ten powers of ten: within a factor of 2 there.
    assert lab.raw.median_norm == pytest.approx(raw_norm, rel=1.0 if d_k > 64 else 0.2)
    assert lab.scaled.median_norm == pytest.approx(scaled_norm, abs=0.02)


def test_the_row_shown_is_the_middle_one():
    lab = saturation_lab(64, n_rows=1001)
    assert lab.raw_row.sum() == pytest.approx(1)
    assert lab.raw_row.argmax() == lab.scaled_row.argmax()
    scores = score_rows(64, 1001, 8, 0)
    largest = 1 / np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1)
    assert lab.raw_row.max() == pytest.approx(np.median(largest))


def test_gradient_falls_with_d_k_only_without_the_scale():
    raw, scaled = gradient_curve(8).series("median_norm")
    assert (np.diff(raw[3:]) < 0).all()
    assert scaled[3:] == pytest.approx(0.37, abs=0.02)
    assert raw[-1] < 1e-5
    dead = gradient_curve(8).series("share_dead")
    assert dead[0][-1] == pytest.approx(0.70, abs=0.03)
    assert (dead[1][2:] == 0).all()


def test_the_mean_hides_the_dead_rows():
    raw, _ = gradient_curve(8).at(256)
    assert raw.mean_norm == pytest.approx(0.08, abs=0.01)
    assert raw.median_norm < raw.mean_norm / 20


def test_among_64_keys_the_mean_is_larger_without_the_scale_up_to_64():
    curve = gradient_curve(64)
    raw, scaled = curve.series("mean_norm")
    assert (raw[(curve.d_ks > 1) & (curve.d_ks <= 64)] > scaled[(curve.d_ks > 1) & (curve.d_ks <= 64)]).all()
    assert (raw[curve.d_ks > 64] < scaled[curve.d_ks > 64]).all()
    assert "up to d_k = 64 it is larger without the scale" in curve.caption
    assert "hides" in gradient_curve(8).caption


def test_nudge_of_the_examples_cell():
    lab = nudge_lab(IT, 4, 1, "it", "kite")
    assert lab.scaled.change == pytest.approx(0.0120, abs=5e-5)
    assert lab.raw.change == pytest.approx(0.0009, abs=5e-5)
    assert "13 times flatter" in lab.caption


@pytest.mark.parametrize(
    ("row", "said"),
    [(np.zeros(3), "about as flat"), (np.eye(7)[1], "the flatter one, 1."), (IT * 1000, "teaches nothing")],
)
def test_nudge_caption_fits_other_rows(row, said):
    assert said in nudge_lab(row, 4, 1, "a", "b").caption


def test_divisors_on_the_example():
    weights = divisor_lab(example_row=IT, n_heads=1).example_weights[:, 1]
    np.testing.assert_allclose(weights, [0.854, 0.529, 0.990, 0.854, 0.529], atol=6e-4)


def test_the_saturation_example_without_and_with_the_scale():
    """Entries ±1, d_k = 64: scores 24 ... -16; 3 ... -2 when scaled."""
    example = run(Setup(example="saturation", seq_len=6, d_k=64)).heads.head(0)
    np.testing.assert_array_equal(example.scores[0], [24, 16, 8, 0, -8, -16])
    weights = divisor_lab(64, n_heads=1, example_row=example.scores[0], example_d_k=64).example_weights
    np.testing.assert_allclose(weights[0], [0.634, 0.233, 0.086, 0.032, 0.012, 0.004], atol=6e-4)
    assert weights[2, 0] == pytest.approx(0.99966, abs=6e-6)
    norms = jacobian_norm(weights)
    assert norms[0] == pytest.approx(0.38, abs=5e-3)
    assert norms[2] == pytest.approx(0.00067, abs=1e-5)
    assert norms[0] / norms[2] == pytest.approx(570, rel=0.02)


def test_no_divisor_changes_who_wins():
    weights = divisor_lab(example_row=IT, n_heads=4).example_weights
    order = np.argsort(IT, kind="stable")
    assert (np.diff(weights[:, order], axis=1) >= 0).all()
    assert (weights.argmax(axis=1) == 1).all()


def test_divisors_on_random_rows():
    lab = divisor_lab(64, n_heads=8)
    variances = [rows.score_variance for rows in lab.rows]
    np.testing.assert_allclose(variances, [1, 1 / 64, 64, 1 / 8, 1 / 64], rtol=0.06)
    order = [rows.mean_largest for rows in lab.rows]
    assert order[1] < order[3] < order[0] < order[2]
    assert [d.name for d in divisors(4, 2)] == ["√d_k", "d_k", "none", "√d_model", "√d_k twice"]
    assert "part" in divisor_lab(64, n_heads=1).caption


def test_a_divisor_does_not_standardise():
    """Queries 100 times too large: scaled scores keep variance 10 000."""
    scores = 100 * score_rows(64, 4000, 8, seed=0)
    assert row_statistics(scores / 8).score_variance == pytest.approx(10_000, rel=0.05)
