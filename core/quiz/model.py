"""What a quiz item is, and the judging of an answer."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from core.answers import Slip, is_right, meaning_of, read_number, rounded
from core.setup import Setup


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose."""

    key: str  # what it claims, in a word; the core decides which key is true
    text: str
    meaning: str  # what choosing it would have meant, where it is wrong


@dataclass(frozen=True, slots=True)
class Item:
    """One question. `answer`, `reason` and `measured` are for after the reader has committed."""

    id: str  # "S1"
    seed: int  # 0 = the author's numbers; another seed draws others
    page: str  # slug of the page that teaches it
    question: str
    options: tuple[Option, ...]  # in the order in which they are shown; () when a number is asked for
    answer: str | float  # key of the true option, or the number; computed
    decimals: int  # to how many decimals a number is asked for; 0 = exactly
    slips: tuple[Slip, ...]  # known wrong numbers
    otherwise: str  # what any other wrong number may mean; "" when options are given
    reason: str
    measured: str  # what the core measured, in a sentence
    poll: bool  # suits a class poll
    setup: Setup  # the state that it asks about, and its cell
    row: int
    col: int
    show: Mapping[str, int | float | str] = field(default_factory=dict)  # what to open beyond it, to see it
    show_page: str = ""  # slug of the page where it is seen, where that is not `page`

    @property
    def seen_on(self) -> str:
        """Slug of the page where the claim can be seen."""
        return self.show_page or self.page

    @property
    def asks(self) -> tuple[str, frozenset[str]]:
        """What tells its question from that of a twin: its words, and what there is to choose."""
        return self.question, frozenset(option.text for option in self.options)

    @property
    def kind(self) -> str:
        """ "number" or "choice"."""
        return "choice" if self.options else "number"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a reader is told once they have committed."""

    correct: bool
    given: str  # the prediction, as it is shown beside what was measured
    measured: str
    reason: str
    meant: str  # what the reader's own answer would have meant; "" when it is right


class UnreadableAnswer(ValueError):
    """The answer is no number, or none of the options; the message says what was expected."""


def check(item: Item, answer: str | float) -> Feedback:
    """An option's key, or a number or its text -> Feedback. Raises UnreadableAnswer."""
    return _check_choice(item, answer) if item.options else _check_number(item, answer)


def _check_choice(item: Item, answer: str | float) -> Feedback:
    chosen = next((option for option in item.options if option.key == answer), None)
    if chosen is None:
        raise UnreadableAnswer(f"{answer!r} is none of the options of item {item.id}")
    correct = chosen.key == item.answer
    return Feedback(correct, chosen.text, item.measured, item.reason, "" if correct else chosen.meaning)


def _check_number(item: Item, answer: str | float) -> Feedback:
    given = read_number(answer) if isinstance(answer, str) else float(answer)
    if given is None:
        raise UnreadableAnswer(
            f"A number is expected here, such as 3, −2, 0.5 or 1/7, but {answer!r} is none."
        )
    if is_right(given, float(item.answer), item.decimals):
        return Feedback(True, rounded(given, 3), item.measured, item.reason, "")
    meant = meaning_of(given, item.slips, item.decimals, item.otherwise)
    return Feedback(False, rounded(given, 3), item.measured, item.reason, meant)


def shuffled(options: tuple[Option, ...], item_id: str, seed: int) -> tuple[Option, ...]:
    """The options in an order that depends on the item and the seed alone."""
    rng = np.random.default_rng([zlib.crc32(f"order {item_id}".encode()), seed])
    return tuple(options[i] for i in rng.permutation(len(options)))
