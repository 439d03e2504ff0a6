"""Answers, votes and a class that the browser's tab has kept, on the pages that they belong to."""

import pytest

from core import quiz
from tests.pages.conftest import read, words
from ui import keep, predict


def given_back(page, kept) -> None:
    """As the browser gives it to a new session."""
    for name, value in kept.items():
        page.session_state[name] = value
    page.run()
    assert not page.exception


def test_an_attempt_goes_on_where_it_was(open_page) -> None:
    seed = 3
    first = quiz.next_item([], seed)
    item = quiz.item(first, seed)
    answer = item.options[0].key if item.options else "1"
    page = open_page("check", set=seed)
    given_back(page, {keep.ATTEMPTS: {"3": {"given": [[first, answer]], "reading": False}}})
    following = quiz.next_item([quiz.Answered(first, quiz.check(item, answer).correct)], seed)
    assert read(quiz.item(following, seed).question) in words(page)


def test_a_prediction_stays_compared(open_page) -> None:
    page = open_page("score")
    item = quiz.item(quiz.PREDICTIONS["score"])
    given_back(page, {keep.PREDICTIONS: {predict.mark(item): item.answer}})
    assert read(item.reason) in words(page)


JUNK = [
    {keep.ATTEMPTS: {"0": {"given": [["S1", "1"]] * 9, "reading": True, "more": 1}}},
    {keep.ATTEMPTS: {"0": {"given": [["S1", "1"]] * 9, "reading": True}}},
    {keep.ATTEMPTS: {"0": {"given": [["S1", 10**400]]}}},
    {keep.ATTEMPTS: {"0": {"given": [["no such item", "1"]]}}},
    {keep.ATTEMPTS: {"0": {"given": [["S3", {}]]}}},
    {keep.ATTEMPTS: {"0": {"given": [], "reading": True}}},
    {keep.ATTEMPTS: {"0": 7}},
    {keep.ATTEMPTS: [1]},
    {keep.PREDICTIONS: 3},
    {keep.PREDICTIONS: {predict.mark(quiz.item(quiz.PREDICTIONS["score"])): ["a"]}},
    {keep.CLASS: ["ABCDEF"]},
    {keep.CLASS: ["<b>", "k"]},
    {keep.CLASS: [1, 2]},
    {keep.VOTER: {"a": 1}},
]


@pytest.mark.usefixtures("own_store")
@pytest.mark.parametrize("kept", JUNK, ids=str)
@pytest.mark.parametrize(("slug", "parameters"), [("check", {}), ("score", {}), ("teach", {"room": "Poll"})])
def test_junk_in_the_tab_breaks_no_page(open_page, kept, slug, parameters) -> None:
    given_back(open_page(slug, **parameters), kept)
