"""Print what a file of weights can do on the held-out items: `python -m training.report [FILE]`.

The same numbers as in the app, by the same code; for whoever trains another model.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from core import tiny_model
from core.head_scores import JOBS, cut_cells, measure
from core.held_out import TASKS
from core.model_faults import FAULTS
from core.tiny_model import N_HEADS, N_LAYERS, Change

HEADS = [(layer, head) for layer in range(N_LAYERS) for head in range(N_HEADS)]


def main() -> None:
    """Print accuracies, the table of heads, and what interventions do."""
    if len(sys.argv) > 1:
        tiny_model.WEIGHTS = Path(sys.argv[1])
    right = measure()
    line("", TASKS)
    line("places", right.n.values())
    line("accuracy", right.accuracy.values())
    line("p(right)", right.probability.values())
    print(f"loss: texts {right.text_loss:.3f}, blocks {right.block_loss:.3f}\n")
    heads()
    print("\naccuracy when a head is off, or when a step is broken (first the loss on texts)")
    changes = {f"L{layer}H{head}": Change(off=frozenset({(layer, head)})) for layer, head in HEADS}
    changes |= {fault: Change(fault=fault) for fault in FAULTS}
    line("", ("loss", *TASKS))
    for name, change in changes.items():
        line(name, (measure(change).text_loss, *measure(change).accuracy.values()))
    print("\np(right) when one cell is cut in the task's best head: before, after, control")
    for task in TASKS:
        layer, head = divmod(int(right.heads.weight[task].argmax()), N_HEADS)
        cut = cut_cells(task, layer, head)
        line(f"{task} L{layer}H{head}", (cut.before, cut.after, cut.control))


def heads() -> None:
    """One row for each score, one column for each head, a uniform head last."""
    table = measure().heads
    line("mean weight", (*(f"L{layer}H{head}" for layer, head in HEADS), "uniform"))
    for job in JOBS:
        line(job, (*table.weight[job].flat, table.uniform[job]))
    for task, rival in table.rival.items():
        line(f"rivals: {task}", rival.flat)
    line("entropy, bits", (*table.entropy.flat, table.uniform_entropy))
    line("distance", (*table.distance.flat, table.uniform_distance))
    print("jobs: ", {f"L{layer}H{head}": table.jobs(layer, head) for layer, head in HEADS})


def line(name: str, cells: Iterable[object]) -> None:
    """A name and cells of equal width; numbers that are not whole with three decimals."""
    texts = (f"{c:.3f}" if isinstance(c, (float, np.floating)) else str(c) for c in cells)
    print(f"{name:>30}", *(f"{text:>11}" for text in texts))


if __name__ == "__main__":
    main()
