"""The charts' colours: all can be told from the page, and areas from one another without colour."""

from itertools import pairwise

import numpy as np
import pytest

from ui import figures_blend
from ui.chart_style import INKS, marker


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast of two colours #rrggbb."""
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", INKS)
def test_text_and_series_stand_out_from_the_page(theme):
    ink = INKS[theme]
    assert contrast(ink.text, ink.page) > 7
    assert min(contrast(colour, ink.page) for colour in ink.series[:2]) >= 4.5
    assert min(contrast(colour, ink.page) for colour in ink.series) >= 3
    assert len(set(ink.series)) == len(ink.series)


@pytest.mark.parametrize("theme", INKS)
def test_a_stack_tells_its_parts_by_more_than_colour(theme):
    parts = np.arange(1.0, 15.0).reshape(7, 2)
    chart = figures_blend.stacked_contributions(list("abcdefg"), parts, parts.sum(axis=0), ["x", "y"], theme)
    bars = [trace for trace in chart.figure.data if trace.type == "bar"]
    looks = {(bar.marker.color, bar.marker.pattern.shape) for bar in bars}
    assert len(looks) == len(bars) == 7
    assert all(a.marker.pattern.shape != b.marker.pattern.shape for a, b in pairwise(bars))


@pytest.mark.parametrize("theme", INKS)
def test_bars_of_a_group_differ_in_hatching(theme):
    shapes = [marker(theme, i)["pattern"]["shape"] for i in range(4)]
    assert len(set(shapes)) == 4


@pytest.mark.parametrize("theme", INKS)
def test_the_border_of_the_values_can_be_seen(theme):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    chart = figures_blend.hull(
        points, list("abc"), np.full(3, 1 / 3), points, points.mean(axis=0), points[0], ("x", "y"), theme
    )
    assert contrast(chart.figure.data[0].line.color, INKS[theme].page) >= 3
