"""assert_attention: silent on right functions, in any convention; the diagnosis for the others."""

import numpy as np
import pytest

from core.clinic import assert_attention, probe
from core.clinic.probe import BATCH, D_K, D_V, N_HEADS, N_K, N_Q
from tests.core.softmax import soft

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # some of them overflow on purpose


def scores(q, k):
    return q @ k.swapaxes(-1, -2) / q.dtype.type(q.shape[-1] ** 0.5)


def plain(q, k, v):
    return soft(scores(q, k)) @ v


def triangle(q, k, offset):
    return np.tri(q.shape[-2], k.shape[-2], offset(k.shape[-2], q.shape[-2]), dtype=bool)


def causal(q, k, v, offset=lambda n_k, n_q: n_k - n_q):
    return soft(np.where(triangle(q, k, offset), scores(q, k), -np.inf)) @ v


def padded(q, k, v, keep):
    return soft(np.where(keep[:, None, None], scores(q, k), -np.inf)) @ v


def grouped(q, k, v):
    return plain(q, k.repeat(3, axis=1), v.repeat(3, axis=1))


def tiled(q, k, v):
    return plain(q, np.tile(k, (3, 1, 1)), np.tile(v, (3, 1, 1)))


def without_maximum(q, k, v):
    e = np.exp(scores(q, k))
    return e / e.sum(-1, keepdims=True) @ v


def heads_behind(q, k, v):
    return plain(*(x.swapaxes(1, 2) for x in (q, k, v))).swapaxes(1, 2)


def test_right_functions_pass():
    assert_attention(plain)
    assert_attention(lambda q, k, v: (plain(q, k, v), "weights"))
    assert_attention(causal, causal=True)
    assert_attention(padded, padding=True)
    assert_attention(grouped, n_heads=6, n_kv_heads=2)
    assert_attention(heads_behind, layout="BTHD")
    assert_attention(lambda q, k, v: soft(q @ k.swapaxes(-1, -2)) @ v, scale=1.0, dtypes=("float64",))


@pytest.mark.parametrize(
    ("function", "settings", "label"),
    [
        (lambda q, k, v: soft(q @ k.swapaxes(-1, -2)) @ v, {}, "scale.missing"),
        (plain, {"causal": True}, "mask.missing_causal"),
        (lambda q, k, v: causal(q, k, v, lambda *_: 0), {"causal": True}, "mask.causal_top_left"),
        (lambda q, k, v, keep: padded(q, k, v, ~keep), {"padding": True}, "mask.inverted"),
        (tiled, {"n_heads": 6, "n_kv_heads": 2}, "heads.gqa_tiled"),
        (without_maximum, {}, "softmax.no_max_subtraction"),
        (plain, {"layout": "BTHD"}, "heads.attends_over_heads"),
        (lambda q, k, v: plain(q, k, v)[..., :5], {}, "input.shape_mismatch"),
        (lambda q, k, v: np.cumsum(plain(q, k, v), axis=-2), {}, "UNEXPLAINED"),
        (lambda *_: None, {}, "input.missing_array"),
    ],
)  # fmt: skip
def test_wrong_functions_fail_with_the_diagnosis(function, settings, label):
    with pytest.raises(AssertionError, match=label):
        assert_attention(function, **settings)


def test_a_fault_of_unequal_lengths_needs_the_unequal_probe():
    assert_attention(lambda q, k, v: causal(q, k, v, lambda *_: 0), causal=True, square_only=True)


def test_overflow_of_half_precision_is_looked_for():
    def overflows(q, k, v):
        return (without_maximum if q.dtype == np.float16 else plain)(q, k, v)

    with pytest.raises(AssertionError, match=r"float16.*large scores(.|\n)*no_max_subtraction"):
        assert_attention(overflows)


def test_a_probe_has_the_sizes_it_says():
    equal, unequal = probe(padding=True, dtype="float32"), probe(square=False, n_heads=6, n_kv_heads=2)
    assert equal.arrays["q"].shape == equal.arrays["v"].shape == (BATCH, N_HEADS, N_K, D_K)
    assert equal.arrays["q"].dtype == np.float32
    assert equal.arrays["key_keep"].sum(1).tolist() == [N_K - 3, N_K]
    assert unequal.arrays["q"].shape == (BATCH, 6, N_Q, D_K)
    assert unequal.arrays["v"].shape == (BATCH, 2, N_K, D_V)
    np.testing.assert_allclose(probe(size=7.0).arrays["q"], 7 * probe().arrays["q"])


def test_an_unknown_layout_is_refused():
    with pytest.raises(ValueError, match="layout must be BHTD or BTHD"):
        assert_attention(plain, layout="TD")


def test_sizes_on_which_a_fault_could_hide_are_refused():
    """With as many heads as channels, sqrt(h) is sqrt(d_k): passing would prove less than it says."""
    with pytest.raises(AssertionError, match="UNDETERMINED"):
        assert_attention(plain, n_heads=D_K, dtypes=("float64",))
