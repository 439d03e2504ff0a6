"""The author's expectations, and what every item of every seed must hold."""

import re
from collections import Counter

import pytest

from core.examples import EXAMPLES
from core.quiz import MAX_SEED, POLLS, PREDICTIONS, TEMPLATES, UnreadableAnswer, check, item, items_of
from core.quiz.bank import PAGES

EXPECTED = {  # what the author of the lesson expects; the core computes it
    "S1": 8, "S2": "7 × 7", "S3": "column", "S4": "columns", "S5": "other",
    "C1": 3, "C2": "2", "C3": "flatter", "C4": "never", "C5": "fiftieth", "C6": "no",
    "W1": "same", "W2": "sharper", "W3": "small", "W4": 1 / 7, "W5": "gap", "W6": "nan",
    "W7": "rows", "W8": "zero",
    "B1": "9.5", "B2": "output", "B3": "7 × 3", "M1": 1, "M2": "later", "M3": "less", "M4": "0.86",
    "H1": 64, "H2": "0.1", "H3": "1", "H4": "sum", "D1": "scale", "D2": "axis",
}  # fmt: skip
SEEDS = (0, 1, 2, 3, 4, 5, 17, 101)


def test_there_are_32_items():
    assert set(EXPECTED) == set(TEMPLATES)
    assert len(TEMPLATES) == 32


@pytest.mark.parametrize("item_id", EXPECTED)
def test_the_core_finds_the_answer_the_author_expects(item_id):
    assert item(item_id).answer == EXPECTED[item_id]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("item_id", EXPECTED)
def test_item_is_whole(item_id, seed):
    made = item(item_id, seed)
    assert made.question
    assert made.reason
    assert made.measured
    assert (made.id, made.seed, made.page) == (item_id, seed, TEMPLATES[item_id].page)
    assert made.setup.example in EXAMPLES
    assert 0 <= made.row < made.setup.seq_len
    assert 0 <= made.col < made.setup.seq_len
    if made.kind == "choice":
        assert len(made.options) == 4
        assert (
            len({option.key for option in made.options}) == len({option.text for option in made.options}) == 4
        )
        assert all(option.meaning for option in made.options if option.key != made.answer)
    else:
        assert made.otherwise
        assert made.slips


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("item_id", EXPECTED)
def test_right_and_wrong_are_told_apart(item_id, seed):
    made = item(item_id, seed)
    assert check(made, made.answer).correct
    assert check(made, made.answer).meant == ""
    wrong = [option.key for option in made.options if option.key != made.answer] or [
        s.value for s in made.slips
    ]
    for answer in wrong:
        feedback = check(made, answer)
        assert not feedback.correct
        assert feedback.meant
        assert feedback.reason == made.reason


def test_an_answer_that_is_none_is_refused_in_a_sentence():
    with pytest.raises(UnreadableAnswer, match="number is expected"):
        check(item("S1"), "eight")
    with pytest.raises(UnreadableAnswer, match="none of the options"):
        check(item("S3"), "everything")


def test_a_number_may_be_typed():
    assert check(item("W4"), "1/7").correct
    assert check(item("W4"), "0,143").correct
    assert "e⁰ = 1" in check(item("W4"), "0").meant
    assert "square root" in check(item("C1"), "0.375").meant
    assert "Minus times minus" in check(item("S1"), "6").meant


def test_an_unknown_wrong_number_gets_the_general_hint():
    assert check(item("S1"), "1234").meant == item("S1").otherwise


def test_the_measured_numbers_of_the_lesson_are_in_the_feedback():
    assert "0.854 to 0.529" in item("C3").measured
    assert "3.52" in item("W7").measured
    assert "0.854 to 0.990" in item("W2").measured
    assert "−0.04, 0.98, −0.12, −0.05, −0.25, −0.05, −0.48" in item("W8").measured
    assert (
        "“kite” 0.85 and “because” 0.90; the one head gives “kite” 0.53 and “because” 0.26"
        in item("H4").measured
    )
    assert "1.01, 1.43, 0.48, 1.45, 1.06, 1.28, 0.29" in item("D2").question


def test_options_are_shuffled_by_the_seed_alone():
    assert [o.key for o in item("S3").options] == [o.key for o in item("S3").options]
    orders = {tuple(o.key for o in item("W7", seed).options) for seed in range(12)}
    assert len(orders) > 3


def test_no_place_gives_the_answer_away():
    places = Counter(
        [o.key for o in made.options].index(made.answer)
        for made in (item(item_id, seed) for item_id in EXPECTED for seed in range(8))
        if made.options
    )
    share = {place: n / places.total() for place, n in places.items()}
    assert len(share) == 4
    assert max(share.values()) < 0.36


def test_a_seed_asks_of_other_numbers():
    for item_id in ("S1", "C1", "W4", "H1"):
        asked = {(item(item_id, seed).question, item(item_id, seed).answer) for seed in range(20)}
        assert len(asked) >= 4, item_id


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("item_id", EXPECTED)
def test_numbers_below_zero_have_a_true_minus(item_id, seed):
    made = item(item_id, seed)
    assert not re.search(r"(?<![\w)])-\d", f"{made.question} {made.measured} {made.reason}")


def test_some_twins_have_another_right_option():
    """Or a class could learn the key by heart."""
    answers = {
        item_id: {item(item_id, seed).answer for seed in range(12)}
        for item_id in ("S3", "C3", "C5", "W2", "D1", "D2")
    }
    assert all(len(found) > 1 for found in answers.values()), answers


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match="must be from 0 to"):
        item("S1", seed)


def test_polls_and_predictions_are_items():
    assert len(POLLS) == 13
    assert set(POLLS) < set(TEMPLATES)
    elsewhere = {"break_it": "clinic", "code": "blend"}  # asked on a page that has no items of its own
    assert set(PREDICTIONS) == set(PAGES) | set(elsewhere)
    pages = {page: TEMPLATES[item_id].page for page, item_id in PREDICTIONS.items()}
    assert pages == {page: elsewhere.get(page, page) for page in PREDICTIONS}
    assert [item_id for page in PAGES for item_id in items_of(page)] == list(TEMPLATES)
    assert items_of("start") == ()
