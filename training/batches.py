"""Rows for training: packed sentences and repeated blocks, never with a held-out pair."""

from random import Random

import torch

from core import grammar

SHARE_OF_BLOCKS = 0.3  # of the rows hold repeated random blocks, the others packed sentences
MIX = {grammar.agreement: 4, grammar.coreference: 4, grammar.brackets: 3, grammar.simple: 1}

_KINDS = [kind for kind, times in MIX.items() for _ in range(times)]
_ID = {word: i for i, word in enumerate(grammar.VOCABULARY)}


def batch(rng: Random, n_rows: int) -> torch.Tensor:
    """-> token ids (n_rows, MAX_LEN), int64."""
    rows = [row(rng) for _ in range(n_rows)]
    return torch.tensor([[_ID[word] for word in sentence.words] for sentence in rows])


def row(rng: Random) -> grammar.Sentence:
    """One row of MAX_LEN words."""
    if rng.random() < SHARE_OF_BLOCKS:
        return grammar.repeated_blocks(rng)
    sentences: list[grammar.Sentence] = []
    while sum(len(sentence.words) for sentence in sentences) < grammar.MAX_LEN - 1:
        sentences.append(rng.choice(_KINDS)(rng, held_out=False))
    return grammar.packed(sentences)
