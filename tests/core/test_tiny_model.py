"""core/tiny_model.py, against PyTorch's golden file and by what interventions must do."""

import time
from pathlib import Path

import numpy as np
import pytest

from core.attention import AttentionSteps, attention
from core.checks import ShapeError
from core.grammar import MAX_LEN, SENTENCES, START, VOCABULARY
from core.tiny_model import (
    N_HEADS,
    N_LAYERS,
    Change,
    Cut,
    ModelSteps,
    UnknownWordsError,
    forward,
    load_weights,
    next_words,
    read_sentence,
    run_model,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "tiny_model.npz"
WEIGHTS = Path(__file__).parents[2] / "assets" / "weights" / "tiny_model.npz"
KEYS = ("the", "keys", "to", "the", "cabinet")
ANNA = ("Anna", "thanked", "Peter", "because", "she")


@pytest.fixture(scope="module")
def golden() -> list[dict[str, np.ndarray]]:
    """One dict for each sentence."""
    with np.load(GOLDEN) as file:
        numbers = sorted({name.split("_")[0] for name in file.files}, key=int)
        return [
            {name.split("_", 1)[1]: file[name] for name in file.files if name.startswith(f"{number}_")}
            for number in numbers
        ]


def run_words(sentence: dict[str, np.ndarray]) -> ModelSteps:
    return run_model(tuple(str(word) for word in sentence["words"][1:]))


def probability(steps: ModelSteps, word: str) -> float:
    return float(steps.probabilities[-1, VOCABULARY.index(word)])


def test_attention_equals_torch(golden: list[dict[str, np.ndarray]]) -> None:
    assert len(golden) == 5
    for sentence in golden:
        steps = run_words(sentence)
        for index, layer in enumerate(steps.layers):
            heads = layer.multi_head.heads
            assert np.abs(heads.weights - sentence[f"weights_{index}"]).max() < 1e-5
            assert np.abs(heads.output - sentence[f"output_{index}"]).max() < 2e-5


def test_probabilities_equal_torch(golden: list[dict[str, np.ndarray]]) -> None:
    for sentence in golden:
        assert np.abs(run_words(sentence).probabilities - sentence["probabilities"]).max() < 1e-5


def test_logits_equal_torch(golden: list[dict[str, np.ndarray]]) -> None:
    """Logits are as large as 20, where float32 itself has steps of 2e-6: hence a relative tolerance too."""
    for sentence in golden:
        assert np.allclose(run_words(sentence).logits, sentence["logits"], rtol=1e-5, atol=5e-5)


def test_each_head_is_attention_of_its_own_q_k_v() -> None:
    steps = run_model(KEYS)
    for layer in range(N_LAYERS):
        for head in range(N_HEADS):
            one = steps.head(layer, head)
            again = attention(one.q, one.k, one.v, np.tri(6, dtype=bool))
            assert one.q.shape == (6, 16)
            assert np.allclose(one.weights, again.weights, atol=1e-6)
            assert np.allclose(one.output, again.output, atol=1e-6)


def test_a_layer_adds_its_output_to_what_went_in() -> None:
    first, second = run_model(KEYS).layers
    assert np.array_equal(second.x, first.x + first.multi_head.output)


def test_the_future_changes_nothing() -> None:
    short, long = run_model(KEYS), run_model((*KEYS, "are", "dusty"))
    assert np.allclose(long.probabilities[:6], short.probabilities, atol=1e-6)


def test_a_batch_gives_the_same_as_each_sentence_alone() -> None:
    ids = np.array([[VOCABULARY.index(w) for w in (START, *words)] for words in (KEYS, ANNA)])
    batch = forward(ids)
    for row, words in enumerate((KEYS, ANNA)):
        assert np.allclose(batch.probabilities[row], run_model(words).probabilities, atol=1e-6)


def test_it_takes_less_than_a_millisecond() -> None:
    words = (*KEYS, "near", "the", "lamps", "are", "dusty", ".", "Anna", "painted", ".", "the")
    run_model(words)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        run_model(words)
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-3  # the least disturbed run: the machine may be busy


def test_the_weights_are_small_float32_and_frozen() -> None:
    assert WEIGHTS.stat().st_size < 250_000
    weights = load_weights()
    assert weights.tokens.dtype == np.float32
    assert weights.positions.shape == (MAX_LEN, 64)
    with pytest.raises(ValueError, match="read-only"):
        weights.layers[0].w_q[0, 0] = 0


def test_next_words_are_the_most_probable_ones() -> None:
    steps = run_model((*KEYS, "near", "the", "lamp"))
    best = next_words(steps, -1, 4)
    assert [p for _, p in best] == sorted((p for _, p in best), reverse=True)
    assert best[0] == ("are", probability(steps, "are"))
    assert best[0][1] == steps.probabilities[-1].max()


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("keys", "are"),
        ("dogs", "are"),
        ("Anna", "painted"),
        ("Nina", "swam"),
        ("brackets", "]"),
        ("brackets", "is"),
    ],
)
def test_the_sentences_to_start_with_are_continued_rightly(name: str, word: str) -> None:
    words = read_sentence(SENTENCES[name])
    steps = run_model(words[: words.index(word)])
    assert next_words(steps, -1, 1)[0][0] == word


def test_the_second_time_of_the_block_is_known_by_heart() -> None:
    words = read_sentence(SENTENCES["twice"])
    steps = run_model(words)
    for position in range(7, 12):
        assert next_words(steps, position, 1)[0][0] == words[position]


# What a reader types


def test_a_typed_sentence_is_read_in_the_models_spelling() -> None:
    assert read_sentence("anna THANKED tom because she") == ("Anna", "thanked", "Tom", "because", "she")
    assert read_sentence("the keys (near the lamp) are dusty.")[2:7] == ("(", "near", "the", "lamp", ")")
    assert read_sentence("Tom said “the dogs") == ("Tom", "said", '"', "the", "dogs")


def test_unknown_words_are_told_with_the_nearest_known_ones() -> None:
    with pytest.raises(UnknownWordsError, match=r"“keyz” is not .*; the nearest are") as caught:
        read_sentence("the keyz to the zzzzqqq")
    assert set(caught.value.unknown["keyz"][:2]) == {"key", "keys"}
    assert caught.value.unknown["zzzzqqq"] == ()
    with pytest.raises(UnknownWordsError, match="no word of it is close"):
        run_model(("zzzzqqq",))


def test_the_start_mark_cannot_be_typed() -> None:
    with pytest.raises(UnknownWordsError):
        read_sentence("<s> the")


def test_too_long_and_empty_sentences_are_told() -> None:
    assert len(read_sentence("the " * 31)) == 31
    with pytest.raises(ValueError, match="32 words, and the model takes 31 at most"):
        read_sentence("the " * 32)
    with pytest.raises(ValueError, match="no word"):
        read_sentence("  ")
    with pytest.raises(ValueError, match="no word"):
        run_model(())


def test_too_many_positions_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"1 to 32 positions, but ids has shape \(33,\)"):
        forward(np.zeros(33, dtype=int))


# Changes


def test_no_change_is_no_change() -> None:
    assert np.array_equal(run_model(KEYS).logits, run_model(KEYS, Change()).logits)


def test_a_head_that_is_off_puts_out_zeros_and_the_others_stay() -> None:
    steps, off = run_model(KEYS), run_model(KEYS, Change(off=frozenset({(1, 2)})))
    assert not off.head(1, 2).output.any()
    assert np.array_equal(off.head(1, 2).weights, steps.head(1, 2).weights)
    assert np.array_equal(off.head(1, 3).output, steps.head(1, 3).output)
    assert np.array_equal(off.layers[1].multi_head.concat[:, 32:48], np.zeros((6, 16)))
    assert not np.array_equal(off.logits, steps.logits)


def test_a_cut_cell_gets_no_weight_and_the_row_is_shared_out_again() -> None:
    steps = run_model(KEYS)
    cut = run_model(KEYS, Change(cuts=(Cut(1, 0, 5, 2),)))
    before, after = steps.head(1, 0).weights, cut.head(1, 0).weights
    assert after[5, 2] == 0
    left = np.where(np.arange(6) == 2, 0, before[5])
    assert np.allclose(after[5], left / left.sum(), atol=1e-6)
    assert np.array_equal(after[:5], before[:5])
    assert np.array_equal(cut.head(1, 1).weights, steps.head(1, 1).weights)


@pytest.mark.parametrize("cut", [Cut(0, 0, 2, 3), Cut(0, 0, 6, 1), Cut(0, 0, 2, -1)])
def test_a_cut_outside_the_triangle_is_told(cut: Cut) -> None:
    with pytest.raises(ValueError, match="not a cell of the map"):
        run_model(KEYS, Change(cuts=(cut,)))


def test_a_row_cannot_lose_its_last_cell() -> None:
    with pytest.raises(ValueError, match="nothing to attend to"):
        run_model(KEYS, Change(cuts=(Cut(0, 0, 0, 0),)))


def test_a_head_or_fault_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="no head 4 in layer 0"):
        Change(off=frozenset({(0, 4)}))
    with pytest.raises(ValueError, match="no head 0 in layer 2"):
        Change(cuts=(Cut(2, 0, 1, 1),))
    with pytest.raises(ValueError, match=r"'scale\.wrong' is not a known fault"):
        Change(fault="scale.wrong")


def test_attention_can_be_replaced_by_a_callable() -> None:
    def uniform(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> AttentionSteps:
        return attention(np.zeros_like(q), k, v, allowed)

    ids = np.array([VOCABULARY.index(word) for word in (START, *KEYS)])
    weights = forward(ids, attend=uniform).layers[0].multi_head.heads.weights
    assert np.allclose(weights, np.tri(6) / np.arange(1, 7)[:, None])
