from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import masks
from core.attention import attention
from core.checks import ShapeError
from core.heads import (
    MultiHeadSteps,
    join_heads,
    merge_heads,
    multi_head,
    repeat_key_value_heads,
    split_heads,
)
from tests.core.golden import assert_close, cases

LAYERS = cases(holding="mha")
WEIGHTS = ("w_q", "w_k", "w_v", "w_o")


def run(golden: dict) -> MultiHeadSteps:
    n_kv_heads = int(golden["n_kv_heads"]) if "n_kv_heads" in golden else None
    weights = (golden[name] for name in WEIGHTS)
    return multi_head(golden["x"], *weights, int(golden["n_heads"]), golden.get("allowed"), n_kv_heads)


@pytest.mark.parametrize("case", LAYERS)
def test_multi_head_is_pytorchs(case: str) -> None:
    golden = LAYERS[case]
    steps = run(golden)
    assert_close(steps.output, golden["mha"])
    if "weights" in golden:
        assert_close(steps.heads.weights, golden["weights"])
    if "heads" in golden:
        assert_close(steps.heads.output, golden["heads"])
        assert_close(steps.concat, golden["concat"])


def test_each_head_is_an_attention_of_its_own() -> None:
    """A batched product over the head axis gives what a loop over the heads gives."""
    golden = LAYERS["mha_causal"]
    steps, n_heads = run(golden), int(golden["n_heads"])
    q, k, v = (np.split(golden["x"] @ golden[name], n_heads, axis=-1) for name in WEIGHTS[:3])
    concats = np.split(steps.concat, n_heads, axis=-1)
    for head in range(n_heads):
        alone = attention(q[head], k[head], v[head], masks.causal(5))
        np.testing.assert_allclose(steps.heads.weights[:, head], alone.weights, rtol=1e-12)
        np.testing.assert_allclose(steps.heads.output[:, head], alone.output, rtol=1e-12)
        np.testing.assert_allclose(concats[head], alone.output, rtol=1e-12)


@st.composite
def splittable(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    n_heads = draw(st.integers(1, 4))
    leading = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    shape = (*leading, draw(st.integers(1, 5)), n_heads * draw(st.integers(1, 4)))
    return draw(hnp.arrays(float, shape, elements=st.floats(-9, 9))), n_heads


@given(splittable())
def test_merging_what_was_split_gives_it_back(given: tuple[np.ndarray, int]) -> None:
    x, n_heads = given
    np.testing.assert_array_equal(merge_heads(split_heads(x, n_heads)), x)


@given(splittable(), st.data())
def test_where_a_number_goes_when_it_is_split(given: tuple[np.ndarray, int], data: st.DataObject) -> None:
    x, n_heads = given
    *leading, seq_len, d_model = x.shape
    split = split_heads(x, n_heads)
    d_k = d_model // n_heads
    assert split.shape == (*leading, n_heads, seq_len, d_k)
    t, c = data.draw(st.integers(0, seq_len - 1)), data.draw(st.integers(0, d_model - 1))
    np.testing.assert_array_equal(split[..., c // d_k, t, c % d_k], x[..., t, c])


@given(splittable())
def test_scores_of_one_wide_head_are_the_sum_of_the_heads_scores(given: tuple[np.ndarray, int]) -> None:
    x, n_heads = given
    heads = split_heads(x, n_heads)
    np.testing.assert_allclose((heads @ heads.mT).sum(axis=-3), x @ x.mT, rtol=1e-9, atol=1e-9)


def test_grouped_heads_repeat_in_blocks() -> None:
    x = np.arange(2.0)[:, None, None] * np.ones((2, 3, 4))
    np.testing.assert_array_equal(repeat_key_value_heads(x, 6)[:, 0, 0], [0, 0, 0, 1, 1, 1])
    assert repeat_key_value_heads(x, 2) is x


def test_what_does_not_fit_is_refused_with_both_shapes() -> None:
    x, w = np.ones((2, 5, 6)), np.ones((6, 6))
    with pytest.raises(ShapeError, match=r"d_model = 6 cannot be cut into n_heads = 4 .*\(2, 5, 6\)"):
        split_heads(x, 4)
    with pytest.raises(ShapeError, match=r"n_heads = 0"):
        split_heads(x, 0)
    with pytest.raises(ShapeError, match=r"\(heads, T, d\), but its shape is \(5, 6\)"):
        merge_heads(np.ones((5, 6)))
    with pytest.raises(ShapeError, match=r"\(heads, T, d\), but its shape is \(5, 6\)"):
        repeat_key_value_heads(np.ones((5, 6)), 2)
    with pytest.raises(ShapeError, match=r"3 query heads cannot share 2 .*\(2, 5, 6\)"):
        repeat_key_value_heads(x, 3)
    with pytest.raises(ShapeError, match=r"x is 6 wide, w_k takes 5 \(x \(2, 5, 6\), w_k \(5, 6\)\)"):
        multi_head(x, w, np.ones((5, 6)), w, w, 2)
    with pytest.raises(ShapeError, match=r"6 wide, w_o takes 5 \(concat \(2, 5, 6\), w_o \(5, 6\)\)"):
        multi_head(x, w, w, w, np.ones((5, 6)), 2)
    with pytest.raises(TypeError, match=r"w_v must hold real numbers"):
        multi_head(x, w, w, w.astype(complex), w, 2)
    heads, w_o = attention(*np.ones((3, 2, 5, 4))), cast("np.ndarray", [[1.0]])
    with pytest.raises(TypeError, match=r"w_o must be a NumPy array"):
        join_heads(heads, w_o)
