import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attention
from core.examples import EXAMPLES
from core.leak import leak_test
from core.offered import D_KS, HEADS
from core.setup import Setup, allowed, inputs, run

POSITIONS = range(7)


@pytest.mark.parametrize("position", POSITIONS)
def test_without_a_mask_every_row_moves(position: int) -> None:
    assert (leak_test(Setup(), position).moved > 1e-3).all()


@given(
    st.sampled_from(sorted(EXAMPLES)),
    st.sampled_from(("causal", "causal+padding")),
    st.integers(2, 16),
    st.sampled_from(D_KS[:6]),
    st.sampled_from(HEADS),
    st.integers(0, 99),
    st.data(),
)
def test_under_a_causal_mask_no_earlier_row_moves_by_a_single_bit(
    example: str, mask: str, seq_len: int, d_k: int, n_heads: int, seed: int, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, seq_len - 1))
    moved = leak_test(Setup(example, seq_len, d_k, mask, n_heads, seed), position).moved
    assert moved.shape[0] == n_heads
    if moved.shape[1] == seq_len:  # one query alone stands at the end and may see everything
        assert (moved[:, :position] == 0).all()
        assert (moved[:, position] > 0).all() or mask != "causal"


@pytest.mark.parametrize("position", POSITIONS)
def test_under_a_causal_mask_the_word_itself_and_later_rows_move(position: int) -> None:
    moved = leak_test(Setup(mask="causal"), position).moved[0]
    assert (moved[position:] > 0).all()


def test_a_padded_word_is_seen_by_nobody_else() -> None:
    """Its own query still gets a row, and that row changes with it."""
    moved = leak_test(Setup(mask="padding", n_pad=2), 6).moved[0]
    assert np.flatnonzero(moved).tolist() == [6]


def test_outside_its_window_a_word_moves_nobody() -> None:
    moved = leak_test(Setup(mask="window", window=2), 3).moved[0]
    assert np.flatnonzero(moved).tolist() == [2, 3, 4]


def test_what_is_reported_is_what_happened() -> None:
    test = leak_test(Setup(n_heads=2), 6)
    before = run(Setup(n_heads=2)).heads.output
    np.testing.assert_array_equal(test.moved, np.abs(test.output - before).max(axis=-1))
    assert test.word == inputs(Setup()).key_tokens[6] == "wet"
    assert test.replacement != "wet"
    assert test.position == 6


def test_what_is_told_is_enough_to_compute_the_output_by_hand() -> None:
    """The numbers of the sentence itself, put in place of the word's own, give the output of the test."""
    setup = Setup(n_heads=2, mask="causal")
    test = leak_test(setup, 6)
    for head in range(2):
        said = test.told(head)
        assert said.startswith("wet → stone: q = (")
        told = {
            name: [float(n.replace("−", "-")) for n in numbers.split(", ")]
            for name, numbers in re.findall(r"([qkv]) = \(([^)]*)\)", said)
        }
        given = inputs(setup)
        arrays = {name: getattr(given, name)[head].copy() for name in "qkv"}
        for name, array in arrays.items():
            array[6] = told[name]
        output = attention(arrays["q"], arrays["k"], arrays["v"], allowed(setup)).output
        np.testing.assert_array_equal(output, test.output[head])


def test_long_vectors_are_told_by_their_seed_and_queries_that_stay_are_not_told() -> None:
    assert leak_test(Setup(d_k=64, seed=5), 6).told(0) == (
        "wet → stone: q, k and v of small whole numbers, from seed 5"
    )
    assert "q = " not in leak_test(Setup("needle", 8), 0).told(0)


def test_the_single_query_stays_when_a_drawer_is_replaced() -> None:
    moved = leak_test(Setup("needle", 8), 0).moved
    assert moved.shape == (1, 1)
    assert moved[0, 0] > 0


@pytest.mark.parametrize("position", [-1, 7])
def test_a_position_outside_the_sequence_is_refused(position: int) -> None:
    with pytest.raises(ValueError, match=f"position is {position}, but the sequence has positions 0 to 6"):
        leak_test(Setup(), position)
