"""Mask lab: a mask painted by hand, and the text that keeps it in the URL."""

from dataclasses import dataclass

import numpy as np

from core.attention import attention
from core.experiments.prose import counted, weight


def parse_flips(text: str, n_q: int, n_k: int) -> frozenset[tuple[int, int]]:
    """ "4.1;0.2" -> the cells {(4, 1), (0, 2)} that were painted; what is no cell of the mask is dropped."""
    cells = set()
    for entry in text.split(";"):
        row, _, col = entry.partition(".")
        if _is_index(row, n_q) and _is_index(col, n_k):
            cells.add((int(row), int(col)))
    return frozenset(cells)


def _is_index(text: str, size: int) -> bool:
    """Whether the text is a whole number 0 ... size - 1."""
    return text.isascii() and text.isdigit() and len(text) < 5 and int(text) < size


def with_flip(text: str, row: int, col: int, n_q: int, n_k: int) -> str:
    """The text with one cell more, or one less when it was there; in order, so that one mask has one text."""
    cells = parse_flips(text, n_q, n_k) ^ {(row, col)}
    return ";".join(f"{i}.{j}" for i, j in sorted(cells))


@dataclass(frozen=True, slots=True, eq=False)
class PaintedLab:
    """A mask painted by hand."""

    allowed: np.ndarray  # (n_q, n_k)
    weights: np.ndarray  # (n_q, n_k)
    output: np.ndarray  # (n_q, d_v)
    n_flips: int

    @property
    def caption(self) -> str:
        """What the painted mask does."""
        hidden = self.weights[~self.allowed]
        dead = np.flatnonzero(~self.allowed.any(axis=-1))
        alone = np.flatnonzero(self.allowed.sum(axis=-1) == 1)
        parts = [
            f"{counted(self.n_flips, 'cell')} painted; {int(self.allowed.sum())} of {self.allowed.size} are "
            "allowed"
        ]
        if hidden[~np.isnan(hidden)].size:
            parts.append(f"the largest hidden weight is {weight(hidden[~np.isnan(hidden)].max())}")
        if alone.size:
            parts.append(f"in {counted(alone.size, 'row')} one key is left and gets exactly 1")
        if dead.size:
            parts.append(f"in {counted(dead.size, 'row')} none is left: NaN")
        return "; ".join(parts) + "."

    @property
    def note(self) -> str:
        """When it holds."""
        return "Any pattern is a mask: causal, padding and window are only the usual ones."


def painted_lab(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray | None, flips: str
) -> PaintedLab:
    """Start from `allowed` (None: everything), flip the painted cells, attend."""
    shape = (len(q), len(k))
    painted = np.ones(shape, dtype=bool) if allowed is None else np.broadcast_to(allowed, shape).copy()
    cells = parse_flips(flips, *shape)
    for cell in cells:
        painted[cell] = not painted[cell]
    steps = attention(q, k, v, painted)
    return PaintedLab(painted, steps.weights, steps.output, len(cells))
