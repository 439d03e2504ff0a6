from html import escape

import pytest

from core.quiz import Answered, item
from core.quiz.tally import bars, result_page


def test_bars_follow_the_options_and_mark_the_right_one():
    polled = item("S3", 4)
    votes = {polled.options[0].key: 3, polled.options[2].key: 1, "an option of another item": 50}
    made = bars(polled, votes)
    assert [bar.text for bar in made] == [option.text for option in polled.options]
    assert [bar.votes for bar in made] == [3, 0, 1, 0]
    assert [bar.share for bar in made] == pytest.approx([0.75, 0, 0.25, 0])
    assert [bar.right for bar in made] == [option.key == polled.answer for option in polled.options]


def test_no_votes_no_shares():
    assert [bar.share for bar in bars(item("S3"), {})] == [0, 0, 0, 0]


def test_the_result_page_tells_what_to_walk_again():
    done = [
        Answered("M1", False),
        Answered("M2", False),
        *(Answered(name, True) for name in ("S1", "C1", "W1", "B1", "H1", "D1")),
    ]
    page = result_page(done, 3, {"mask": "Mask & masks"})
    assert "6 of 8 items right" in page
    assert "Walk again: Mask &amp; masks." in page
    assert page.count("Not yet.") == 2
    for answer in done:
        assert escape(item(answer.item_id, 3).question) in page
        assert escape(item(answer.item_id, 3).reason) in page
    assert "No page was missed twice" in result_page(done[1:], 3, {})
