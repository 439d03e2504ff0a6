"""core/numbers.py: a number is read back as it was printed."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.numbers import number

PLAIN = str.maketrans("−∞⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "-i0123456789-")
NUMBER = r"−?(?:NaN|∞|\d+(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"


def read(text: str) -> float:
    """The number that a printed text stands for."""
    assert re.fullmatch(NUMBER, text), text
    digits, _, exponent = text.translate(PLAIN).replace("i", "inf").partition("×10")
    return float(f"{digits}e{exponent}" if exponent else digits)


def assert_prints(text: str, value: float) -> None:
    """`text` is `value`, rounded in its last printed place; a whole number is not rounded at all."""
    printed, value = read(text), float(value)
    digits, _, exponent = text.partition("×10")
    decimals = len(digits.partition(".")[2])
    unit = 10.0 ** (int(exponent.translate(PLAIN) or 0) - decimals)
    if not math.isfinite(value):
        np.testing.assert_equal(printed, value)
    elif decimals or exponent:
        assert abs(printed - value) <= 0.5 * unit * (1 + 1e-9) + 4e-15 * abs(value)
    else:
        assert printed == pytest.approx(value, rel=4e-15, abs=0)
    assert (printed == 0) == (value == 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (3.0, "3"), (-4.0, "−4"), (1.5, "1.5"), (0.8544, "0.854"),
        (-0.8546, "−0.855"), (0.25, "0.25"), (0.99966, "1.000"), (-1.99999, "−2.000"), (0.0005, "0.001"),
        (0.0004, "4×10⁻⁴"),
        (2.15e-8, "2.15×10⁻⁸"), (-3e-30, "−3×10⁻³⁰"), (1e6, "1000000"), (1234567.8912, "1234567.891"),
        (2e15, "2×10¹⁵"), (float("inf"), "∞"), (float("-inf"), "−∞"), (float("nan"), "NaN"),
        (0.1 + 0.2, "0.3"), (1 - 2**-53, "1"), (1 - 1e-12, "1.000"),
    ],
)  # fmt: skip
def test_a_number_as_it_is_printed(value: float, text: str) -> None:
    assert number(value) == text
    assert number(np.float64(value)) == text


@given(st.floats(-1e300, 1e300) | st.sampled_from([math.inf, -math.inf, math.nan]))
def test_a_printed_number_reads_back(value: float) -> None:
    text = number(value)
    assert_prints(text, value)
    assert "-" not in text
    assert text not in ("−0", "−0.000", "0.000")


@given(st.floats(min_value=5e-324, max_value=1.0))
def test_nothing_but_zero_prints_as_zero(value: float) -> None:
    assert read(number(value)) > 0


@given(st.integers(-(10**9), 10**9))
def test_a_whole_number_prints_every_digit(value: int) -> None:
    assert number(value).replace("−", "-") == str(value)
