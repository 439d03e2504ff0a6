"""core/experiments/splitting.py and heads_compared.py: wrong reshapes, wide against narrow, costs."""

import numpy as np
import pytest

from core.attention import attention
from core.checks import ShapeError
from core.experiments.heads_compared import cost, cost_lab, mixing_lab, width_lab
from core.experiments.splitting import loop_lab, merge_lab, split_lab
from core.heads import merge_heads, split_heads
from core.setup import Setup, inputs

TWO = inputs(Setup(example="two_heads", n_heads=2))
FLAT = tuple(merge_heads(x) for x in (TWO.q, TWO.k, TWO.v))


def test_the_wrong_reshape_has_the_right_shape_and_the_wrong_content():
    lab = split_lab(*FLAT, 2)
    assert lab.wrong.q.shape == lab.right.q.shape == (2, 7, 4)
    assert lab.weights_error == pytest.approx(0.92, abs=5e-3)
    np.testing.assert_array_equal(lab.right.k, TWO.k)
    # Head 0, row 1 of the wrong one is the second half of word 0.
    np.testing.assert_array_equal(lab.wrong.k[0, 1], FLAT[1][0, 4:])
    assert (lab.wrong_origins[0, 1] == 0).all()
    assert (lab.right_origins == np.arange(7)[None, :, None]).all()
    assert lab.mixed_rows == 12


def test_origins_name_where_each_element_came_from():
    """Elements that are all different: the origin's word holds each of them."""
    x = np.arange(56.0).reshape(7, 8)
    lab = split_lab(x, x, x, 2)
    for cut, origin in ((lab.right.q, lab.right_origins), (lab.wrong.q, lab.wrong_origins)):
        np.testing.assert_array_equal(cut // 8, origin)


def test_one_head_is_cut_right_either_way():
    lab = split_lab(*FLAT, 1)
    assert lab.weights_error == 0
    assert lab.mixed_rows == 0
    assert "choose two heads" in lab.caption
    q, k, v = TWO.q[:1], TWO.k[:1], TWO.v[:1]
    others = loop_lab(q, k, v), merge_lab(v), width_lab(q, k, v, TWO.query_tokens, TWO.key_tokens)
    assert all("choose two heads" in other.caption for other in others)


def test_one_query_still_shows_the_keys_mixed_up():
    one = inputs(Setup(example="needle", seq_len=8, n_heads=2))
    lab = split_lab(*(merge_heads(x) for x in (one.q, one.k, one.v)), 2)
    assert lab.mixed_rows == 14


def test_a_missing_transpose_at_the_merge():
    heads = attention(TWO.q, TWO.k, TWO.v).output
    lab = merge_lab(heads)
    assert lab.wrong.shape == lab.right.shape == (7, 8)
    assert lab.error == pytest.approx(7.5, abs=0.05)
    np.testing.assert_array_equal(lab.right, merge_heads(heads))
    assert lab.misplaced == pytest.approx(48 / 56)
    labelled = np.broadcast_to(np.arange(7.0)[None, :, None], (2, 7, 4))
    np.testing.assert_array_equal(merge_lab(np.ascontiguousarray(labelled)).wrong, lab.wrong_origins)


def test_merge_needs_a_head_axis():
    with pytest.raises(ShapeError, match=r"\(7, 8\)"):
        merge_lab(np.ones((7, 8)))


def test_wide_scores_are_the_sum_of_the_heads_scores():
    lab = width_lab(TWO.q, TWO.k, TWO.v, TWO.query_tokens, TWO.key_tokens)
    assert lab.score_difference == 0
    assert lab.wide.weights[4, 1] == pytest.approx(0.53, abs=5e-3)
    assert lab.wide.weights[4, 3] == pytest.approx(0.26, abs=5e-3)
    assert lab.narrow.weights[0, 4, 1] == pytest.approx(0.854, abs=5e-4)
    assert lab.narrow.weights[1, 4, 3] == pytest.approx(0.90, abs=5e-3)
    assert lab.pairs_above(0.3) == (7, 12)
    assert "kite 0.526, because 0.259" in lab.row_caption(4)


def test_one_head_follows_content_and_one_the_word_before():
    narrow = width_lab(TWO.q, TWO.k, TWO.v, TWO.query_tokens, TWO.key_tokens).narrow.weights
    before = narrow[:, np.arange(1, 7), np.arange(6)]  # each word's weight on the word before it
    assert (before[1] > 0.89).all()
    assert before[0].mean() < 0.4


def test_multiply_adds_do_not_depend_on_the_heads():
    lab = cost_lab(128, 512)
    assert {(one.scores, one.blend) for one in lab.costs} == {(8_388_608, 8_388_608)}
    assert [one.softmax_entries for one in lab.costs] == [16_384, 32_768, 65_536, 131_072]
    assert "the same for every number of heads" in lab.caption


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_costs_are_what_counting_gives(n_heads):
    """Count the multiplications of a product written with loops."""
    seq_len, d_model, products = 3, 6, 0
    x = np.ones((seq_len, d_model))
    q = split_heads(x, n_heads)
    for head in range(n_heads):
        for i in range(seq_len):
            for j in range(seq_len):
                products += (q[head, i] * q[head, j]).size
    found = cost(seq_len, d_model, n_heads)
    assert (found.scores, found.blend) == (products, products)
    assert found.projections == 4 * sum(x[i].size * d_model for i in range(seq_len))
    assert found.softmax_entries == attention(q, q, q).weights.size


def test_a_width_that_cannot_be_divided_is_refused():
    with pytest.raises(ShapeError, match="d_model = 8 cannot be cut into n_heads = 3"):
        cost(4, 8, 3)


def test_loop_equals_batched_and_untransposed_does_not():
    lab = loop_lab(TWO.q, TWO.k, TWO.v)
    assert lab.difference < 1e-15
    assert lab.between_heads.shape == (7, 2, 2)
    np.testing.assert_allclose(lab.between_heads.sum(axis=-1), 1)


def test_the_loop_needs_as_many_queries_as_keys():
    with pytest.raises(ShapeError, match=r"\(2, 1, 4\).*\(2, 7, 4\)"):
        loop_lab(TWO.q[:, :1], TWO.k, TWO.v)


def test_w_o_mixes_by_degrees():
    heads = attention(TWO.q, TWO.k, TWO.v).output
    none, half, full = (mixing_lab(heads, TWO.w_o, amount) for amount in (0.0, 0.5, 1.0))
    np.testing.assert_array_equal(none.output, none.concat)
    np.testing.assert_allclose(full.output, full.concat @ TWO.w_o)
    np.testing.assert_allclose(half.output, (none.output + full.output) / 2)
    np.testing.assert_array_equal(none.head_shares, np.repeat(np.eye(2), 4, axis=0))
    assert "0 of 8 output channels draw on every head" in none.caption


def test_mixing_beyond_the_ends_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        mixing_lab(np.ones((2, 3, 2)), np.ones((4, 4)), 1.5)
