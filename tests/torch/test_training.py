"""training/: what is trained is what the app runs, and the same seed gives the same bits."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from core import grammar, tiny_model
from core.grammar import MAX_LEN, MEN, NOUNS, TRADES, VOCABULARY, WOMEN
from core.held_out import held_out
from tests.golden import make_tiny_model
from training.batches import batch, row
from training.model import TinyTransformer, from_arrays, to_arrays
from training.train import WEIGHTS, losses, schedule, train

LEMMA = {form: i for i, forms in enumerate(NOUNS) for form in forms}


@pytest.fixture(scope="module")
def shipped() -> TinyTransformer:
    with np.load(WEIGHTS) as file:
        return from_arrays(dict(file))


def test_rows_never_hold_a_held_out_pair_in_one_sentence() -> None:
    rng = Random(1)
    rows = [row(rng) for _ in range(1000)]
    texts = [" ".join(r.words[1:]) for r in rows if all(mark.job != "induction" for mark in r.marks)]
    assert 600 < len(texts) < 800  # the others are blocks of random words
    seen = [sentence.split() for text in texts for sentence in text.split(f" {grammar.STOP}")]
    pairs = [pair for sentence in seen for pair in _pairs(sentence)]
    assert len(pairs) > 1000
    assert not any(grammar.held_out_pair(*pair) for pair in pairs)


def _pairs(sentence: list[str]) -> list[tuple[int, int]]:
    """(woman, man) and (head noun, other noun); a row of random words has no such structure."""
    names = [word for word in sentence if word in TRADES]
    if "because" in sentence or len(names) > 1:
        women = [WOMEN.index(name) for name in names if name in WOMEN]
        return [(w, MEN.index(name)) for w in women for name in names if name in MEN]
    nouns = [LEMMA[word] for word in sentence if word in LEMMA]
    return [(nouns[0], other) for other in nouns[1:]]


def test_a_batch_holds_full_rows() -> None:
    ids = batch(Random(2), 400)
    assert ids.shape == (400, MAX_LEN)
    assert (ids[:, 0] == 0).all()
    assert (ids[:, 1:] > 0).all()


def test_the_shipped_weights_run_the_same_in_both_implementations(shipped: TinyTransformer) -> None:
    ids = held_out().ids[::8]
    with torch.no_grad():
        logits, maps = shipped(torch.from_numpy(ids))
    ours = tiny_model.forward(ids)
    for layer, weights in zip(ours.layers, maps, strict=True):
        assert np.abs(layer.multi_head.heads.weights - weights.numpy()).max() < 1e-5
    assert np.abs(ours.probabilities - logits.softmax(-1).numpy()).max() < 1e-5


def test_positions_are_the_same_in_both() -> None:
    theirs = TinyTransformer().positions.numpy()
    assert np.allclose(tiny_model.position_codes()[:, -16:], theirs, atol=1e-6)


def test_the_golden_file_is_what_its_script_makes(shipped: TinyTransformer) -> None:
    with np.load(make_tiny_model.GOLDEN) as file:
        for number, words in enumerate(make_tiny_model.sentences()):
            assert [str(word) for word in file[f"{number}_words"]] == words
            ids = torch.tensor([VOCABULARY.index(word) for word in words])
            with torch.no_grad():
                again = make_tiny_model.run(shipped, ids)
            for name, array in again.items():
                assert np.allclose(array, file[f"{number}_{name}"], atol=1e-5), name


def test_arrays_come_back() -> None:
    model = TinyTransformer()
    again = to_arrays(from_arrays(to_arrays(model)))
    assert all(np.array_equal(again[name], array) for name, array in to_arrays(model).items())
    with np.load(WEIGHTS) as file:
        assert set(file.files) == set(again)


def test_a_short_training_gives_the_same_bits_twice_and_learns() -> None:
    first, again, other = (to_arrays(train(seed, steps=12)) for seed in (4, 4, 5))
    for name, array in first.items():
        assert array.tobytes() == again[name].tobytes(), name
    assert not np.array_equal(first["embedding"], other["embedding"])
    ids = batch(Random(9), 32)
    before = losses(from_arrays(to_arrays(train(4, steps=1))), ids)[0]
    assert losses(from_arrays(first), ids)[0] < before - 0.05


def test_the_entropy_penalty_is_the_entropy_of_the_maps(shipped: TinyTransformer) -> None:
    ids = torch.from_numpy(held_out().ids[:16])
    with torch.no_grad():
        loss, entropy = losses(shipped, ids)
        logits, maps = shipped(ids)
    rows = torch.distributions.Categorical(probs=torch.stack(maps)).entropy()
    assert entropy.item() == pytest.approx(rows.mean().item(), abs=1e-4)
    came = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])
    assert loss.item() == pytest.approx(-came.mean().item(), abs=1e-5)


def test_the_schedule_warms_up_and_falls() -> None:
    shares = [schedule(step, 2500) for step in range(2500)]
    assert shares[0] == 0.01
    assert max(shares) == shares[100] == 1
    assert shares[-1] == pytest.approx(0.03, abs=1e-3)
    assert shares[100:] == sorted(shares[100:], reverse=True)


def test_the_app_needs_no_torch() -> None:
    core = Path(tiny_model.__file__).parent
    assert not [path for path in core.rglob("*.py") if "torch" in _imports(path)]


def _imports(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return " ".join(line for line in lines if line.startswith(("import ", "from ")))
