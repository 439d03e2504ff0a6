import math

import numpy as np
import pytest

from core.attention import attention
from core.experiments.transcription import blockwise, divided_by, line_check, lines_of, loop_scores
from core.setup import Setup, inputs, run
from tests.core.export.corners import CORNERS

KITE = run(Setup()).heads.head(0)
NAMES = inputs(Setup())


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
@pytest.mark.parametrize("size", [1, 2, 5, 64])
def test_blocks_of_keys_give_the_same_output(setup, size):
    steps = run(setup).heads.head(0)
    np.testing.assert_allclose(blockwise(steps, size), steps.output, rtol=1e-9, atol=1e-11)


def test_a_block_without_an_allowed_key_changes_nothing_and_a_row_without_one_is_nan():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 4)), rng.normal(size=(6, 4)), rng.normal(size=(6, 2))
    allowed = np.array([[0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=bool)
    steps = attention(q, k, v, allowed)
    found = blockwise(steps, 2)
    np.testing.assert_allclose(found[:2], steps.output[:2], rtol=1e-12)
    assert np.isnan(found[2]).all()
    assert np.isnan(steps.output[2]).all()


def test_blocks_stay_finite_where_the_powers_would_overflow():
    steps = attention(np.full((2, 4), 40.0), np.eye(4) * 100, np.eye(4))
    np.testing.assert_allclose(blockwise(steps, 1), steps.output)


def test_loop_and_matrix_product_agree():
    np.testing.assert_array_equal(loop_scores(KITE.q, KITE.k), KITE.scores)


def test_the_wrong_divisor_shows():
    assert divided_by(KITE, math.sqrt(7))[4, 1].round(2) == 0.73
    np.testing.assert_allclose(divided_by(KITE, 2), KITE.weights)


def test_the_wrong_divisor_keeps_the_mask():
    masked = run(Setup(mask="causal")).heads.head(0)
    assert not np.triu(divided_by(masked, 3), 1).any()


def test_the_lines_are_a_handful():
    assert (lines_of("attention"), lines_of("softmax")) == (6, 2)


def test_what_is_said_of_each_line():
    said = {
        part: line_check(part, KITE, NAMES, 4, 1) for part in ("score", "scale", "mask", "softmax", "blend")
    }
    assert "49 dot products" in said["score"]
    assert "the largest difference is 0." in said["score"]
    assert "k's shape (7, 4), so the divisor is √4" in said["scale"]
    assert "“it” → “kite” gets 0.729 and not 0.854" in said["scale"]
    assert "Nothing is hidden" in said["mask"]
    assert "2 lines" in said["softmax"]
    assert "returns the output and the weights" in said["blend"]


def test_what_is_said_where_t_equals_d_k_or_a_cell_is_hidden():
    square = Setup(seq_len=4)
    assert "would go unnoticed" in line_check("scale", run(square).heads.head(0), inputs(square), 0, 0)
    masked = run(Setup(mask="causal")).heads.head(0)
    assert "21 of 49 cells" in line_check("mask", masked, NAMES, 0, 1)
    assert "gets" not in line_check("scale", masked, NAMES, 0, 1)


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_every_state_has_its_sentences(setup):
    steps, names = run(setup).heads.head(0), inputs(setup)
    for part in ("score", "scale", "mask", "softmax", "blend"):
        sentence = line_check(part, steps, names, 0, 0)
        assert sentence.endswith(".")
        assert "nan" not in sentence
