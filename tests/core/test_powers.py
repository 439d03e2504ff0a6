import numpy as np
import pytest

from core.attention import softmax
from core.powers import written_exponents


@pytest.mark.parametrize(
    ("row", "subtracted"),
    [
        ([1, 2, 3], 0),
        ([10, 0, -50], 0),
        ([10.5, 0, 3], 10.5),
        ([-40, -20, -30], -20),
        ([-np.inf, -np.inf], 0),
    ],
)
def test_only_large_rows_are_shifted(row, subtracted):
    exponents, shift = written_exponents(np.array(row, float))
    assert shift == subtracted
    np.testing.assert_array_equal(exponents, np.array(row, float) - subtracted)
    if np.isfinite(exponents).all():
        np.testing.assert_allclose(
            np.exp(exponents) / np.exp(exponents).sum(), softmax(np.array([row], float))[0]
        )
