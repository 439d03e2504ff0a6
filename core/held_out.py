"""Sentences that the tiny model's training never saw, and the places in them that ask for a job."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np

from core import grammar
from core.grammar import MAX_LEN, VOCABULARY, Mark, Sentence

SEED = 2017
N_TEXTS, N_BLOCKS = 160, 48  # rows of MAX_LEN words: held-out sentences, repeated random blocks
TASKS = ("subject", "predicate", "coreference", "brackets", "induction")

_TOKEN_ID = {word: i for i, word in enumerate(VOCABULARY)}


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """All held-out places of one task, n of them."""

    row: np.ndarray  # (n,) index into HeldOut.ids
    query: np.ndarray  # (n,) the position that predicts
    key: np.ndarray  # (n,) the position that decides
    rivals: np.ndarray  # (n, T) bool: positions that would mislead
    right: np.ndarray  # (n, V) bool: the next words that are right
    choices: np.ndarray  # (n, V) bool: the words that they compete with, themselves included

    def first(self, n: int) -> "Task":
        """The first n places."""
        return Task(**{name: getattr(self, name)[:n] for name in self.__slots__})


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The held-out rows: texts first, then repeated blocks."""

    ids: np.ndarray  # (N_TEXTS + N_BLOCKS, T)
    tasks: dict[str, Task]


@lru_cache(maxsize=1)
def held_out() -> HeldOut:
    """The held-out rows and their places, from a fixed seed; every pair in them is a held-out pair."""
    rng = Random(SEED)
    rows = [_text(rng) for _ in range(N_TEXTS)] + [grammar.repeated_blocks(rng) for _ in range(N_BLOCKS)]
    ids = np.array([[_TOKEN_ID[word] for word in row.words] for row in rows])
    places = [(i, mark) for i, row in enumerate(rows) for mark in row.marks]
    return HeldOut(ids, {task: _task([(i, m) for i, m in places if m.job == task]) for task in TASKS})


def _text(rng: Random) -> Sentence:
    """A row packed like the training's, but every sentence holds held-out pairs only."""
    kinds = (grammar.agreement, grammar.coreference, grammar.brackets)
    return grammar.packed([rng.choice(kinds)(rng, True) for _ in range(MAX_LEN // 6 + 1)])


def _task(places: Sequence[tuple[int, Mark]]) -> Task:
    marks = [mark for _, mark in places]
    return Task(
        row=np.array([row for row, _ in places]),
        query=np.array([mark.query for mark in marks]),
        key=np.array([mark.key for mark in marks]),
        rivals=_marked([mark.rivals for mark in marks], MAX_LEN),
        right=_marked([token_ids(mark.right) for mark in marks], len(VOCABULARY)),
        choices=_marked([token_ids(mark.choices) for mark in marks], len(VOCABULARY)),
    )


def token_ids(words: Sequence[str]) -> list[int]:
    """Words of the vocabulary -> their numbers."""
    return [_TOKEN_ID[word] for word in words]


def _marked(indices: Sequence[Sequence[int]], width: int) -> np.ndarray:
    """n lists of indices -> (n, width) bool, True at each index."""
    table = np.zeros((len(indices), width), dtype=bool)
    for row, columns in zip(table, indices, strict=True):
        row[list(columns)] = True
    return table
