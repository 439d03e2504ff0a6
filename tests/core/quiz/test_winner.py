import numpy as np
import pytest

from core.quiz import check
from core.quiz.winner import longer_item, winner_item
from core.setup import Setup, inputs, run
from tests.core.export.corners import CORNERS


def test_the_kite_wins():
    made = winner_item(Setup(), 4)
    assert made.question == "Which word will “it” attend to most?"
    assert made.answer == "1"
    assert made.col == 1
    assert {option.text for option in made.options} >= {"“kite”"}
    assert check(made, "1").correct
    wrong = next(option.key for option in made.options if option.key != "1")
    assert "“kite” gets 0.854" in check(made, wrong).meant


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_any_row_of_any_state(setup):
    weights, words = run(setup).heads.weights, inputs(setup).key_tokens
    for row in {0, weights.shape[1] // 2, weights.shape[1] - 1}:
        made = winner_item(setup, row, setup.n_heads - 1)
        if made is None:
            assert np.ptp(weights[-1, row]) == 0 or len(set(words)) == 1
            continue
        texts = [option.text for option in made.options]
        assert 2 <= len(texts) == len(set(texts)) <= 4
        assert int(made.answer) == weights[-1, row].argmax()


def test_a_tie_is_not_asked_about():
    made = winner_item(Setup("coref", 8), 6)
    assert {"“cup”", "“plate”"} & {option.text for option in made.options} == {"“cup”"}


def test_equal_shares_leave_nothing_to_predict():
    assert winner_item(Setup("equal_keys"), 4) is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shown", [Setup(), Setup("coref", 8), Setup(seq_len=30)], ids=repr)
def test_the_longer_sentence_is_not_on_screen(shown, seed):
    made = longer_item(shown, seed)
    asked = inputs(made.setup)
    assert made.row >= (7 if made.setup.example == "kite" else 8)
    assert made.setup.example != shown.example or shown.seq_len <= made.row
    assert " ".join(asked.key_tokens) in made.question
    assert f"“{asked.query_tokens[made.row]}”" in made.question
    assert int(made.answer) == run(made.setup).heads.weights[0, made.row].argmax()
