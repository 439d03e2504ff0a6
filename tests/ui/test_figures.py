"""ui/figures.py: what is drawn are the arrays handed in, and the description tells their numbers."""

import base64
import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from ui import figures, figures_blend
from ui.chart_style import INKS, empty_figure, faint, plain, template

RNG = np.random.default_rng(0)
RAW, SCALED = 8 * RNG.normal(size=500), RNG.normal(size=500)
D_KS = np.array([1, 4, 16, 64])
WORDS = ("The", "kite", "<b>fell</b>", "The")
POINTS = np.array([[0.0, 0], [4, 0], [0, 4], [0, 0]])
VALUES = np.array([[1.0, 0, 0], [0.001, 0.999, 0], [np.nan, np.nan, np.nan]])
THEMES = tuple(INKS)


def histogram(theme="light"):
    return figures.histogram_pair(SCALED, RAW, theme)


def curve(theme="light", **options):
    series = {"scaled": np.array([1.0, 1.1, 0.9, 1.0]), "raw": D_KS * 1.1}
    return figures.curves(D_KS, series, theme, x_title="d_k", y_title="variance", **options)


def bars(theme="light"):
    series = {"soft": np.array([-0.25, 0.5, 0.001, 0.0]), "hard": np.zeros(4)}
    return figures.grouped_bars(WORDS, series, theme, y_title="slope")


def losses(theme="light"):
    return figures.loss_curves({"a": np.array([3.0, 2, 1]), "b": np.array([3.0, 3, 2])}, 200, theme)


def hull(theme="light"):
    polygon, weights = POINTS[:3], np.array([0.1, 0.5, 0.3, 0.1])
    output = weights @ POINTS
    return figures_blend.hull(POINTS, WORDS, weights, polygon, output, POINTS[1], ("who", "event"), theme)


def stack(theme="light"):
    contributions = np.array([[1.0, -0.5], [2, 0], [0.25, 0.25], [0, 1]])
    return figures_blend.stacked_contributions(
        WORDS, contributions, contributions.sum(axis=0), ("who", "event"), theme
    )


def strip(theme="light", **options):
    return figures.heat_strip(VALUES, ("a", "b", "c"), WORDS[:3], theme, title="weights", **options)


CHARTS = (histogram, curve, bars, losses, hull, stack, strip)


def drawn(chart: figures.Chart, kind: str) -> list[dict]:
    """The traces of a kind as the browser receives them, arrays decoded."""

    def decoded(value: Any) -> Any:
        if isinstance(value, dict) and set(value) >= {"bdata", "dtype"}:
            array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
            shape = [int(n) for n in str(value.get("shape", len(array))).split(",")]
            return array.reshape(shape)
        return {key: decoded(inner) for key, inner in value.items()} if isinstance(value, dict) else value

    return [decoded(trace) for trace in json.loads(chart.figure.to_json())["data"] if trace["type"] == kind]


def test_histogram_draws_the_shares_of_both_sets_over_the_same_bins():
    scaled, raw = drawn(histogram(), "bar")
    np.testing.assert_array_equal(scaled["x"], raw["x"])
    edges = np.append(raw["x"] - raw["width"] / 2, raw["x"][-1] + raw["width"] / 2).astype(float)
    edges[[0, -1]] += [-1e-3, 1e-3]
    for trace, values in ((scaled, SCALED), (raw, RAW)):
        np.testing.assert_allclose(trace["y"], np.histogram(values, edges)[0] / 500, atol=2 / 500)
        assert trace["y"].sum() == pytest.approx(1)
    assert edges[0] == pytest.approx(-edges[-1])


def test_histogram_of_zeros_can_be_drawn():
    chart = figures.histogram_pair(np.zeros(5), np.zeros(5), "light")
    assert max(drawn(chart, "bar")[0]["y"]) == 1


def test_curves_draw_series_bands_and_reference():
    band = (D_KS * 0.9, D_KS * 1.3)
    chart = curve(bands={"raw": band}, reference=("exactly", D_KS), log_x=True, log_y=True, marked_x=16)
    traces = {trace.get("name", "band"): trace for trace in drawn(chart, "scatter")}
    np.testing.assert_array_equal(traces["raw"]["y"], np.float32(D_KS * 1.1))
    np.testing.assert_array_equal(traces["raw"]["x"], D_KS)
    np.testing.assert_array_equal(traces["exactly"]["y"], D_KS)
    np.testing.assert_allclose(traces["band"]["y"], np.concatenate([band[1], band[0][::-1]]), rtol=1e-6)
    layout = chart.figure.layout
    assert (layout.xaxis.type, layout.yaxis.type) == ("log", "log")
    assert layout.shapes[0].x0 == 16
    assert curve(log_y=True, y_range=(0.1, 100)).figure.layout.yaxis.range == (-1, 2)


def test_loss_axis_spans_all_steps_from_the_start():
    chart = losses()
    assert chart.figure.layout.xaxis.range == (0, 200)
    np.testing.assert_array_equal(drawn(chart, "scatter")[1]["y"], [3, 3, 2])
    np.testing.assert_array_equal(drawn(chart, "scatter")[1]["x"], [1, 2, 3])


def test_bars_keep_equal_names_apart():
    soft, hard = drawn(bars(), "bar")
    np.testing.assert_array_equal(soft["x"], [0, 1, 2, 3])
    np.testing.assert_array_equal(soft["y"], np.array([-0.25, 0.5, 0.001, 0], np.float32))
    np.testing.assert_array_equal(hard["y"], np.zeros(4))
    assert soft["text"] == ["−0.25", "0.50", "<0.01", "0"]
    assert bars().figure.layout.xaxis.ticktext == ("The", "kite", "&lt;b&gt;fell&lt;/b&gt;", "The")


def test_many_bars_carry_no_numbers_and_few_ticks():
    chart = figures.grouped_bars([str(i) for i in range(64)], {"a": np.arange(64.0)}, "light", y_title="w")
    assert "text" not in drawn(chart, "bar")[0]
    assert len(chart.figure.layout.xaxis.ticktext) == figures.MOST_NUMBERS


def test_strip_draws_the_matrix_and_names_what_is_no_number():
    (heat,), (nan,) = drawn(strip(), "heatmap"), drawn(strip(), "scatter")
    np.testing.assert_array_equal(heat["z"], np.float32(VALUES))
    assert heat["text"] == [["1.00", "0", "0"], ["<0.01", "1.00", "0"], ["NaN", "NaN", "NaN"]]
    assert nan["text"] == ["NaN"] * 3
    np.testing.assert_array_equal(nan["y"], [2, 2, 2])
    assert (heat["zmin"], heat["zmax"]) == (0, 1)
    assert "3 cells are not a number" in strip().alt


def test_diverging_strip_is_symmetric_around_0():
    (heat,) = drawn(
        figures.heat_strip(np.array([[-3.0, 1]]), "a", "bc", "light", title="S", colours="diverging"),
        "heatmap",
    )
    assert (heat["zmin"], heat["zmax"]) == (-3, 3)


def test_a_wide_strip_has_no_text():
    chart = figures.heat_strip(np.ones((2, 40)), "ab", [str(i) for i in range(40)], "light", title="A")
    assert "text" not in drawn(chart, "heatmap")[0]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("make", CHARTS, ids=lambda make: make.__name__)
def test_every_chart_sends_float32_and_fits_a_phone(make, theme):
    chart = make(theme)
    data = json.loads(chart.figure.to_json())["data"]
    sent = [
        array["dtype"]
        for trace in data
        for array in trace.values()
        if isinstance(array, dict) and "bdata" in array
    ]
    assert sent
    assert set(sent) == {"f4"}
    layout = chart.figure.layout
    assert layout.width is None
    assert layout.template.layout.margin.l <= 10
    assert layout.template.layout.font.color == INKS[theme].text
    assert len(chart.figure.to_json()) < 7000


@pytest.mark.parametrize("make", CHARTS, ids=lambda make: make.__name__)
def test_every_description_is_a_sentence_with_numbers(make):
    alt = make().alt
    assert alt.endswith(".")
    assert any(sign.isdigit() for sign in alt)
    assert "nan" not in alt


def test_descriptions_name_the_numbers_drawn():
    assert "The −0.25, kite 0.5" in bars().alt
    assert "the output at (2, 1.2)" in hull().alt
    assert "who 3.25: The 1, kite 2" in stack().alt
    assert "a from 3 to 1; b from 3 to 2" in losses().alt
    assert f"variance {RAW.var(ddof=1):.3g}" in histogram().alt


def test_an_unknown_theme_is_refused():
    with pytest.raises(ValueError, match="'sepia'"):
        template("sepia")


def test_the_template_is_slim():
    assert (
        len(json.dumps(go.Figure(layout={"template": template("light")}).to_plotly_json(), default=str))
        < 1500
    )


def test_colours_and_texts():
    assert faint("#0072B2", 0.25) == "rgba(0,114,178,0.25)"
    assert plain('<a href="x">') == '&lt;a href="x"&gt;'


def test_a_change_of_one_chart_does_not_reach_the_others() -> None:
    changed = empty_figure("light", "x", "y")
    changed.layout.template.layout.font.size = 99
    changed.layout.template.layout.colorway = ["#000000"]
    assert empty_figure("light", "x", "y").layout.template.layout.font.size == 13
    assert template("light").layout.colorway == INKS["light"].series
