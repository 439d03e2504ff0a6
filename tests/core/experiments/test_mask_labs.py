"""The four mask labs: what leaks, prefixes, PyTorch's two readings, painting."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attention, scale, score, softmax
from core.checks import ShapeError
from core.experiments.conventions import TORCH_FACTS, convention_lab, torch_table
from core.experiments.masking import RIGHT, VARIANTS, mask_lab
from core.experiments.painting import painted_lab, parse_flips, with_flip
from core.experiments.prefixes import prefix_lab
from core.masks import causal
from core.setup import Setup, allowed, inputs, run

GOLDEN = dict(np.load(Path(__file__).parents[2] / "golden" / "labs.npz"))
KITE = run(Setup()).heads.head(0)
INPUTS = KITE.q, KITE.k, KITE.v
CAUSAL = causal(7)


@pytest.fixture(scope="module")
def variants():
    return {one.name: one for one in mask_lab(*INPUTS, CAUSAL).variants}


def test_the_right_variant_is_attention_itself(variants):
    steps = attention(*INPUTS, CAUSAL)
    np.testing.assert_array_equal(variants[RIGHT].weights, steps.weights)
    np.testing.assert_array_equal(variants[RIGHT].output, steps.output)
    assert (variants[RIGHT].weights[~CAUSAL] == 0).all()
    assert np.exp(-np.inf) == 0.0


def test_what_leaks_in_row_the(variants):
    leaked = {name: one.leaked[0] for name, one in variants.items()}
    assert leaked["0 before softmax"] == pytest.approx(6 / 7)
    assert leaked["−10 before softmax"] == pytest.approx(0.00027, abs=5e-6)
    assert leaked["−1e9 before softmax"] == 0
    assert leaked["0 after softmax"] == 0
    assert leaked["no mask"] == pytest.approx(0.934, abs=1e-3)
    assert variants["one position too far"].weights[0, 1] == pytest.approx(0.88, abs=5e-3)


def test_masking_after_softmax_leaves_short_rows(variants):
    sums = variants["0 after softmax"].row_sums
    assert sums[0] == pytest.approx(0.07, abs=5e-3)
    assert sums[:-1].max() == pytest.approx(0.92, abs=1e-2)
    assert sums[-1] == pytest.approx(1)
    repaired = variants["0 after softmax"].weights / sums[:, None]
    np.testing.assert_allclose(repaired, variants[RIGHT].weights, atol=1e-15)


def test_rows_with_nothing_left(variants):
    dead = {name: one.dead_rows for name, one in variants.items() if one.dead_rows}
    assert dead == {"one position too short": (0,), "inverted": (6,)}


def test_which_rows_move_when_the_last_word_changes(variants):
    assert (variants[RIGHT].moved[:-1] == 0).all()
    assert variants[RIGHT].moved[-1] > 0
    assert (variants["no mask"].moved > 0).all()
    assert (variants["−1e9 before softmax"].moved[:-1] == 0).all()
    assert (variants["−10 before softmax"].moved[:-1] > 0).any()
    assert (variants["on the query axis"].moved > 0).all()


def test_the_lab_counts_its_variants():
    lab = mask_lab(*INPUTS, CAUSAL, inputs(Setup()).query_tokens)
    zeros = [row[0] for row in lab.table[1:] if row[1] == "0"]
    assert f"{len(zeros)} of the 10, the right one among them, give hidden keys exactly 0" in lab.caption
    assert RIGHT in zeros
    found = {one.name: one.caption for one in lab.variants}
    assert "hidden keys get 86\N{NO-BREAK SPACE}% of the row of “The”" in found["0 before softmax"]
    assert len(lab.variants) == len(VARIANTS) == 10
    assert "8 of 9 differ from the right output, 6 of them with a number in every cell" in lab.caption
    assert "0 earlier rows move under −∞ before softmax, 6 without a mask" in lab.caption


def test_the_table_holds_what_each_variant_measures():
    rows = {row[0]: row[1:] for row in mask_lab(*INPUTS, CAUSAL).table}
    assert rows[RIGHT] == ("0", "1", "0", "0", "0")
    assert rows["0 before softmax"][:2] == ("86\u00a0%", "1")
    assert rows["−10 before softmax"][0] == "0.027\u00a0%"
    assert rows["0 after softmax"][1] == "0.07 … 1.00"
    assert rows["one position too short"][2] == "1"
    nothing = {row[0]: row[1:] for row in mask_lab(*INPUTS, np.zeros((7, 7), bool)).table}
    assert nothing[RIGHT] == ("0", "NaN", "7", "NaN", "0")


def test_padding_on_the_wrong_axis_hides_queries():
    hidden = allowed(Setup(mask="padding", n_pad=2))
    assert hidden is not None
    found = {one.name: one for one in mask_lab(*INPUTS, hidden).variants}
    assert found["on the query axis"].dead_rows == (5, 6)
    assert (found["on the query axis"].leaked[:5] > 0).all()
    assert not found[RIGHT].dead_rows


def test_one_query_alone_has_no_query_axis_to_mix_up():
    one = inputs(Setup(example="needle", seq_len=8))
    lab = mask_lab(one.q[0], one.k[0], one.v[0], np.arange(8)[None] < 6)
    assert "on the query axis" not in {variant.name for variant in lab.variants}


def test_the_full_pass_equals_every_prefix():
    lab = prefix_lab(*INPUTS)
    assert lab.masked_differences.max() < 1e-14
    assert (lab.unmasked_differences[:-1] > 0.05).all()
    assert lab.unmasked_differences[-1] < 1e-14
    assert "Without the mask 6 of them differ" in lab.caption


def test_prefixes_need_as_many_queries_as_keys():
    with pytest.raises(ShapeError, match=r"\(1, 4\).*\(7, 4\)"):
        prefix_lab(KITE.q[:1], KITE.k, KITE.v)


def test_both_readings_are_pytorchs():
    x, array = GOLDEN["boolean_x"], GOLDEN["boolean_array"]
    lab = convention_lab(scale(score(x, x), 4), array)
    np.testing.assert_allclose(lab.may_attend @ x, GOLDEN["boolean_sdpa_output"], atol=1e-14)
    np.testing.assert_allclose(lab.blocked, GOLDEN["boolean_mha_weights"], atol=1e-14)
    assert np.isnan(lab.blocked[-1]).all()
    assert "Rows with nothing left: 0 and 1" in lab.caption


def test_the_facts_about_dead_rows_are_pytorchs():
    for fact, row in zip(TORCH_FACTS, GOLDEN["dead_rows"], strict=True):
        assert fact.dead_row == ("NaN" if np.isnan(row).all() else "0" if (row == 0).all() else "?"), (
            fact.call
        )
    assert len(torch_table()) == 1 + len(TORCH_FACTS)


def test_a_painted_mask_is_attended_with():
    lab = painted_lab(*INPUTS, CAUSAL, "0.0;4.6")
    expected = CAUSAL.copy()
    expected[0, 0], expected[4, 6] = False, True
    np.testing.assert_array_equal(lab.allowed, expected)
    np.testing.assert_array_equal(lab.weights, attention(*INPUTS, expected).weights)
    assert np.isnan(lab.weights[0]).all()
    assert "in 1 row none is left: NaN" in lab.caption


def test_painting_without_a_mask_starts_from_everything():
    lab = painted_lab(*INPUTS, None, "")
    assert lab.allowed.all()
    np.testing.assert_allclose(lab.weights, softmax(KITE.scaled_scores))


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 4))))
def test_painted_cells_survive_the_url(cells):
    text = ""
    for row, col in cells:
        text = with_flip(text, row, col, 7, 5)
    assert parse_flips(text, 7, 5) == cells
    for row, col in cells:
        text = with_flip(text, row, col, 7, 5)
    assert text == ""


@given(st.text())
def test_junk_paints_nothing_outside_the_mask(text):
    assert all(0 <= row < 3 and 0 <= col < 3 for row, col in parse_flips(text, 3, 3))


@pytest.mark.parametrize("text", ["7.0", "0.7", "-1.0", "1", "a.b", "1.2.3", "².1", "99999999999.0"])
def test_what_is_no_cell_is_dropped(text):
    assert parse_flips(text, 7, 7) == frozenset()
