import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answers import is_right, read_number, rounded, tolerance


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3), ("−2", -2), ("-2", -2), (" 0,854 ", 0.854), (".5", 0.5), ("7.", 7), ("1/7", 1 / 7),
        ("8 / 2", 4), ("85.4 %", 0.854), ("1e3", 1000), ("+4", 4), ("-1/−2", 0.5),
        ("−∞", -math.inf), ("-inf", -math.inf),
    ],
)  # fmt: skip
def test_reads_what_people_type(text, value):
    assert read_number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "   ", "three", "1/0", "1/2/3", "--1", "1.2.3", "٣", "0x10", "1_000", "9" * 41, "%", "/"]
)
def test_refuses_what_is_no_number(text):
    assert read_number(text) is None


def test_reads_nan():
    assert math.isnan(read_number("NaN"))


@given(st.text())
def test_reads_any_text_without_an_error(text):
    assert isinstance(read_number(text), float | None)


@given(st.floats(-99, 99))
def test_reads_back_every_float(value):
    assert read_number(repr(value)) == value


@pytest.mark.parametrize(
    ("given", "answer", "decimals", "right"),
    [
        (0.854, 0.85439, 3, True), (0.855, 0.85439, 3, True), (0.856, 0.85439, 3, False),
        (0.86, 0.85439, 2, True), (8, 8, 0, True), (8.001, 8, 0, False),
        (63.9, 63.8971, 3, True), (63.7, 63.8971, 3, False),
        (math.nan, math.nan, 3, True), (0, math.nan, 3, False), (-math.inf, -math.inf, 3, True),
        (-99, -math.inf, 3, False),
        (math.inf, 8, 3, False),
    ],
)  # fmt: skip
def test_is_right(given, answer, decimals, right):
    assert is_right(given, answer, decimals) is right


@given(st.floats(-1e6, 1e6), st.integers(1, 4))
def test_the_rounded_answer_is_always_right(answer, decimals):
    assert is_right(round(answer, decimals), answer, decimals)
    assert not is_right(answer + 2.1 * tolerance(answer, decimals), answer, decimals)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.85439, 3, "0.854"),
        (8.0, 3, "8"),
        (-0.25, 2, "−0.25"),
        (-0.0, 2, "0"),
        (2.1e-8, 3, "2.1×10⁻⁸"),
        (-math.inf, 2, "−∞"),
    ],
)
def test_rounded(value, decimals, text):
    assert rounded(value, decimals) == text
