"""Check yourself: eight items that follow the reader's mistakes, as a pure function of the answers so far."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.quiz.bank import PAGES, PREDICTIONS, TEMPLATES, items_of

LENGTH = 8
ENOUGH_MISSES = 2  # of one page: the reader is sent back to it and asked no more about it
HARDEST_FIRST = ("heads", "mask", "softmax", "scale", "score", "blend", "clinic")


@dataclass(frozen=True, slots=True)
class Answered:
    """One item of the check that is done."""

    item_id: str
    correct: bool

    @property
    def page(self) -> str:
        """The page that the item belongs to."""
        return TEMPLATES[self.item_id].page


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    asked: int
    correct: int
    go_back: tuple[str, ...]  # pages missed twice, in the order of the lesson
    missed: tuple[str, ...]  # ids of the items missed, the pages with most misses first; at most three


def next_item(done: Sequence[Answered], seed: int) -> str | None:
    """The id of the next item; None once eight are answered.

    A page that was just missed is asked once more. Otherwise the pages come in turn, the hardest
    first. No item comes twice, and none of a page that was missed twice. What a page has asked by itself
    comes last.
    """
    if len(done) >= LENGTH:
        return None
    asked = {answer.item_id for answer in done}
    for page in _turn(done):
        left = [item_id for item_id in items_of(page) if item_id not in asked]
        if left := [item_id for item_id in left if item_id not in PREDICTIONS.values()] or left:
            return left[int(np.random.default_rng([seed, len(done)]).integers(len(left)))]
    return None


def result(done: Sequence[Answered]) -> Result:
    """The answers so far -> score, pages to go back to, what to look at again."""
    misses = Counter(answer.page for answer in done if not answer.correct)
    wrong = sorted((answer for answer in done if not answer.correct), key=lambda answer: -misses[answer.page])
    return Result(
        asked=len(done),
        correct=sum(answer.correct for answer in done),
        go_back=tuple(page for page in PAGES if misses[page] >= ENOUGH_MISSES),
        missed=tuple(answer.item_id for answer in wrong[:3]),
    )


def _turn(done: Sequence[Answered]) -> list[str]:
    """The pages in the order in which they should be asked next."""
    misses = Counter(answer.page for answer in done if not answer.correct)
    counts = Counter(answer.page for answer in done)
    pages = [page for page in HARDEST_FIRST if misses[page] < ENOUGH_MISSES]
    pages.sort(key=lambda page: counts[page])  # stable: the hardest first among those asked equally often
    if done and not done[-1].correct and done[-1].page in pages:
        pages.remove(done[-1].page)
        pages.insert(0, done[-1].page)
    return pages
