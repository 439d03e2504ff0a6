"""The quiz: items whose answers the core computes, feedback, and the choice of the next item."""

from core.quiz.bank import MAX_SEED, POLLS, PREDICTIONS, TEMPLATES, item, items_of, next_twin
from core.quiz.check_yourself import LENGTH, Answered, Result, next_item, result
from core.quiz.model import Feedback, Item, Option, UnreadableAnswer, check
from core.quiz.tally import Bar, bars, result_page
from core.quiz.winner import WINNER, longer_item, winner_item

__all__ = [
    "LENGTH",
    "MAX_SEED",
    "POLLS",
    "PREDICTIONS",
    "TEMPLATES",
    "WINNER",
    "Answered",
    "Bar",
    "Feedback",
    "Item",
    "Option",
    "Result",
    "UnreadableAnswer",
    "bars",
    "check",
    "item",
    "items_of",
    "longer_item",
    "next_item",
    "next_twin",
    "result",
    "result_page",
    "winner_item",
]
