"""core/plane.py"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.plane import query_key_plane


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 999))
def test_two_channels_are_shown_without_loss(n_q: int, n_k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_q, 2)) @ rng.normal(size=(n_k, 2)).T
    plane = query_key_plane(scores)
    assert np.allclose(plane.queries @ plane.keys.T, scores)
    assert plane.queries.shape == (n_q, 2)
    assert plane.keys.shape == (n_k, 2)
    assert plane.share == pytest.approx(1)


def test_the_share_tells_what_is_lost() -> None:
    plane = query_key_plane(np.diag([3.0, 2.0, 1.0]))
    assert plane.share == pytest.approx((9 + 4) / 14)
    assert np.allclose(plane.queries @ plane.keys.T, np.diag([3.0, 2.0, 0.0]))


def test_no_score_at_all_is_a_point() -> None:
    plane = query_key_plane(np.zeros((3, 4)))
    assert not plane.queries.any()
    assert plane.share == 1


def test_the_sign_is_settled() -> None:
    scores = np.random.default_rng(1).normal(size=(5, 4))
    keys = query_key_plane(scores).keys
    assert (keys[np.abs(keys).argmax(axis=0), [0, 1]] > 0).all()
