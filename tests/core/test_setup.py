from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import masks
from core.attention import AttentionSteps, attention
from core.edits import MAX_EDITS, parse_edits
from core.examples import EXAMPLES
from core.heads import merge_heads
from core.offered import D_KS, HEADS, MASKS, SEQ_LENS
from core.setup import (
    Setup,
    allowed,
    changed,
    inputs,
    run,
    with_edit,
)

SETUPS = st.builds(
    Setup,
    example=st.sampled_from(sorted(EXAMPLES)),
    seq_len=st.integers(2, 12),
    d_k=st.sampled_from(D_KS[:6]),
    mask=st.sampled_from(MASKS),
    n_heads=st.sampled_from(HEADS),
    seed=st.integers(0, 99),
    n_pad=st.integers(0, 12),
    window=st.integers(1, 13),
)


# The choices


def test_what_is_offered() -> None:
    assert (SEQ_LENS[0], SEQ_LENS[-1]) == (2, 64)
    assert (D_KS[0], D_KS[-1]) == (1, 1024)
    assert HEADS == (1, 2, 4, 8)
    assert Setup() == Setup("kite", 7, 4, "none", 1, 0)
    assert hash(Setup()) == hash(Setup())
    assert Setup(d_k=16, n_heads=4).d_model == 64


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"example": "kit"}, "example is 'kit', but it must be one of kite, needle"),
        ({"example": None}, "example is None"),
        ({"mask": "top-left"}, "mask is 'top-left', but it must be one of none, causal"),
        ({"n_heads": 3}, "n_heads is 3, but it must be one of 1, 2, 4, 8"),
        ({"n_heads": True}, "n_heads is True"),
        ({"d_k": 5}, "d_k is 5, but it must be one of 1, 2, 3, 4, 8"),
        ({"d_k": 4.0}, "d_k is 4.0"),
        ({"seq_len": 1}, "seq_len is 1, but it must be a whole number from 2 to 64"),
        ({"seq_len": 65}, "seq_len is 65"),
        ({"seq_len": 7.0}, "seq_len is 7.0"),
        ({"seq_len": "7"}, "seq_len is '7'"),
        ({"seed": -1}, "seed is -1, but it must be a whole number from 0 to 9999"),
        ({"n_pad": 64}, "n_pad is 64, but it must be a whole number from 0 to 63"),
        ({"window": 0}, "window is 0, but it must be a whole number from 1 to 64"),
        ({"edits": None}, "edits must be text, but it is a NoneType"),
    ],
)
def test_what_is_not_offered_is_refused_in_a_sentence(choice: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Setup(**choice)


# What follows from them


@given(SETUPS)
def test_run_is_the_attention_of_the_inputs(setup: Setup) -> None:
    given, steps = inputs(setup), run(setup)
    for name in ("q", "k", "v"):
        np.testing.assert_array_equal(getattr(steps.heads, name), getattr(given, name))
    expected = attention(given.q, given.k, given.v, allowed(setup))
    np.testing.assert_array_equal(steps.heads.output, expected.output)
    np.testing.assert_array_equal(steps.concat, merge_heads(expected.output))
    np.testing.assert_array_equal(steps.output, steps.concat @ given.w_o)
    assert steps.heads.weights.shape == (setup.n_heads, len(given.query_tokens), setup.seq_len)
    assert steps.output.shape == (len(given.query_tokens), setup.d_model)
    np.testing.assert_allclose(steps.heads.weights.sum(axis=-1), 1, rtol=1e-12)  # no mask leaves a row empty


@given(SETUPS)
def test_each_mask_is_what_its_name_says(setup: Setup) -> None:
    n_q, n_k = run(setup).heads.scores.shape[-2:]
    causal = masks.causal(n_q, n_k)
    real = np.arange(n_k) < max(1, n_k - setup.n_pad)
    expected = {
        "none": None,
        "causal": causal,
        "padding": np.broadcast_to(real, (n_q, n_k)),
        "window": masks.sliding_window(n_q, n_k, width=setup.window),
        "causal+padding": causal & real,
    }[setup.mask]
    if expected is None:
        assert allowed(setup) is None
    else:
        np.testing.assert_array_equal(allowed(setup), expected)


def test_causal_and_padding_together() -> None:
    both = allowed(Setup(seq_len=4, mask="causal+padding", n_pad=2))
    np.testing.assert_array_equal(both, [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]])


def test_at_least_one_key_is_real() -> None:
    np.testing.assert_array_equal(allowed(Setup(seq_len=3, mask="padding", n_pad=63)), [[1, 0, 0]] * 3)


def test_a_single_query_stands_at_the_last_position() -> None:
    np.testing.assert_array_equal(allowed(Setup("needle", 8, mask="causal")), [[True] * 8])
    near = allowed(Setup("needle", 8, mask="window", window=3))
    np.testing.assert_array_equal(near, [[False] * 5 + [True] * 3])


# Edits


@given(st.text())
def test_no_text_can_break_the_edits(text: str) -> None:
    assert len(parse_edits(text)) <= MAX_EDITS
    setup = Setup(edits=text)
    np.testing.assert_array_equal(inputs(setup).q.shape, inputs(Setup()).q.shape)


@given(SETUPS, st.data())
def test_an_edit_sets_its_cell_and_no_other(setup: Setup, data: st.DataObject) -> None:
    tensor = data.draw(st.sampled_from("qkv"))
    before = getattr(inputs(setup), tensor)
    cell = tuple(data.draw(st.integers(0, n - 1)) for n in before.shape)
    value = data.draw(st.floats(-99, 99))
    edited = replace(setup, edits=with_edit(setup, tensor, *cell, value))
    after = getattr(inputs(edited), tensor)
    assert after[cell] == value
    assert (after != before).sum() == (value != before[cell])
    for other in {"q", "k", "v"} - {tensor}:
        np.testing.assert_array_equal(getattr(inputs(edited), other), getattr(inputs(setup), other))
    assert with_edit(edited, tensor, *cell, float(before[cell])) == ""  # the example's own value: no edit


def test_edits_are_kept_in_order_and_replaced() -> None:
    setup = Setup()
    for cell, value in ((("q", 0, 4, 0), 5), (("v", 0, 1, 0), -8.25), (("q", 0, 4, 0), 1000)):
        setup = replace(setup, edits=with_edit(setup, *cell, value))
    assert setup.edits == "q.0.4.0=99;v.0.1.0=-8.25"


def test_an_edit_outside_the_setup_waits_until_the_setup_has_the_cell() -> None:
    edits = "q.0.8.0=5"
    assert (inputs(Setup(edits=edits)).q == inputs(Setup()).q).all()
    assert inputs(Setup(seq_len=9, edits=edits)).q[0, 8, 0] == 5
    assert with_edit(Setup(edits=edits), "k", 0, 0, 0, 7) == "q.0.8.0=5;k.0.0.0=7"


def test_a_full_list_of_edits_takes_no_more() -> None:
    full = ";".join(f"q.0.0.{c}=50" for c in range(MAX_EDITS))
    setup = Setup(d_k=128, edits=full)
    assert with_edit(setup, "k", 0, 0, 0, 50) == full
    assert with_edit(setup, "q", 0, 0, 3, 40) == full.replace("q.0.0.3=50", "q.0.0.3=40")


@pytest.mark.parametrize(
    "cell", [("x", 0, 0, 0), ("q", 1, 0, 0), ("q", 0, 7, 0), ("v", 0, 0, 3), ("q", 0, -1, 0)]
)
def test_an_edit_of_no_cell_is_refused(cell: tuple) -> None:
    with pytest.raises(ValueError, match=rf"no cell {cell[0]}\[{cell[1]}, {cell[2]}, {cell[3]}\]"):
        with_edit(Setup(), *cell, 1.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_edit_to_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite number, but it was given"):
        with_edit(Setup(), "q", 0, 0, 0, value)


# What an edit changes


def test_nothing_is_changed_without_edits() -> None:
    marks = changed(Setup(mask="causal", n_heads=2))
    assert set(marks) == {*AttentionSteps.__slots__, "concat", "projected"}
    assert not any(mark.any() for mark in marks.values())


def test_an_edited_key_changes_one_column_of_scores() -> None:
    marks = changed(Setup(edits="k.0.1.0=5"))
    assert np.argwhere(marks["k"]).tolist() == [[0, 1, 0]]
    assert not marks["q"].any()
    assert not marks["v"].any()
    assert set(np.argwhere(marks["scores"])[:, 2]) == {1}
    moved = marks["scores"][0, :, 1]
    assert moved.tolist() == (inputs(Setup()).q[0, :, 0] != 0).tolist()
    assert marks["weights"][0, moved].all()  # a share that changes changes the row's other shares
    assert not marks["weights"][0, ~moved].any()


def test_an_edited_query_changes_one_row() -> None:
    marks = changed(Setup(edits="q.0.4.0=5"))
    for name in ("scores", "weights", "output"):
        assert set(np.argwhere(marks[name])[:, 1]) == {4}
    assert set(np.argwhere(marks["projected"])[:, 0]) == {4}


def test_an_edited_value_changes_one_channel_of_the_output_and_no_weight() -> None:
    marks = changed(Setup(n_heads=2, edits="v.1.1.0=50"))
    assert not marks["weights"].any()
    assert marks["output"][1, :, 0].all()
    assert marks["output"].sum() == 7
    assert set(np.argwhere(marks["concat"])[:, 1]) == {3}


def test_under_a_mask_an_edit_does_not_reach_what_it_hides() -> None:
    marks = changed(Setup(mask="causal", edits="k.0.6.0=5"))
    assert marks["scores"][0, :6, 6].any()
    assert not marks["masked_scores"][0, :6].any()
    assert not marks["output"][0, :6].any()
