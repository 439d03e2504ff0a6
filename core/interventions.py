"""What a change to the tiny model does: the next word before and after, and what is true of its heads.

The sentences hold numbers that are measured when they are made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.grammar import VOCABULARY
from core.head_scores import cut_cells, loss_at_starts, measure, strongest_cut
from core.held_out import TASKS
from core.real import MODEL, head_names
from core.tiny_model import D_K, N_HEADS, Change, Cut, ModelSteps, next_words


@dataclass(frozen=True, slots=True, eq=False)
class NextWords:
    """The probable words after one position, as trained and after a change."""

    words: tuple[str, ...]  # the n most probable of each, the trained model's first
    probabilities: np.ndarray  # (words, 2): as trained, changed

    @property
    def most_probable(self) -> tuple[str, str]:
        """As trained, changed."""
        as_trained, changed = self.probabilities.argmax(axis=0)
        return self.words[as_trained], self.words[changed]


def place(head: str) -> tuple[int, int]:
    """A name such as L1H0 -> (layer, head)."""
    layer, index = divmod(head_names(MODEL).index(head), N_HEADS)
    return layer, index


def change(off: Sequence[str], fault: str, cut: tuple[str, int, int] | None) -> Change:
    """Names of heads to switch off, one of FAULTS or "", and a cell (head, query, key) to cut -> a Change."""
    cuts = () if cut is None else (Cut(*place(cut[0]), cut[1], cut[2]),)
    return Change(frozenset(map(place, off)), cuts, fault)


def next_words_compared(as_trained: ModelSteps, changed: ModelSteps, position: int, n: int = 4) -> NextWords:
    """The n most probable words of both runs, with both probabilities."""
    best = [word for run in (as_trained, changed) for word, _ in next_words(run, position, n)]
    words = tuple(dict.fromkeys(best))
    ids = [VOCABULARY.index(word) for word in words]
    both = [run.probabilities[position, ids] for run in (as_trained, changed)]
    return NextWords(words, np.stack(both, axis=1))


@lru_cache(maxsize=1)
def findings() -> tuple[str, ...]:
    """What is true of this model's heads, one sentence or two for each point. Takes most of a second once."""
    return (_sharpest(), _several_jobs(), _cut(), _missing_scale())


def _sharpest() -> str:
    """The head with the lowest entropy, switched off."""
    trained = measure()
    index = int(trained.heads.entropy.argmin())
    layer, head = divmod(index, N_HEADS)
    off = Change(off=frozenset({(layer, head)}))
    without = measure(off)
    drop = max(trained.accuracy[task] - without.accuracy[task] for task in TASKS)
    starts = loss_at_starts(off) - loss_at_starts()
    jobs = trained.heads.jobs(layer, head)
    return (
        f"{head_names(MODEL)[index]} has the sharpest maps of all "
        f"({trained.heads.entropy[layer, head]:.2f} bits a row, a uniform head has "
        f"{trained.heads.uniform_entropy:.2f}) and {'these' if jobs else 'none of the'} measured jobs"
        f"{': ' + ', '.join(jobs) if jobs else ''}. Switched off, no task loses more than "
        f"{max(drop, 0):.3f} of its accuracy. It is not useless: the loss on texts rises from "
        f"{trained.text_loss:.2f} to {without.text_loss:.2f} nats a word, and "
        f"{starts / (without.text_loss - trained.text_loss):.0%} of that at the first words of sentences."
    )


def _several_jobs() -> str:
    """The head with the most jobs, and how many have several or none."""
    table = measure().heads
    jobs = {name: table.jobs(*place(name)) for name in head_names(MODEL)}
    busiest = max(jobs, key=lambda name: len(jobs[name]))
    several = sum(len(found) > 1 for found in jobs.values())
    none = sum(not found for found in jobs.values())
    return (
        f"{busiest} holds {len(jobs[busiest])} of the measured jobs ({', '.join(jobs[busiest])}); "
        f"{several} of the {len(jobs)} heads hold several, {none} hold none. "
        f"A name for a head tells what it does on one kind of sentence."
    )


def _cut() -> str:
    """The strongest cut of one cell among all tasks and heads of the table."""
    table = measure().heads
    pairs = [(task, *place(name)) for name in head_names(MODEL) for task in table.jobs(*place(name))]
    task, layer, head = strongest_cut([pair for pair in pairs if pair[0] in TASKS])
    cut = cut_cells(task, layer, head)
    return (
        f"One cell can decide. Cutting the {task} cell in L{layer}H{head} takes the mean probability of the "
        f"right word from {cut.before:.2f} to {cut.after:.2f} ({cut.n} held-out places); cutting instead the "
        f"heaviest other cell of the same row leaves {cut.control:.2f}."
    )


def _missing_scale() -> str:
    trained, broken = measure(), measure(Change(fault="scale.missing"))
    return (
        f"A missing scale costs little here: the loss on texts goes from {trained.text_loss:.2f} to "
        f"{broken.text_loss:.2f}. d_k is {D_K}, so the scores are {math.sqrt(D_K):.0f} times too large, and "
        f"these maps are sharp anyway. Its harm is in training, and at a large d_k."
    )
