"""Sums of the weights, and the count of rows that moved."""

from dataclasses import replace

import numpy as np
import pytest

from core.attention import attention, softmax
from core.masks import causal
from core.readouts import column_sums, count_moved, entropies, map_summary, row_sums


def test_rows_hand_out_one_and_columns_collect_what_they_get() -> None:
    weights = softmax(np.random.default_rng(0).standard_normal((3, 5, 7)))
    np.testing.assert_array_equal(row_sums(weights), np.ones((3, 5, 1)))
    columns = column_sums(weights)
    assert columns.shape == (3, 1, 7)
    for head in range(3):
        for key in range(7):
            assert abs(columns[head, 0, key] - sum(weights[head, :, key])) < 1e-11


def test_a_row_that_does_not_sum_to_one_shows_it() -> None:
    assert row_sums(np.array([[0.25, 0.5]]))[0, 0] == 0.75


def test_count_moved() -> None:
    assert count_moved(np.array([0.0, 1e-300, -2.0, 0.0])) == 2


def test_entropy_of_even_and_one_hot_rows() -> None:
    np.testing.assert_allclose(entropies(np.full((2, 8), 1 / 8)), 3)  # bits: 2³ keys share the row
    one_hot = entropies(np.array([0.0, 1.0, 0.0]))
    assert one_hot == 0
    assert not np.signbit(one_hot)


def test_map_summary_of_a_head_that_looks_at_the_word_before() -> None:
    weights = np.eye(4, k=-1)
    weights[0, 0] = 1
    q = np.zeros((4, 2))
    steps = attention(q, q, q, causal(4))
    summary = map_summary(replace(steps, weights=weights))
    assert summary.previous == (0.75, pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 4))
    assert summary.itself[0] == summary.first[0] / 2 == 0.25
    assert summary.following == (0, 0)
    assert summary.entropy == (0, pytest.approx(np.log2([1, 2, 3, 4]).mean()))
    assert summary.distance == (0.75, pytest.approx((0 + 1 / 2 + 1 + 3 / 2) / 4))


def test_map_summary_counts_positions_from_the_end_where_queries_are_fewer() -> None:
    steps = attention(np.zeros((1, 2)), np.zeros((5, 2)), np.zeros((5, 2)))
    assert map_summary(steps).distance == pytest.approx((2, 2))
