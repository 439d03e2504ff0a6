import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import examples
from core.attention import attention
from core.examples import EXAMPLES
from core.heads import merge_heads
from core.offered import D_KS, HEADS
from core.setup import Setup, inputs, run

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "examples.json").read_text(encoding="utf-8"))
SENTENCES = ("kite", "equal_keys", "coref", "two_heads")


def natural(name: str, **choices: Any) -> Setup:
    """The example at the size that it was made for."""
    example = EXAMPLES[name]
    return replace(Setup(name, example.seq_len, example.d_k, n_heads=example.n_heads), **choices)


# The numbers that the lesson tells (computed apart from this code; see tests/golden/examples.json)


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("step", ["scores", "scaled_scores", "weights", "output"])
def test_an_example_shows_the_numbers_of_the_lesson(name: str, step: str) -> None:
    ours = getattr(run(natural(name)).heads, step)[0]
    np.testing.assert_allclose(ours, GOLDEN[name][step], atol=5.1e-7)


def test_the_kite() -> None:
    """The cell that the lesson follows through every page."""
    setup = natural("kite")
    heads, names = run(setup).heads.head(0), inputs(setup)
    it, kite = EXAMPLES["kite"].row, EXAMPLES["kite"].col
    assert (names.query_tokens[it], names.key_tokens[kite]) == ("it", "kite")
    assert heads.scores[it, kite] == 8
    assert heads.scaled_scores[it, kite] == 4
    assert round(heads.weights[it, kite], 3) == 0.854
    assert heads.output[it].round(2).tolist() == [7.85, 0.16, 1.51]
    assert set(heads.scaled_scores.ravel()) == {-2, -1, 0, 1, 1.5, 2, 3, 4}
    assert heads.scores[kite, it] == -2  # not symmetric


def test_the_kite_under_the_causal_mask() -> None:
    heads = run(natural("kite", mask="causal")).heads.head(0)
    np.testing.assert_allclose(heads.weights, GOLDEN["kite"]["causal weights"], atol=5.1e-4)
    np.testing.assert_allclose(heads.output, GOLDEN["kite"]["causal output"], atol=5.1e-3)
    assert heads.weights[0].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert (heads.output[0] == heads.v[0]).all()


def test_the_kite_without_the_scale() -> None:
    heads = run(natural("kite")).heads.head(0)
    unscaled = attention(heads.q * 2, heads.k, heads.v).weights  # d_k = 4
    np.testing.assert_allclose(unscaled, GOLDEN["kite"]["weights without the scale"], atol=5.1e-4)


@given(st.integers(2, 64))
def test_the_kites_scores_stay_whole_in_a_longer_sentence(seq_len: int) -> None:
    scores = run(natural("kite", seq_len=seq_len)).heads.scores
    assert (scores == scores.round()).all()


def test_the_whole_sentence() -> None:
    words = inputs(natural("kite", seq_len=64)).key_tokens
    assert " ".join(words[:9]) == "The kite fell because it was wet so we"
    assert len(words) == 64
    assert inputs(natural("kite", seq_len=64)).query_tokens == words


@pytest.mark.parametrize(("seq_len", "share"), [(8, 0.90), (64, 0.46)])
def test_the_needle_is_diluted_among_more_drawers(seq_len: int, share: float) -> None:
    heads = run(natural("needle", seq_len=seq_len)).heads.head(0)
    assert heads.q.shape == (1, 4)
    assert heads.weights[0].argmax() == EXAMPLES["needle"].col
    assert heads.weights[0].max() == pytest.approx(share, abs=0.01)
    assert set(heads.scores[0]) == {8, 0, -8}
    assert heads.v[:, 0].tolist() == list(range(1, seq_len + 1))


@given(st.integers(2, 64), st.sampled_from(D_KS))
def test_equal_keys_share_equally_at_any_size(seq_len: int, d_k: int) -> None:
    weights = run(natural("equal_keys", seq_len=seq_len, d_k=d_k)).heads.weights[0]
    np.testing.assert_allclose(weights, 1 / seq_len, rtol=1e-9)


def test_saturation_counts_agreements_less_disagreements() -> None:
    heads = run(natural("saturation")).heads.head(0)
    agreements = (heads.q[0] == heads.k).sum(axis=-1)
    assert agreements.tolist() == [44, 40, 36, 32, 28, 24]
    assert (heads.scores[0] == agreements - (64 - agreements)).all()
    unscaled = attention(heads.q * 8, heads.k, heads.v).weights[0]
    assert unscaled[0] == pytest.approx(0.99966, abs=5e-6)
    longest = run(natural("saturation", seq_len=64)).heads.scores[0, 0]
    assert longest.argmax() == 0
    assert set(longest[6:]) == {0, -8, -16, -24}


def test_the_cup_and_the_plate_tie_until_a_key_is_edited() -> None:
    it, cup, plate = 6, 1, 4
    weights = [
        run(natural("coref", edits=f"k.0.{plate}.2={level}")).heads.weights[0, it] for level in range(4)
    ]
    shares = [(round(row[cup], 2), round(row[plate], 2)) for row in weights]
    assert shares == [(0.58, 0.35), (0.47, 0.47), (0.36, 0.60), (0.26, 0.71)]


@pytest.mark.parametrize("name", SENTENCES)
def test_head_1_of_a_sentence_attends_to_the_previous_word(name: str) -> None:
    scores = run(Setup(name, 24, n_heads=2)).heads.scores[1]
    previous = np.arange(24) == np.maximum(np.arange(24) - 1, 0)[:, None]
    assert (scores[previous] == 8).all()
    assert (scores[~previous] <= 4).all()
    weights = run(Setup(name, 7, n_heads=2)).heads.weights[1]
    assert ((weights[previous[:7, :7]] > 0.895) & (weights[previous[:7, :7]] < 0.925)).all()


def test_one_wide_head_must_mix_what_two_heads_hold_apart() -> None:
    two = run(natural("two_heads")).heads
    np.testing.assert_array_equal(two.weights[0], run(natural("kite")).heads.weights[0])
    wide = attention(*(merge_heads(tensor) for tensor in (two.q, two.k, two.v)))
    np.testing.assert_allclose(wide.scores, two.scores.sum(axis=0))
    it, kite, because = 4, 1, 3
    assert wide.weights[it, [kite, because]].round(2).tolist() == [0.53, 0.26]
    assert two.weights[[0, 1], it, [kite, because]].round(2).tolist() == [0.85, 0.90]


# Growing never reshuffles

SIZES = st.tuples(st.integers(2, 64), st.sampled_from(D_KS), st.sampled_from(HEADS))


@pytest.mark.parametrize("name", EXAMPLES)
@given(one=SIZES, other=SIZES, seed=st.integers(0, 9999))
def test_growing_never_changes_a_number(name: str, one: tuple, other: tuple, seed: int) -> None:
    """Two setups of any two sizes agree in everything that both have."""
    a, b = (inputs(Setup(name, seq_len=t, d_k=d, n_heads=h, seed=seed)) for t, d, h in (one, other))
    for tensor in ("q", "k", "v", "w_o"):
        x, y = getattr(a, tensor), getattr(b, tensor)
        common = tuple(slice(min(sizes)) for sizes in zip(x.shape, y.shape, strict=True))
        np.testing.assert_array_equal(x[common], y[common])
    for names in ("query_tokens", "key_tokens", "channels", "value_channels"):
        x, y = getattr(a, names), getattr(b, names)
        assert all(one == other for one, other in zip(x, y, strict=False))
    assert a.v.shape[-1] == b.v.shape[-1]  # d_v belongs to the example


@pytest.mark.parametrize("name", EXAMPLES)
@given(size=SIZES)
def test_every_number_has_its_names(name: str, size: tuple) -> None:
    seq_len, d_k, n_heads = size
    given = inputs(Setup(name, seq_len=seq_len, d_k=d_k, n_heads=n_heads))
    n_q = 1 if name in ("needle", "saturation") else seq_len
    assert given.q.shape == (n_heads, n_q, d_k)
    assert given.k.shape == (n_heads, seq_len, d_k)
    assert given.v.shape == (n_heads, seq_len, len(given.value_channels))
    assert given.w_o.shape == (n_heads * len(given.value_channels), n_heads * d_k)
    assert (len(given.query_tokens), len(given.key_tokens)) == (n_q, seq_len)
    assert len(given.channels) == len(set(given.channels)) == d_k
    assert {getattr(given, tensor).dtype for tensor in ("q", "k", "v", "w_o")} == {np.dtype(float)}


@pytest.mark.parametrize("name", EXAMPLES)
@given(size=SIZES, seed=st.integers(0, 9999))
def test_w_o_is_small_whole_numbers_and_loses_no_output(name: str, size: tuple, seed: int) -> None:
    seq_len, d_k, n_heads = size
    w_o = inputs(Setup(name, seq_len, d_k, n_heads=n_heads, seed=seed)).w_o
    assert set(w_o.ravel()) <= {-1, 0, 1}
    assert (w_o != 0).any(axis=0).all()


# What the seed decides


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_seed_changes_what_is_seeded_and_nothing_else(name: str) -> None:
    zero, one = (inputs(Setup(name, 9, 128, n_heads=4, seed=seed)) for seed in (0, 1))
    own = len(examples._PRESETS[name]["channels"])  # the preset's channels of head 0 are not seeded
    assert (zero.q[0, :, :own] == one.q[0, :, :own]).all()
    assert (zero.k[0, :, :own] == one.k[0, :, :own]).all()
    assert not (zero.q[0, :, own:] == one.q[0, :, own:]).all()
    assert not (zero.k[0, :, own:] == one.k[0, :, own:]).all()
    assert (zero.v[0] == one.v[0]).all() == (name != "random")
    assert (zero.k[1, :, :4] == one.k[1, :, :4]).all() == (name in SENTENCES)
    assert not (zero.k[2] == one.k[2]).all()
    assert not (zero.w_o == one.w_o).all()


@pytest.mark.parametrize("name", EXAMPLES)
def test_seeded_channels_have_variance_one(name: str) -> None:
    own = len(examples._PRESETS[name]["channels"])
    given = inputs(Setup(name, 64, 1024, seed=3))
    seeded = given.q[0, :, own:]
    assert seeded.mean() == pytest.approx(0, abs=0.1)
    assert seeded.var() == pytest.approx(1, abs=0.1)
    if name in ("needle", "saturation"):
        assert set(seeded.ravel()) == {-1, 1}


def test_tensors_and_heads_have_streams_of_their_own() -> None:
    given = inputs(Setup("random", 64, 64, n_heads=8))
    blocks = [*given.q, *given.k]
    assert not any(
        abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) > 0.1 for i, a in enumerate(blocks) for b in blocks[:i]
    )


def test_meaningless_channels_add_variance_to_the_scores() -> None:
    """What the extra channels of the kite are for."""
    plain = run(Setup("kite", 64)).heads.scores
    wide = run(Setup("kite", 64, 1024)).heads.scores
    assert (wide - plain).var() == pytest.approx(1020, rel=0.1)


# What the reader is offered


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_starts_with_a_cell_that_it_has(name: str) -> None:
    example = EXAMPLES[name]
    heads = run(natural(name)).heads
    assert 0 <= example.row < heads.scores.shape[-2]
    assert 0 <= example.col < heads.scores.shape[-1]
    assert example.title
    assert example.about.endswith(".")
