"""The charts of real heads show the arrays they are given."""

import numpy as np
import pytest

from ui.figures_heads import MOST_PIXELS, block_max, large_map, query_key_plane

THEMES = ("light", "dark")


@pytest.mark.parametrize("theme", THEMES)
def test_plane_holds_every_point_and_points_to_the_selected_query(theme: str) -> None:
    queries, keys = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[0.0, 1.0], [2.0, 0.0], [-1.0, 1.0]])
    chart = query_key_plane(queries, keys, (("a", "b"), ("x", "<b>y</b>", "z")), 1, theme)
    points, others = chart.figure.data
    assert (points.x.tolist(), points.y.tolist()) == ([1, 3], [2, -1])
    assert others.text[1] == "&lt;b&gt;y&lt;/b&gt;"
    arrow = chart.figure.layout.annotations[0]
    assert (arrow.x, arrow.y) == (3, -1)
    assert "largest dot product is <b>y</b>" in chart.alt


@pytest.mark.parametrize("theme", THEMES)
def test_a_large_map_is_drawn_in_blocks_of_the_largest_weight(theme: str) -> None:
    weights = np.zeros((600, 600))
    weights[599, 301] = 0.75
    names = [str(i) for i in range(600)]
    chart, block = large_map(weights, (names, names), theme)
    heatmap = chart.figure.data[0]
    assert block == 3
    assert max(heatmap.z.shape) <= MOST_PIXELS
    assert heatmap.z[199, 100] == 0.75
    assert heatmap.z.sum() == 0.75
    assert (heatmap.x[100], heatmap.y[199]) == (300, 597)
    assert "0.750, of query 599" in chart.alt


def test_maps_that_fit_are_drawn_cell_by_cell() -> None:
    weights = np.random.default_rng(0).random((65, 70))
    chart, block = large_map(weights, ([""] * 65, [""] * 70), "light")
    assert block == 1
    np.testing.assert_array_equal(chart.figure.data[0].z, weights.astype(np.float32))


def test_a_files_own_weights_may_be_anything() -> None:
    weights = np.full((70, 70), 0.25)
    weights[3, 4], weights[5, 6], weights[7, 8] = -2, 4, np.nan
    chart, _ = large_map(weights, ([""] * 70, [""] * 70), "light")
    heatmap = chart.figure.data[0]
    assert (heatmap.zmin, heatmap.zmax) == (-2, 4)
    assert "4.000, of query 5" in chart.alt


def test_the_last_block_may_be_smaller() -> None:
    np.testing.assert_array_equal(block_max(np.arange(25.0).reshape(5, 5), 2)[-1], [21, 23, 24])
