"""The start page's prediction: which word will this query attend to most?"""

from dataclasses import replace

import numpy as np

from core.examples import EXAMPLES
from core.experiments.prose import weight
from core.quiz.model import Item, Option, shuffled
from core.setup import Setup, inputs, run

MOST_OPTIONS = 4
WINNER = "WIN"  # id of this item; it belongs to no bank, since it is made from a state
_LONGER = {"kite": 12, "coref": 13}  # words, more than the example starts with
_AUTHORS_ROW = {"kite": 9, "coref": 10}


def winner_item(setup: Setup, row: int, head: int = 0) -> Item | None:
    """The item for one query of one head; None where there is nothing to predict.

    That is so when fewer than two words may be attended to, and when all of them share alike.
    Words that tie with the winner, or are spelled like it, are not among the options.
    """
    names, weights = inputs(setup), run(setup).heads.weights[head, row]
    winner = int(np.argmax(weights))
    others = _others(names.key_tokens, weights, winner)
    if not others or not np.isfinite(weights).all():
        return None
    columns = (winner, *others[: MOST_OPTIONS - 1])
    told = "It gets {}, “" + names.key_tokens[winner] + "” gets {}."
    options = tuple(
        Option(
            str(col), f"“{names.key_tokens[col]}”", told.format(weight(weights[col]), weight(weights[winner]))
        )
        for col in columns
    )
    query = names.query_tokens[row]
    return Item(
        id=WINNER,
        seed=setup.seed,
        page="start",
        question=f"Which word will “{query}” attend to most?",
        options=shuffled(options, f"{WINNER} {row} {head}", setup.seed),
        answer=str(winner),
        decimals=0,
        slips=(),
        otherwise="",
        reason="Its key fits this query best: the largest score of a row wins the largest share.",
        measured=f"“{query}” → “{names.key_tokens[winner]}” has weight {weight(weights[winner])}.",
        poll=True,
        setup=setup,
        row=row,
        col=winner,
    )


def longer_item(shown: Setup, seed: int = 0) -> Item:
    """The start page's item: a word further on in the sentence, so that the state on screen does not tell.

    Where the kite's longer sentence is on screen, it asks about the cup's. Seed 0 is the author's word.
    """
    on_screen = shown.example in ("kite", "two_heads") and shown.seq_len > EXAMPLES["kite"].seq_len
    name = "coref" if on_screen else "kite"
    setup, first = Setup(name, seq_len=_LONGER[name], seed=seed), EXAMPLES[name].seq_len
    row = first + (_AUTHORS_ROW[name] - first + seed) % (_LONGER[name] - first)
    made = winner_item(setup, row)
    if made is None:
        raise ValueError(f"the longer sentence of {name!r} has no winner in row {row}")
    sentence = " ".join(inputs(setup).key_tokens)
    return replace(made, question=f"“{sentence}.” {made.question}")


def _others(words: tuple[str, ...], weights: np.ndarray, winner: int) -> list[int]:
    """Columns to stand beside the winner: other words, each spelling once, the strongest first."""
    seen, found = {words[winner]}, []
    for col in np.argsort(-weights, kind="stable"):
        if weights[col] < weights[winner] and words[col] not in seen:
            seen.add(words[col])
            found.append(int(col))
    return found
