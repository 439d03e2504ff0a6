"""core/held_out.py: the items are what they are called."""

import numpy as np

from core import grammar
from core.grammar import VOCABULARY
from core.held_out import N_TEXTS, held_out


def test_no_item_holds_a_pair_that_training_saw() -> None:
    lemma = {form: i for i, forms in enumerate(grammar.NOUNS) for form in forms}
    for row in held_out().ids[:N_TEXTS]:
        for sentence in _sentences([VOCABULARY[i] for i in row]):
            nouns = [lemma[word] for word in sentence if word in lemma]
            women = [grammar.WOMEN.index(word) for word in sentence if word in grammar.WOMEN]
            men = [grammar.MEN.index(word) for word in sentence if word in grammar.MEN]
            if "because" in sentence or (women and men):
                assert all(grammar.held_out_pair(w, m) for w in women for m in men)
            else:
                assert all(grammar.held_out_pair(nouns[0], other) for other in nouns[1:])


def _sentences(words: list[str]) -> list[list[str]]:
    text = " ".join(words[1:])
    return [sentence.split() for sentence in text.split(f" {grammar.STOP}")]


def test_every_item_predicts_the_word_that_comes() -> None:
    items = held_out()
    for name, task in items.tasks.items():
        assert len(task.row) >= 100, name
        came = items.ids[task.row, task.query + 1]
        assert task.right[np.arange(len(came)), came].all()
        assert not task.rivals[np.arange(len(came)), task.key].any()
