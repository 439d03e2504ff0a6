"""The softmax labs: hardness, shift, axis, slopes, dilution, and PyTorch's short formats."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.attention import softmax
from core.experiments import formats
from core.experiments.dilution import dilution_lab
from core.experiments.hardness import axis_lab, hard_output, hardness_lab, shift_lab, soft_hard_lab
from core.setup import Setup, inputs, run

GOLDEN = dict(np.load(Path(__file__).parents[2] / "golden" / "labs.npz"))
KITE = run(Setup()).heads.head(0)
WORDS = inputs(Setup()).key_tokens
IT = KITE.scaled_scores[4]
SCORES = arrays(np.float64, st.integers(2, 9), elements=st.floats(-20, 20))
BY_NAME = {form.name: form for form in formats.FORMATS}


def test_hardness_from_even_to_argmax():
    even, usual, hard = (hardness_lab(IT, m, WORDS) for m in (0, 1, 10))
    np.testing.assert_allclose(even.weights, 1 / 7)
    assert even.entropy == pytest.approx(math.log2(7))
    assert usual.weights[1] == pytest.approx(0.854, abs=5e-4)
    assert usual.weights.min() == pytest.approx(0.0058, abs=5e-5)
    assert hard.weights[1] == pytest.approx(1 - 1e-10, abs=1e-10)
    assert (hard.weights > 0).all()


@given(SCORES, st.floats(0, 10), st.floats(0, 10))
def test_hardness_sharpens_and_keeps_the_order(row, a, b):
    soft, hard = (hardness_lab(row, m) for m in sorted((a, b)))
    assert hard.weights.max() >= soft.weights.max() - 1e-12
    assert hard.entropy <= soft.entropy + 1e-9
    order = np.argsort(row, kind="stable")
    assert (np.diff(hard.weights[order]) >= -1e-15).all()


def test_the_row_is_each_exp_over_their_sum():
    exps = np.exp(IT)
    assert exps[1] == pytest.approx(54.60, abs=5e-3)
    assert exps.sum() == pytest.approx(63.90, abs=5e-3)
    np.testing.assert_allclose(hardness_lab(IT, 1, WORDS).weights, exps / exps.sum())


@given(SCORES, st.floats(0, 50))
def test_a_row_is_a_distribution(row, multiplier):
    weights = hardness_lab(row, multiplier).weights
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)


def test_a_hidden_key_stays_hidden_at_multiplier_0():
    lab = hardness_lab(np.array([1.0, -np.inf, 2.0]), 0)
    np.testing.assert_allclose(lab.weights, [0.5, 0, 0.5])
    assert "of 2 keys" in lab.caption


@pytest.mark.parametrize("multiplier", [-1, math.inf, math.nan])
def test_a_multiplier_that_makes_no_sense_is_refused(multiplier):
    with pytest.raises(ValueError, match="multiplier must be 0 or more"):
        hardness_lab(IT, multiplier)


@given(SCORES, st.floats(-1e4, 1e4))
def test_shift_moves_no_bar(row, shift):
    """Up to rounding: of a shifted score, |shift| 2^-53 is lost, and the weights move by no more."""
    assert shift_lab(row, shift).difference <= 4 * (abs(shift) + 20) * 2.0**-52


@pytest.mark.parametrize(("shift", "breaks"), [(100, False), (700, False), (710, True), (-800, True)])
def test_the_bare_formula_breaks_where_exp_does(shift, breaks):
    lab = shift_lab(IT, shift)
    assert np.isnan(lab.without_subtraction).any() == breaks
    assert ("gives NaN" in lab.caption) == breaks
    if not breaks:
        np.testing.assert_allclose(lab.without_subtraction, lab.before, atol=1e-15)


def test_row_and_column_sums():
    lab = axis_lab(KITE.scaled_scores, WORDS)
    rows, columns = lab.row_sums, lab.column_sums
    np.testing.assert_allclose(rows[0], 1)
    np.testing.assert_allclose(columns[1], 1)
    np.testing.assert_allclose(rows[1], [1.01, 1.43, 0.48, 1.45, 1.06, 1.28, 0.29], atol=5e-3)
    assert columns[0][1] == pytest.approx(3.52, abs=5e-3)
    assert "kite collects most, 3.52 in all" in lab.caption


@pytest.mark.parametrize(
    ("scores", "said"), [(np.zeros((1, 3)), "With one query"), (np.zeros((3, 3)), "happen to")]
)
def test_axis_caption_fits_other_scores(scores, said):
    assert said in axis_lab(scores).caption


def test_soft_and_hard_slopes_of_the_example():
    lab = soft_hard_lab(IT, KITE.v, 0, "who", WORDS)
    np.testing.assert_allclose(lab.soft_slopes, [-0.04, 0.98, -0.12, -0.05, -0.25, -0.05, -0.48], atol=5e-3)
    assert (lab.hard_slopes == 0).all()
    assert (lab.soft_output, lab.hard_output) == (pytest.approx(7.85, abs=5e-3), 9)


def test_soft_slopes_are_those_that_are_measured():
    found = soft_hard_lab(IT, KITE.v, 2).soft_slopes
    for j, slope in enumerate(found):
        up, down = (softmax((IT + step * np.eye(7)[j])[None])[0] @ KITE.v[:, 2] for step in (1e-6, -1e-6))
        assert slope == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_at_a_tie_the_hard_choice_jumps_and_has_no_slope():
    lab = soft_hard_lab(np.array([1.0, 1.0, 0.0]), np.array([[0.0], [5.0], [9.0]]))
    assert np.isnan(lab.hard_slopes).tolist() == [True, True, False]
    assert "2 keys tie" in lab.caption


def test_hard_output_is_the_winners_value():
    np.testing.assert_array_equal(hard_output(IT, KITE.v), KITE.v[1])


def test_the_same_gap_is_diluted():
    lab = dilution_lab(4.0)
    np.testing.assert_allclose(lab.needle, [0.89, 0.46, 0.10, 0.013], atol=5e-3)
    np.testing.assert_allclose(lab.needle, 1 / (1 + (lab.n_keys - 1) * math.exp(-4)), rtol=1e-12)
    kept = [math.exp(g) / (math.exp(g) + n - 1) for g, n in zip(lab.needed_gaps, lab.n_keys, strict=True)]
    np.testing.assert_allclose(kept, lab.needle[0])


def test_where_exp_overflows_and_underflows():
    assert {name: formats.overflow_limit(form) for name, form in BY_NAME.items()} == {
        "float64": 709, "float32": 88, "bfloat16": 88, "float16": 11,
    }  # fmt: skip
    gaps = {name: formats.underflow_gap(form) for name, form in BY_NAME.items()}
    assert gaps == {"float64": 746, "float32": 104, "bfloat16": 93, "float16": 18}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_weight_is_exactly_0_from_the_underflow_gap_on(name):
    form = BY_NAME[name]
    gap = formats.underflow_gap(form)
    assert formats.softmax_in(form, np.array([0.0, -gap]))[1] == 0
    assert formats.softmax_in(form, np.array([0.0, 1.0 - gap]))[1] > 0


def test_rounding_to_bfloat16_is_pytorchs():
    rounded = formats.to_bfloat16(GOLDEN["bfloat16_numbers"])
    np.testing.assert_array_equal(rounded, GOLDEN["bfloat16_rounded"])
    assert np.isnan(formats.to_bfloat16(np.array([np.nan]))).all()


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_a_softmax_in_a_short_format_is_pytorchs(name):
    """Bit for bit, but for exp, whose last bit may differ between two libraries."""
    found = np.stack([formats.softmax_in(BY_NAME[name], row) for row in GOLDEN["short_rows"]])
    golden = GOLDEN[f"short_{name}"]
    assert (found == golden).mean() > 0.95
    np.testing.assert_allclose(found, golden, rtol=2.0**-7 if name == "bfloat16" else 2.0**-9, atol=1e-7)


def test_1000_needs_the_subtraction():
    results = {r.name: r for r in formats.formats_lab(np.array([1000.0, 1001.0, 1002.0])).results}
    assert all(np.isnan(r.without_subtraction).all() for r in results.values())
    np.testing.assert_allclose(results["float32"].with_subtraction, [0.090, 0.245, 0.665], atol=5e-4)
    assert results["float64"].error == 0
    assert results["bfloat16"].error > 0.1  # 1001 and 1002 are not in it


@pytest.mark.parametrize("row", [[-1000.0, -1001.0], [709.5, 709.5, 709.5]])
def test_the_bare_formula_breaks_at_the_low_end_and_in_the_sum_too(row):
    lab = formats.formats_lab(np.array(row))
    assert lab.results[0].breaks
    assert "Without the subtraction float64" in lab.caption


def test_small_scores_need_no_subtraction():
    lab = formats.formats_lab(IT)
    assert not any(np.isnan(r.without_subtraction).any() for r in lab.results)
    assert "small enough" in lab.caption


def test_what_the_fills_do():
    found = {(r.format, r.fill): r for r in formats.fills_lab(IT)}
    assert all(r.leak == 0 for r in found.values())
    assert found["float16", "−1e9"].value == -math.inf
    assert found["float32", "−1e9"].value == -1e9
    nan = {key for key, r in found.items() if np.isnan(r.dead_row).any()}
    assert nan == {(f, fill) for f in BY_NAME for fill in ("−∞", "lowest finite, twice")} | {
        ("float16", "−1e9")
    }
    np.testing.assert_allclose(found["float32", "−1e9"].dead_row, 1 / 7)  # the scores are rounded away
    np.testing.assert_allclose(found["float64", "−1e9"].dead_row, softmax(IT[None])[0], atol=1e-6)


def test_a_fill_that_is_not_low_enough_leaks():
    row = np.array([0.0, -2e4, -2e4])
    leaks = {r.fill: r.leak for r in formats.fills_lab(row) if r.format == "float64"}
    assert leaks["−10000"] == 1.0
    assert "leak" in formats.fills_caption(formats.fills_lab(row))
