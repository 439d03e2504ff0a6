from hypothesis import given
from hypothesis import strategies as st

from core.quiz import LENGTH, PREDICTIONS, TEMPLATES, Answered, items_of, next_item, result
from core.quiz.bank import PAGES


def walk(answers, seed=0):
    """Answer right or wrong as told, until the check ends."""
    done = []
    while (item_id := next_item(done, seed)) is not None:
        done.append(Answered(item_id, answers[len(done)]))
    return done


@given(st.lists(st.booleans(), min_size=LENGTH, max_size=LENGTH), st.integers(0, 9999))
def test_laws_of_the_check(answers, seed):
    done = walk(answers, seed)
    assert len(done) == LENGTH
    assert len({answer.item_id for answer in done}) == LENGTH
    assert all(answer.item_id in TEMPLATES for answer in done)
    for place, answer in enumerate(done):
        missed_before = sum(not earlier.correct for earlier in done[:place] if earlier.page == answer.page)
        assert missed_before < 2, "a page missed twice is asked no more"
    outcome = result(done)
    assert outcome.correct == sum(answers)
    assert set(outcome.go_back) == {
        page for page in PAGES if sum(not a.correct for a in done if a.page == page) >= 2
    }
    assert set(outcome.missed) <= {answer.item_id for answer in done if not answer.correct}
    assert len(outcome.missed) == min(3, answers.count(False))


def test_all_right_visits_every_page():
    assert {answer.page for answer in walk([True] * LENGTH)} == set(PAGES)


def test_a_missed_page_is_asked_again_at_once_and_then_left():
    done = walk([False, False, True, True, True, True, True, True])
    assert done[0].page == done[1].page == "heads"
    assert result(done).go_back == ("heads",)
    assert "heads" not in {answer.page for answer in done[2:]}


def test_other_seeds_ask_other_items():
    assert len({tuple(a.item_id for a in walk([True] * LENGTH, seed)) for seed in range(10)}) > 5


def test_the_pages_missed_most_come_first():
    done = [Answered("S1", False), Answered("M1", False), Answered("M2", False)]
    assert result(done).missed == ("M1", "M2", "S1")


@given(st.integers(0, 9999), st.booleans())
def test_what_a_page_has_asked_by_itself_comes_last(seed, right):
    done = walk([right] * LENGTH, seed)
    for place, answer in enumerate(done):
        asked = {earlier.item_id for earlier in done[:place]}
        fresh = set(items_of(answer.page)) - set(PREDICTIONS.values()) - asked
        assert answer.item_id not in PREDICTIONS.values() or not fresh
    assert done[0].item_id != PREDICTIONS["heads"]
