"""The numbers that an item is asked about, and the building of the item from them."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from core.answers import slips_of
from core.attention import AttentionSteps
from core.quiz.model import Item, Option, shuffled
from core.setup import Inputs, Setup, inputs, run

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Seed 0 is the author's own example; any other seed draws one that poses the same question."""

    id: str
    page: str
    poll: bool
    seed: int
    setup: Setup
    inputs: Inputs
    steps: AttentionSteps  # of head 0
    rng: np.random.Generator

    @classmethod
    def of(cls, item_id: str, page: str, poll: bool, seed: int) -> "Case":
        """The case of one item and seed, with the setup that suits most items."""
        rng = np.random.default_rng([zlib.crc32(item_id.encode()), seed])
        setup = Setup()
        if seed:
            example = str(rng.choice(["kite", "coref"]))
            setup = Setup(example, seq_len=int(rng.integers(5, 9)))
        return cls(item_id, page, poll, seed, setup, inputs(setup), run(setup).heads.head(0), rng)

    def on(self, setup: Setup) -> "Case":
        """The same case on another setup."""
        return replace(self, setup=setup, inputs=inputs(setup), steps=run(setup).heads.head(0))

    def pick(self, author: T, candidates: Sequence[T]) -> T:
        """The author's choice for seed 0, which must be one of the candidates; else any of them."""
        if self.seed:
            return candidates[int(self.rng.integers(len(candidates)))]
        if author not in candidates:
            raise ValueError(f"item {self.id}: the author's choice {author!r} is no candidate")
        return author

    def query(self, row: int) -> str:
        """The quoted word of a row."""
        return f"“{self.inputs.query_tokens[row]}”"

    def key(self, col: int) -> str:
        """The quoted word of a column."""
        return f"“{self.inputs.key_tokens[col]}”"

    def choice(
        self,
        question: str,
        options: Sequence[tuple[str, str, str]],
        answer: str,
        reason: str,
        measured: str,
        cell: tuple[int, int] = (0, 0),
        show: Mapping[str, int | float | str] | None = None,
    ) -> Item:
        """An item with options (key, text, meaning); `answer` is the key that the core found true.

        `show`: what a page opens beside the setup for the claim to be seen, by the names in its address.
        """
        if [key for key, _, _ in options].count(answer) != 1:
            raise ValueError(f"item {self.id}, seed {self.seed}: {answer!r} is not one of its options")
        shown = shuffled(tuple(Option(*option) for option in options), self.id, self.seed)
        return self._item(question, shown, answer, 0, (), "", reason, measured, cell, show or {})

    def number(
        self,
        question: str,
        answer: float,
        slips: Mapping[str, float],
        otherwise: str,
        reason: str,
        measured: str,
        decimals: int = 0,
        cell: tuple[int, int] = (0, 0),
    ) -> Item:
        """An item that asks for a number; slips: meaning -> the wrong number it leads to."""
        known = slips_of(answer, slips)
        return self._item(question, (), float(answer), decimals, known, otherwise, reason, measured, cell)

    def _item(self, question: str, options: tuple, answer: str | float, decimals: int, slips: tuple,
              otherwise: str, reason: str, measured: str, cell: tuple[int, int],
              show: Mapping[str, int | float | str] | None = None) -> Item:  # fmt: skip
        return Item(
            self.id, self.seed, self.page, question, options, answer, decimals, slips, otherwise,
            reason, measured, self.poll, self.setup, *cell, show=show or {},
        )  # fmt: skip


def cells(hold: np.ndarray) -> list[tuple[int, int]]:
    """A boolean matrix -> the (row, column) pairs where it is True."""
    return [(int(row), int(col)) for row, col in np.argwhere(hold)]


def vector(values: np.ndarray) -> str:
    """[3, −1, 1, −1]"""
    return "[" + ", ".join(f"{value:g}".replace("-", "−") for value in values) + "]"
