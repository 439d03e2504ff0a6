"""The ladder of shapes: the same numbers on every rung, each knowing where it came from."""

import numpy as np
import pytest

from core.checks import ShapeError
from core.ladder import address, ladder

X = np.arange(2 * 5 * 8, dtype=float).reshape(2, 5, 8)


def test_shapes() -> None:
    shapes = [rung.tensor.shape for rung in ladder(X, 4)]
    assert shapes == [(2, 5, 8), (2, 5, 4, 2), (2, 4, 5, 2), (2, 5, 8)]


def test_last_rung_is_the_first_again() -> None:
    first, *_, last = ladder(X, 4)
    np.testing.assert_array_equal(first.tensor, last.tensor)
    np.testing.assert_array_equal(first.position, last.position)


def test_positions_follow_their_numbers() -> None:
    """In X the position of a number is known from the number itself: 8 channels a position."""
    for rung in ladder(X, 2):
        np.testing.assert_array_equal(rung.position, rung.tensor.astype(int) // 8 % 5)


def test_address_finds_the_same_number_on_every_rung() -> None:
    rungs = ladder(X, 4)
    for position in range(5):
        for channel in range(8):
            places = [eval(text) for text in address(position, channel, 8, 4)]
            values = [rung.tensor[tuple(place)] for rung, place in zip(rungs, places, strict=False)]
            assert values == [X[0, position, channel]] * 3


def test_refuses_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"\(B, T, d_model\).*\(5, 8\)"):
        ladder(X[0], 2)
    with pytest.raises(ShapeError, match="n_heads = 3"):
        ladder(X, 3)
    with pytest.raises(ShapeError, match="channel 8"):
        address(0, 8, 8, 2)
