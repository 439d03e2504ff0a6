"""A small part of benchmarks/clinic_accuracy.py: the right label, and nobody accused."""

import numpy as np
import pytest

from benchmarks.clinic_accuracy import correct_result, kind_result, pair_result
from benchmarks.clinic_inputs import FAULT_KINDS, rounder
from core.clinic.precision import ROUNDOFF, rounded_to_bfloat16, roundoff_of


@pytest.mark.parametrize("label", FAULT_KINDS)
def test_fault_is_named(label):
    named, others, _ = kind_result(label, 4)
    assert named == 4, others


def test_right_code_is_never_accused():
    verdicts, accusations = correct_result(150)
    assert not accusations, accusations[:3]
    assert sum(count for (verdict, _), count in verdicts.items() if verdict == "correct") > 100


def test_pairs_are_named():
    named, others = pair_result(12)
    assert named == 12, others


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16"])
def test_precision_is_read_from_the_bits(name):
    values = rounder(name)(np.random.default_rng(0).standard_normal(200))
    assert roundoff_of(values) == ROUNDOFF[name]
    assert roundoff_of(values.astype(np.float32).astype(np.float64)) == max(
        ROUNDOFF[name], ROUNDOFF["float32"]
    )


def test_two_ways_of_rounding_to_bfloat16_agree():
    values = np.random.default_rng(1).standard_normal(1000) * 10.0 ** np.arange(-5, 5).repeat(100)
    single = values.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(rounded_to_bfloat16(single), rounder("bfloat16")(single))
