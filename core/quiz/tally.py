"""A poll's votes as bars, and a check's result as a page to print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.numbers import number
from core.printed import document, heading, numbered, paragraph, text
from core.quiz.bank import item
from core.quiz.check_yourself import LENGTH, Answered, result
from core.quiz.model import Item


@dataclass(frozen=True, slots=True)
class Bar:
    """One option's votes."""

    text: str
    votes: int
    share: float  # of all votes on the item's options; 0 while there are none
    right: bool  # for when the answer is revealed


def bars(polled: Item, counts: Mapping[str, int]) -> tuple[Bar, ...]:
    """Votes by option key -> one bar for each option, in their order. Foreign keys are left out."""
    votes = [counts.get(option.key, 0) for option in polled.options]
    total = sum(votes)
    return tuple(
        Bar(option.text, count, count / total if total else 0.0, option.key == polled.answer)
        for option, count in zip(polled.options, votes, strict=True)
    )


def result_page(done: Sequence[Answered], seed: int, titles: Mapping[str, str]) -> str:
    """A finished check as a page of HTML to print; titles: page slug -> its title."""
    outcome = result(done)
    back = [titles.get(page, page) for page in outcome.go_back]
    advice = f"Walk again: {', '.join(back)}." if back else "No page was missed twice."
    answers = [_answer(answer, seed) for answer in done]
    return document(
        "Attention, step by step: check yourself",
        [
            paragraph(f"{outcome.correct} of {LENGTH} items right. Seed {seed}."),
            paragraph(advice),
            heading("The items"),
            numbered(answers),
        ],
    )


def _answer(answer: Answered, seed: int) -> str:
    """One item as a line: how it went, what was asked, what is right and why."""
    asked = item(answer.item_id, seed)
    true = next((option.text for option in asked.options if option.key == asked.answer), None)
    shown = number(float(asked.answer)) if true is None else true
    went = "Right" if answer.correct else "Not yet"
    return text(f"{went}. {asked.question} Answer: {shown}. {asked.reason}")
