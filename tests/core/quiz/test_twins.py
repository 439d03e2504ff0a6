"""Another like it: what is offered asks something else than what was asked before."""

import pytest

from core import quiz
from core.quiz.winner import longer_item
from core.setup import Setup

ASKED = {item_id: (lambda seed, item_id=item_id: quiz.item(item_id, seed)) for item_id in quiz.TEMPLATES}
ASKED[quiz.WINNER] = lambda seed: longer_item(Setup(), seed)
MOST = 10  # twins that a patient reader asks for


def offered(make, start=0):
    """The seeds that one twin after the other leads to."""
    seeds = [start]
    while len(seeds) <= MOST and (following := quiz.next_twin(make, seeds[-1], seeds)) is not None:
        seeds.append(following)
    return seeds


@pytest.mark.parametrize("item_id", ASKED)
@pytest.mark.parametrize("start", [0, 1, 41, quiz.MAX_SEED])
def test_each_twin_asks_something_else(item_id, start):
    items = [ASKED[item_id](seed) for seed in offered(ASKED[item_id], start)]
    asked = [(item.question, {option.text for option in item.options}) for item in items]
    assert [ask for place, ask in enumerate(asked) if ask in asked[:place]] == []
    assert [item.asks for item in items] == [(words, frozenset(texts)) for words, texts in asked]


@pytest.mark.parametrize("item_id", set(quiz.PREDICTIONS.values()))
def test_a_prediction_has_several_twins(item_id):
    assert len(offered(ASKED[item_id])) >= 8


def test_where_all_twins_are_alike_none_is_offered():
    assert quiz.next_twin(ASKED["W7"], 0) is None  # "Which sums are 1 in the weights A?"


def test_a_wider_head_is_the_sum_of_its_parts_at_every_width():
    items = [quiz.item("H4", seed) for seed in range(40)]
    assert {item.answer for item in items} == {"sum"}
    assert {(item.setup.n_heads, item.setup.d_k) for item in items} > {(2, 4), (4, 8), (8, 16)}
    for item in items:
        wide = item.setup.n_heads * item.setup.d_k
        assert f"The {wide}-wide scores" in item.question
        assert f" {item.setup.d_k}-wide heads" in item.question
