"""ui/figures_blend.py: what is drawn adds up to the output. What all charts owe: test_figures.py."""

import numpy as np

from tests.ui.test_figures import POINTS, RNG, drawn, hull, stack
from ui import figures_blend


def test_hull_draws_points_polygon_and_outputs():
    polygon, values, output, hard = drawn(hull(), "scatter")
    np.testing.assert_array_equal(np.stack([values["x"], values["y"]], axis=1), POINTS)
    np.testing.assert_array_equal(polygon["x"], [0, 4, 0, 0])
    np.testing.assert_allclose([output["x"][0], output["y"][0]], [2.0, 1.2])
    assert (hard["x"][0], hard["y"][0]) == (4, 0)
    assert values["text"] == ["The, The", "kite", "&lt;b&gt;fell&lt;/b&gt;", ""]
    assert values["marker"]["size"].argmax() == 1


def test_stack_draws_each_contribution_and_the_output():
    parts, (output,) = drawn(stack(), "bar"), drawn(stack(), "scatter")
    np.testing.assert_array_equal([part["x"] for part in parts], [[1, -0.5], [2, 0], [0.25, 0.25], [0, 1]])
    np.testing.assert_array_equal(output["x"], [3.25, 0.75])
    assert stack().figure.layout.barmode == "relative"


def test_a_long_stack_adds_up_the_small_parts():
    contributions = RNG.normal(size=(40, 2))
    total = contributions.sum(axis=0)
    chart = figures_blend.stacked_contributions(
        [f"w{i}" for i in range(40)], contributions, total, ("a", "b"), "light"
    )
    parts = drawn(chart, "bar")
    assert len(parts) == figures_blend.MOST_PARTS
    assert parts[-1]["name"] == "34 others"
    np.testing.assert_allclose(sum(part["x"] for part in parts), total, atol=1e-5)
    sizes = np.abs(contributions).sum(axis=1)
    assert {part["name"] for part in parts[:-1]} == {f"w{i}" for i in np.argsort(-sizes)[:6]}
