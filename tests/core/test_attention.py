import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import masks
from core.attention import AttentionSteps, attention, blend, mask, scale, score, softmax
from tests.core.golden import STEPS, assert_close, cases

SINGLE = cases(holding="sdpa")
NUMBERS = st.floats(-20, 20, allow_subnormal=False)


@st.composite
def inputs(draw: st.DrawFn, *, self_attention: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, k, v of any fitting sizes, up to two leading axes."""
    leading = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    n_q, n_k, d_k, d_v = (draw(st.integers(1, 6)) for _ in range(4))
    n_k = n_q if self_attention else n_k
    shapes = ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    q, k, v = (draw(hnp.arrays(float, leading + shape, elements=NUMBERS)) for shape in shapes)
    return q, k, v


@st.composite
def with_allowed(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same, with any mask that leaves each query at least one key."""
    q, k, v = draw(inputs())
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = draw(hnp.arrays(bool, (n_q, n_k)))
    allowed[np.arange(n_q), draw(hnp.arrays(int, n_q, elements=st.integers(0, n_k - 1)))] = True
    return q, k, v, allowed


ROWS = hnp.arrays(float, hnp.array_shapes(min_dims=2, max_dims=3, max_side=6), elements=NUMBERS)


# What PyTorch gives


@pytest.mark.parametrize("case", SINGLE)
def test_every_step_is_pytorchs(case: str) -> None:
    golden = SINGLE[case]
    steps = attention(golden["q"], golden["k"], golden["v"], golden.get("allowed"))
    for name in STEPS:
        assert_close(getattr(steps, name), golden[name])


@pytest.mark.parametrize("case", SINGLE)
def test_each_function_alone_is_pytorchs(case: str) -> None:
    golden = SINGLE[case]
    assert_close(score(golden["q"], golden["k"]), golden["scores"])
    assert_close(scale(golden["scores"], golden["q"].shape[-1]), golden["scaled_scores"])
    assert_close(mask(golden["scaled_scores"], golden.get("allowed")), golden["masked_scores"])
    assert_close(softmax(golden["masked_scores"]), golden["weights"])
    assert_close(blend(golden["weights"], golden["v"]), golden["output"])


@pytest.mark.parametrize("case", SINGLE)
def test_the_output_is_that_of_pytorchs_fused_function(case: str) -> None:
    """Except where nothing is allowed: NaN by the formula, zeros by F.scaled_dot_product_attention."""
    golden = SINGLE[case]
    output = attention(golden["q"], golden["k"], golden["v"], golden.get("allowed")).output
    nothing = np.isnan(output)
    assert nothing.any() == (case == "rows_with_nothing")
    assert (golden["sdpa"][nothing] == 0).all()
    assert_close(np.where(nothing, np.array(0, output.dtype), output), golden["sdpa"])


# Laws


@given(with_allowed())
def test_each_row_is_a_distribution_over_the_allowed_keys(given: tuple) -> None:
    q, k, v, allowed = given
    weights = attention(q, k, v, allowed).weights
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)
    assert (weights >= 0).all()
    assert (weights[..., ~allowed] == 0).all()  # not tiny: 0


@given(with_allowed())
def test_a_single_allowed_key_gets_all_and_exactly(given: tuple) -> None:
    q, k, v, allowed = given
    alone = allowed & (np.cumsum(allowed, axis=-1) == 1)  # the first allowed key of each row
    steps = attention(q, k, v, alone)
    assert (steps.weights == alone).all()
    np.testing.assert_array_equal(steps.output, v[..., alone.argmax(axis=-1), :])


@given(ROWS, st.floats(-100, 100))
def test_a_constant_added_to_a_row_changes_nothing(rows: np.ndarray, constant: float) -> None:
    shift = constant * np.arange(rows.shape[-2])[:, None]
    np.testing.assert_allclose(softmax(rows + shift), softmax(rows), rtol=1e-9, atol=1e-300)


@given(with_allowed(), st.data())
def test_permuting_keys_and_values_together_changes_nothing(given: tuple, data: st.DataObject) -> None:
    q, k, v, allowed = given
    order = data.draw(st.permutations(range(k.shape[-2])))
    before = attention(q, k, v, allowed)
    after = attention(q, k[..., order, :], v[..., order, :], allowed[:, order])
    np.testing.assert_allclose(after.output, before.output, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after.weights, before.weights[..., order], rtol=1e-9, atol=1e-9)


@given(inputs(self_attention=True), st.data())
def test_under_the_causal_mask_no_output_is_moved_by_later_tokens(given: tuple, data: st.DataObject) -> None:
    q, k, v = given
    n = q.shape[-2]
    position = data.draw(st.integers(0, n - 1))
    before = attention(q, k, v, masks.causal(n)).output
    later = [(*x.shape[:-2], n - position, x.shape[-1]) for x in given]
    changed = (
        np.concatenate([x[..., :position, :], data.draw(hnp.arrays(float, shape, elements=NUMBERS))], axis=-2)
        for x, shape in zip(given, later, strict=True)
    )
    after = attention(*changed, masks.causal(n)).output
    np.testing.assert_array_equal(after[..., :position, :], before[..., :position, :])


@given(inputs(self_attention=True), st.data())
def test_one_masked_pass_equals_each_prefix_alone(given: tuple, data: st.DataObject) -> None:
    q, k, v = given
    n = data.draw(st.integers(1, q.shape[-2]))
    whole = attention(q, k, v, masks.causal(q.shape[-2])).output[..., n - 1, :]
    prefix = attention(q[..., :n, :], k[..., :n, :], v[..., :n, :]).output[..., n - 1, :]
    np.testing.assert_allclose(prefix, whole, rtol=1e-12, atol=1e-12)


@given(inputs())
def test_an_output_stays_between_the_smallest_and_the_largest_value(given: tuple) -> None:
    q, k, v = given
    output = attention(q, k, v).output
    low, high = v.min(axis=-2, keepdims=True), v.max(axis=-2, keepdims=True)
    assert (output >= low - 1e-12).all()
    assert (output <= high + 1e-12).all()


@given(inputs())
def test_the_order_of_a_row_stays(given: tuple) -> None:
    """Scaling and softmax keep who wins: the largest score has the largest weight."""
    steps = attention(*given)
    best = steps.scores.argmax(axis=-1)[..., None]
    weight_of_best = np.take_along_axis(steps.weights, best, axis=-1)
    np.testing.assert_array_equal(weight_of_best, steps.weights.max(axis=-1, keepdims=True))


@given(with_allowed(), st.sampled_from([np.float32, np.float64]))
def test_attention_is_its_four_functions_one_after_the_other(given: tuple, dtype: type) -> None:
    q, k, v = (array.astype(dtype) for array in given[:3])
    for allowed in (None, given[3]):
        steps = attention(q, k, v, allowed)
        np.testing.assert_array_equal(steps.scores, score(q, k))
        np.testing.assert_array_equal(steps.scaled_scores, scale(steps.scores, q.shape[-1]))
        np.testing.assert_array_equal(steps.masked_scores, mask(steps.scaled_scores, allowed))
        np.testing.assert_array_equal(steps.weights, softmax(steps.masked_scores))
        np.testing.assert_array_equal(steps.output, blend(steps.weights, v))
        assert {getattr(steps, name).dtype for name in AttentionSteps.__slots__} == {np.dtype(dtype)}


# Single facts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_scores_do_not_overflow(dtype: type) -> None:
    rows = np.array([[1000, 1001, 1002], [-1002, -1001, -1000]], dtype)
    np.testing.assert_allclose(softmax(rows), [[0.09003057, 0.24472847, 0.66524096]] * 2, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_with_nothing_allowed_is_nan_and_says_so_to_nobody(dtype: type) -> None:
    q = np.ones((2, 3), dtype)
    steps = attention(q, q, q, np.array([[False, False], [True, False]]))  # a warning would be an error here
    assert np.isnan(steps.weights[0]).all()
    assert np.isnan(steps.output[0]).all()
    np.testing.assert_array_equal(steps.weights[1], [1, 0])
    assert np.isnan(softmax(np.full((1, 4), -np.inf, dtype))).all()


def test_nan_in_a_key_reaches_every_row_and_warns_nobody() -> None:
    q = np.ones((2, 3))
    k = np.array([[1.0, np.nan, 1.0], [1.0, 1.0, 1.0]])
    assert np.isnan(attention(q, k, q).weights).all()
    hidden = attention(q, k, q, np.array([False, True])[None])  # hidden: the NaN is replaced by -inf
    np.testing.assert_array_equal(hidden.weights, [[0, 1], [0, 1]])


@pytest.mark.parametrize("shape", [(8, 64, 64), (8, 300, 300), (1, 1000, 1000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_softmax_is_the_same_as_a_plain_one(shape: tuple, dtype: type) -> None:
    """Large arrays are overwritten on the way; the caller's are not."""
    rows = np.random.default_rng(0).normal(0, 5, shape).astype(dtype)
    kept = rows.copy()
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(softmax(rows), exps / exps.sum(axis=-1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(rows, kept)


def test_no_step_overwrites_another() -> None:
    q, k, v = np.random.default_rng(1).normal(size=(3, 2, 400, 8))
    copies = q.copy(), k.copy(), v.copy()
    steps = attention(q, k, v, masks.causal(400))
    arrays = [getattr(steps, name) for name in AttentionSteps.__slots__]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
    for array, copy in zip((q, k, v), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_without_a_mask_the_masked_scores_are_the_scaled_ones() -> None:
    steps = attention(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)))
    assert steps.masked_scores is steps.scaled_scores


def test_arrays_that_are_not_contiguous() -> None:
    q, k, v = np.random.default_rng(2).normal(size=(3, 5, 4, 6)).swapaxes(-1, -2)[..., ::-1]
    plain = attention(q.copy(), k.copy(), v.copy())
    np.testing.assert_allclose(attention(q, k, v).output, plain.output, rtol=1e-12)
    np.testing.assert_allclose(softmax(plain.scores.mT), softmax(plain.scores.mT.copy()), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_integers_become_float64_before_they_can_wrap_around(dtype: type) -> None:
    q = np.array([[100, 100], [1, 0]], dtype)
    steps = attention(q, q, q)
    np.testing.assert_array_equal(steps.scores, [[20000, 100], [100, 1]])
    np.testing.assert_array_equal(score(q, q), steps.scores)
    assert {getattr(steps, name).dtype for name in AttentionSteps.__slots__} == {np.dtype(float)}
    np.testing.assert_allclose(softmax(np.array([[0, 1]], dtype)), [[0.26894142, 0.73105858]], rtol=1e-7)


def test_one_head_of_many() -> None:
    q, k, v = np.random.default_rng(3).normal(size=(3, 4, 5, 6))
    steps = attention(q, k, v, masks.causal(5))
    alone = attention(q[2], k[2], v[2], masks.causal(5))
    for name in AttentionSteps.__slots__:
        np.testing.assert_allclose(getattr(steps.head(2), name), getattr(alone, name), rtol=1e-12)


def test_steps_cannot_be_changed() -> None:
    steps = attention(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(steps, "scores", steps.weights)  # noqa: B010, as an assignment it is a type error already


def test_each_sequence_of_a_batch_is_on_its_own() -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 5, 4))
    both = attention(q, k, v)
    for number in range(2):
        alone = attention(q[number], k[number], v[number])
        for name in ("scores", "scaled_scores", "weights", "output"):
            np.testing.assert_allclose(getattr(both, name)[number], getattr(alone, name), rtol=1e-12)
    changed = attention(np.stack([q[0], 9 * q[1]]), k, v)
    np.testing.assert_array_equal(changed.output[0], both.output[0])
    assert (changed.weights[1] != both.weights[1]).any()
