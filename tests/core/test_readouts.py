"""Sums of the weights, and the count of rows that moved."""

import numpy as np

from core.attention import softmax
from core.readouts import column_sums, count_moved, row_sums


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
