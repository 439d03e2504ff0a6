"""What each head of the tiny model does, measured on sentences that the training never saw.

Every score is a mean attention weight on the cells of one job, beside the same mean for a uniform
head, which gives each of the n keys that a query may see the weight 1/n. A head is called by the
jobs in which it is far above uniform; it may have several, or none.

All of it is computed from the weights, again after each change to the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core import grammar
from core.grammar import MAX_LEN
from core.held_out import N_TEXTS, TASKS, HeldOut, Task, held_out, token_ids
from core.readouts import entropies
from core.tiny_model import N_HEADS, N_LAYERS, Change, ModelSteps, forward

PLACES = ("previous", "first", "itself", "same_token")
JOBS = (*PLACES, *TASKS)

MOST_CUTS = 300  # places that cut_cells tries, one run of the model for each

JOB_SHARE, JOB_FACTOR = 0.5, 5.0
"""A head has a job when its weight is above the share, and above the factor times a uniform head's."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadTable:
    """Each head's scores by job; arrays are (N_LAYERS, N_HEADS)."""

    weight: dict[str, np.ndarray]  # mean weight on the job's cells
    uniform: dict[str, float]  # the same for a uniform head
    rival: dict[str, np.ndarray]  # mean weight on all misleading cells together, where the task has such
    entropy: np.ndarray  # bits, mean over the rows of the texts
    uniform_entropy: float
    distance: np.ndarray  # positions, mean of query - key
    uniform_distance: float

    def jobs(self, layer: int, head: int) -> tuple[str, ...]:
        """What this head does, by JOB_SHARE and JOB_FACTOR, the heaviest first; may be several or none."""
        found = {job: float(self.weight[job][layer, head]) for job in JOBS}
        does = [job for job, w in found.items() if w > JOB_SHARE and w > JOB_FACTOR * self.uniform[job]]
        return tuple(sorted(does, key=found.__getitem__, reverse=True))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One run over all held-out rows."""

    heads: HeadTable
    accuracy: dict[str, float]  # share of places where the most probable of the choices is right
    p_right: dict[str, np.ndarray]  # (n,) for each place, the probability of the right words together
    text_loss: float  # mean next-word loss on the texts, nats a word
    block_loss: float  # the same on the repeated blocks, from the second time on
    n: dict[str, int]  # how many places

    @property
    def probability(self) -> dict[str, float]:
        """Mean probability of the right words."""
        return {task: float(p_right.mean()) for task, p_right in self.p_right.items()}


@dataclass(frozen=True, slots=True, eq=False)
class CellCut:
    """Mean probability of the right words when one cell is cut in each place of a task, in one head."""

    n: int
    before: float
    after: float  # the deciding cell is cut
    control: float  # instead of it, the row's heaviest other cell is cut


@lru_cache(maxsize=32)
def measure(change: Change = Change()) -> Measured:  # noqa: B008
    """Run the (changed) model over all held-out rows. A fraction of a second; the last results are kept.

    A change's cuts would hit the same cell of every row, whatever stands there, so they are refused.
    """
    if change.cuts:
        raise ValueError("a cut belongs to one sentence; measure takes heads that are off and a fault")
    items = held_out()
    steps = forward(items.ids, change)
    losses = _losses(items.ids, steps.probabilities)
    again = items.tasks["induction"]
    return Measured(
        heads=_head_table(items, steps),
        accuracy={name: _accuracy(task, steps) for name, task in items.tasks.items()},
        p_right={name: _p_right(task, steps) for name, task in items.tasks.items()},
        text_loss=float(losses[:N_TEXTS].mean()),
        block_loss=float(losses[again.row, again.query].mean()),
        n={name: len(task.row) for name, task in items.tasks.items()},
    )


@lru_cache(maxsize=32)
def loss_at_starts(change: Change = Change()) -> float:  # noqa: B008
    """The part of text_loss that comes from the first words of sentences: their losses, over all words."""
    ids = held_out().ids[:N_TEXTS]
    losses = _losses(ids, forward(ids, change).probabilities)
    starts = np.isin(ids[:, :-1], token_ids((grammar.START, grammar.STOP)))
    return float((losses * starts).mean())


@lru_cache(maxsize=32)
def cut_cells(task: str, layer: int, head: int) -> CellCut:
    """Cut the deciding cell of (up to MOST_CUTS) held-out places of a task, one at a time, in one head.

    The control cuts the heaviest other cell of the same row instead: if only the amount of
    attention mattered, the two would hurt alike.
    """
    places = held_out().tasks[task].first(MOST_CUTS)
    steps = forward(held_out().ids[places.row])
    n = np.arange(len(places.row))
    rows = steps.layers[layer].multi_head.heads.weights[n, head, places.query].copy()
    rows[n, places.key] = -1  # never the heaviest other
    control = rows.argmax(axis=-1)
    return CellCut(
        n=len(n),
        before=_mean_p_right(places, steps),
        after=_after_cut(places, layer, head, places.key),
        control=_after_cut(places, layer, head, control),
    )


def strongest_cut(pairs: Sequence[tuple[str, int, int]]) -> tuple[str, int, int]:
    """The one of these (task, layer, head) whose deciding cells, cut, take most from the right words.

    One run of the model for each pair, where cut_cells makes three.
    """

    def lost(pair: tuple[str, int, int]) -> float:
        task, layer, head = pair
        places = held_out().tasks[task].first(MOST_CUTS)
        before = float(measure().p_right[task][:MOST_CUTS].mean())
        return before - _after_cut(places, layer, head, places.key)

    return max(pairs, key=lost)


def _after_cut(places: Task, layer: int, head: int, key: np.ndarray) -> float:
    """Mean probability of the right words when place i may not use the cell (query[i], key[i])."""
    allowed = _without(layer, head, places.query, key)
    return _mean_p_right(places, forward(held_out().ids[places.row], allowed=allowed))


def _head_table(items: HeldOut, steps: ModelSteps) -> HeadTable:
    # (N_LAYERS, rows, h, T, T), and a uniform head's map in the same place
    maps = np.stack([layer.multi_head.heads.weights for layer in steps.layers])
    uniform = np.tri(MAX_LEN) / np.arange(1, MAX_LEN + 1)[:, None]
    even = np.broadcast_to(uniform, (1, len(items.ids), 1, MAX_LEN, MAX_LEN))
    measures = {place: _place(items.ids[:N_TEXTS], place) for place in PLACES}
    measures |= {name: _on_key(task) for name, task in items.tasks.items()}
    rivals = {name: _on_rivals(task) for name, task in items.tasks.items() if task.rivals.any()}
    texts, even_texts = maps[:, :N_TEXTS], even[:, :N_TEXTS]
    return HeadTable(
        weight={job: of(maps) for job, of in measures.items()},
        uniform={job: float(of(even)[0, 0]) for job, of in measures.items()},
        rival={job: of(maps) for job, of in rivals.items()},
        entropy=_entropy(texts),
        uniform_entropy=float(_entropy(even_texts)[0, 0]),
        distance=_distance(texts),
        uniform_distance=float(_distance(even_texts)[0, 0]),
    )


PerHead = Callable[[np.ndarray], np.ndarray]  # maps (L, rows, h, T, T) -> (L, h)


def _place(ids: np.ndarray, place: str) -> PerHead:
    """Mean weight on the cells of a place, over the texts' queries after the first that have such a cell."""
    earlier = np.tri(MAX_LEN, k=-1, dtype=bool)
    cells = {
        "previous": np.eye(MAX_LEN, k=-1, dtype=bool)[None],
        "first": (np.arange(MAX_LEN) == 0) & earlier[None],
        "itself": (np.eye(MAX_LEN, dtype=bool) & (np.arange(MAX_LEN)[:, None] > 0))[None],
        "same_token": (ids[:, :, None] == ids[:, None, :]) & earlier,
    }[place]
    cells = np.broadcast_to(cells, (len(ids), MAX_LEN, MAX_LEN)).astype(np.float32)
    n_rows = cells.any(axis=-1).sum()
    return lambda maps: np.einsum("lrhqk,rqk->lh", maps[:, : len(ids)], cells) / n_rows


def _on_key(task: Task) -> PerHead:
    # Indices around a slice put their axis first: (n, L, h).
    return lambda maps: maps[:, task.row, :, task.query, task.key].mean(axis=0)


def _on_rivals(task: Task) -> PerHead:
    return lambda maps: (
        (maps[:, task.row, :, task.query] * task.rivals[:, None, None]).sum(axis=-1).mean(axis=0)
    )


def _entropy(maps: np.ndarray) -> np.ndarray:
    """(L, rows, h, T, T) -> (L, h): mean over the rows of all maps, in bits."""
    return entropies(maps).mean(axis=(1, 3))


def _distance(maps: np.ndarray) -> np.ndarray:
    """(L, rows, h, T, T) -> (L, h): mean of the weighted distance from query to key."""
    positions = np.arange(MAX_LEN)
    back = (positions[:, None] - positions).astype(maps.dtype)
    return (maps * back).sum(axis=-1).mean(axis=(1, 3))


def _p_right(task: Task, steps: ModelSteps) -> np.ndarray:
    """-> (n,): the probability of the right words together."""
    return (steps.probabilities[task.row, task.query] * task.right).sum(axis=-1)


def _mean_p_right(places: Task, steps: ModelSteps) -> float:
    """The mean of _p_right, where row i of the run is place i's."""
    n = np.arange(len(places.row))
    return float((steps.probabilities[n, places.query] * places.right).sum(axis=-1).mean())


def _accuracy(task: Task, steps: ModelSteps) -> float:
    among = np.where(task.choices, steps.probabilities[task.row, task.query], -1)
    return float(np.take_along_axis(task.right, among.argmax(axis=-1)[:, None], axis=-1).mean())


def _losses(ids: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """-> (rows, T - 1): -ln of the probability of the word that came; a probability of 0 counts as 1e-30."""
    came = np.take_along_axis(probabilities[:, :-1], ids[:, 1:, None], axis=-1)[..., 0]
    return -np.log(np.maximum(came, 1e-30))


def _without(layer: int, head: int, query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """-> allowed (N_LAYERS, n, h, T, T): row i may not use the cell (query[i], key[i]) of one head."""
    allowed = np.ones((N_LAYERS, len(query), N_HEADS, MAX_LEN, MAX_LEN), dtype=bool)
    allowed[layer, np.arange(len(query)), head, query, key] = False
    return allowed
