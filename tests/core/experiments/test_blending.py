"""core/experiments/blending.py: contributions, the hull, doubling."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.attention import attention
from core.checks import ShapeError
from core.experiments.blending import blend_lab, convex_hull, doubling_lab, hull_lab, outside_by
from core.masks import causal
from core.setup import Setup, inputs, run

KITE = run(Setup()).heads.head(0)
NAMES = inputs(Setup())
POINTS = arrays(np.float64, st.tuples(st.integers(1, 12), st.just(2)), elements=st.integers(-5, 5))


def kite(row=4):
    return blend_lab(KITE, row, NAMES.query_tokens[row], NAMES.key_tokens, NAMES.value_channels)


def test_contributions_add_up_to_the_output():
    lab = kite()
    np.testing.assert_allclose(lab.contributions.sum(axis=0), [7.85, 0.16, 1.51], atol=5e-3)
    np.testing.assert_allclose(lab.contributions.sum(axis=0), lab.output, atol=1e-14)
    assert lab.contributions[1, 0] == pytest.approx(0.854 * 9, abs=5e-3)
    np.testing.assert_array_equal(lab.hard_output, [9, 0, 1])
    assert "7 of 7 keys contribute" in lab.caption


def test_one_head_at_a_time():
    with pytest.raises(ShapeError, match=r"\(1, 7, 7\)"):
        blend_lab(run(Setup()).heads, 4, "it", NAMES.key_tokens, NAMES.value_channels)


@pytest.mark.parametrize("row", range(7))
@pytest.mark.parametrize("channels", [(0, 1), (1, 2), (2, 0)])
def test_every_output_is_inside_the_hull(row, channels):
    lab = hull_lab(kite(row), channels)
    assert lab.outside < 1e-12
    assert lab.axes == tuple(NAMES.value_channels[c] for c in channels)


def test_weights_that_do_not_sum_to_1_leave_the_hull():
    polygon = convex_hull(KITE.v[:, :2])
    assert outside_by(polygon, np.array([9.5, 0.0])) == pytest.approx(0.5 / np.sqrt(2))
    assert outside_by(polygon, 0.5 * KITE.output[4, :2] * [0, -1]) > 0


@given(POINTS, st.integers(0, 99))
def test_no_average_is_outside_and_the_hull_is_the_points_own(points, seed):
    polygon = convex_hull(points)
    assert {tuple(corner) for corner in polygon} <= {tuple(point) for point in points}
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(points)))
    assert outside_by(polygon, shares @ points) < 1e-9
    assert all(outside_by(polygon, point) < 1e-9 for point in points)


@given(POINTS, st.floats(1.01, 3))
def test_beyond_a_corner_is_outside(points, factor):
    polygon = convex_hull(points)
    assume(len(polygon) >= 2)
    centre = polygon.mean(axis=0)
    assert outside_by(polygon, centre + factor * (polygon[0] - centre)) > 0


def test_hull_of_one_channel_is_a_line():
    steps = attention(np.ones((1, 2)), np.ones((3, 2)), np.array([[1.0], [2.0], [6.0]]))
    lab = hull_lab(blend_lab(steps, 0, "q", ("a", "b", "c"), ("only",)))
    np.testing.assert_array_equal(lab.polygon, [[1, 0], [6, 0]])
    np.testing.assert_allclose(lab.output, [3, 0])


def test_doubling_v_doubles_the_output_and_nothing_else():
    lab = doubling_lab(KITE, "v")
    assert lab.follows("output")
    assert all(lab.moved(name) == 0 for name in ("scores", "scaled_scores", "weights"))
    assert "exactly doubled" in lab.caption


@pytest.mark.parametrize("name", ["q", "k"])
def test_doubling_q_or_k_doubles_the_scores_but_not_the_weights(name):
    lab = doubling_lab(KITE, name)
    assert lab.follows("scores")
    assert lab.follows("scaled_scores")
    assert not lab.follows("weights")
    assert not lab.follows("output")
    assert lab.after.weights[4, 1] == pytest.approx(0.990, abs=5e-4)


def test_doubling_equal_scores_moves_no_weight():
    steps = run(Setup(example="equal_keys")).heads.head(0)
    assert "no weight moves here" in doubling_lab(steps, "q").caption
    assert "on average" in doubling_lab(KITE, "q").caption


def test_doubling_under_a_mask_keeps_the_mask():
    steps = attention(KITE.q, KITE.k, KITE.v, causal(7))
    lab = doubling_lab(steps, "v", causal(7))
    assert lab.follows("output")
    assert lab.moved("masked_scores") == 0


def test_only_the_three_inputs_can_be_doubled():
    with pytest.raises(ValueError, match="'w'"):
        doubling_lab(KITE, "w")
