"""The leak test: replace one word and see which output rows move."""

import zlib
from dataclasses import dataclass

import numpy as np

from core.attention import attention
from core.numbers import number
from core.setup import Inputs, Setup, allowed, inputs

MOST_TOLD = 8  # channels of a vector that are written out


@dataclass(frozen=True, slots=True, eq=False)
class LeakTest:
    """What one replaced word did to the output."""

    position: int
    word: str  # the word that was there
    replacement: str  # the word that took its place
    q: np.ndarray | None  # (h, d_k), what took the place of its query; None where the queries stay
    k: np.ndarray  # (h, d_k), of its key
    v: np.ndarray  # (h, d_v), of its value
    moved: np.ndarray  # (h, n_q): the largest |change| in each output row; 0 = not a bit changed
    output: np.ndarray  # (h, n_q, d_v) after the replacement
    seed: int  # that the new numbers come from

    def told(self, head: int) -> str:
        """What took the word's place in one head: the numbers themselves, where they are few."""
        if max(self.k.shape[-1], self.v.shape[-1]) > MOST_TOLD:
            which = "k and v" if self.q is None else "q, k and v"
            return f"{self.word} → {self.replacement}: {which} of small whole numbers, from seed {self.seed}"
        told = [
            f"{name} = ({', '.join(map(number, vectors[head]))})"
            for name, vectors in (("q", self.q), ("k", self.k), ("v", self.v))
            if vectors is not None
        ]
        return f"{self.word} → {self.replacement}: {', '.join(told)}"


def leak_test(setup: Setup, position: int) -> LeakTest:
    """Put another word at `position` (its query, key and value) and compare the outputs.

    Under a causal mask no row before `position` may move. Raises ValueError outside the sequence.
    """
    if not 0 <= position < setup.seq_len:
        raise ValueError(f"position is {position}, but the sequence has positions 0 to {setup.seq_len - 1}")
    given, hidden = inputs(setup), allowed(setup)
    before = attention(given.q, given.k, given.v, hidden).output
    q, k, v = with_other_word(given, setup.seed, position)
    after = attention(q, k, v, hidden).output
    word = given.key_tokens[position]
    return LeakTest(
        position, word, _other_word(word),
        q[:, position] if q.shape[1] == k.shape[1] else None, k[:, position], v[:, position],
        np.abs(after - before).max(axis=-1), after, setup.seed,
    )  # fmt: skip


OTHER_WORDS = ("stone", "cloud")


def _other_word(word: str) -> str:
    return next(other for other in OTHER_WORDS if other != word)


def with_other_word(given: Inputs, seed: int, position: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> q, k, v with seeded small whole numbers at `position`; the value differs in every channel.

    Where one query stands for itself (n_q = 1), it stays.
    """
    q, k, v = given.q.copy(), given.k.copy(), given.v.copy()
    for head in range(len(k)):
        rng = np.random.default_rng([zlib.crc32(b"leak"), seed, head, position])
        value = rng.integers(0, 10, v.shape[-1])
        new_q, new_k = rng.integers(-2, 3, (k.shape[-1], 2)).T
        k[head, position] = new_k
        v[head, position] = value + (value == v[head, position])
        if q.shape[1] == k.shape[1]:
            q[head, position] = new_q
    return q, k, v
