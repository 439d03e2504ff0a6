"""The statistics of the reports against NumPy, and against noise whose slope is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.load.numbers import percentile, slope

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@given(NUMBERS, st.floats(0.01, 1))
def test_percentile_is_the_nearest_rank(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)
    assert sum(value < found for value in values) < share * len(values)


def test_percentile_by_hand() -> None:
    assert percentile([5, 1, 4, 2, 3], 0.5) == 3
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([7], 0.95) == 7


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1], 0), ([1], 1.1)])
def test_percentile_refuses_what_it_cannot_answer(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match=r"share|value"):
        percentile(values, share)


def test_slope_is_that_of_numpy_and_its_interval_holds_the_truth() -> None:
    random = np.random.default_rng(0)
    x, covered = np.arange(150.0), 0
    for _ in range(200):
        noise = np.zeros(150)
        for i in range(1, 150):  # neighbours resemble each other, as memory does
            noise[i] = 0.6 * noise[i - 1] + random.normal()
        y = 3 + 0.5 * x + noise
        found = slope(list(x), list(y))
        assert found.slope == pytest.approx(np.polyfit(x, y, 1)[0])
        covered += abs(found.slope - 0.5) <= found.half_width
    assert covered >= 0.9 * 200  # the interval that takes them for independent covers 68 of 100


def test_a_rise_is_told_from_noise() -> None:
    x = list(range(100))
    noise = list(np.random.default_rng(1).normal(size=100))
    assert slope(x, noise).is_flat
    assert not slope(x, [one + 0.1 * i for i, one in enumerate(noise)]).is_flat
    assert slope(x, [-one for one in range(100)]).is_flat
    assert slope(x, [5.0] * 100).slope == 0


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 1, 1], [1, 2, 3])])
def test_slope_refuses_what_has_none(x: list[float], y: list[float]) -> None:
    with pytest.raises(ValueError, match="a slope needs"):
        slope(x, y)
