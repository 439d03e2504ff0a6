"""Mask lab: the same scores under ten masks, one of them right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.attention import blend, mask, scale, score, softmax
from core.checks import check_allowed
from core.experiments.prose import NO_BREAK, Table, counted, fixed, percent, significant

MaskedWeights = Callable[[np.ndarray, np.ndarray], np.ndarray]  # scaled scores, allowed -> weights


def _filled_with(value: float) -> MaskedWeights:
    """Hidden scores are replaced by a number, and softmax runs over all of them."""
    return lambda scaled, allowed: softmax(np.where(allowed, scaled, value))


def _after_softmax(scaled: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    return softmax(scaled) * allowed


def _one_too_far(scaled: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    return softmax(mask(scaled, np.concatenate([allowed[:, :1], allowed[:, :-1]], axis=1)))


def _one_too_short(scaled: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    return softmax(mask(scaled, np.concatenate([allowed[:, 1:], np.zeros_like(allowed[:, :1])], axis=1)))


VARIANTS: dict[str, MaskedWeights] = {
    "−∞ before softmax": lambda scaled, allowed: softmax(mask(scaled, allowed)),
    "no mask": lambda scaled, allowed: softmax(scaled),  # noqa: ARG005
    "0 before softmax": _filled_with(0.0),
    "−10 before softmax": _filled_with(-10.0),
    "−1e9 before softmax": _filled_with(-1e9),
    "0 after softmax": _after_softmax,
    "one position too far": _one_too_far,
    "one position too short": _one_too_short,
    "inverted": lambda scaled, allowed: softmax(mask(scaled, ~allowed)),
    "on the query axis": lambda scaled, allowed: softmax(mask(scaled, allowed.T)),
}
RIGHT = next(iter(VARIANTS))


@dataclass(frozen=True, slots=True, eq=False)
class MaskVariant:
    """What one way to mask gives for the same scores."""

    name: str
    queries: tuple[str, ...]  # n_q names for the rows
    weights: np.ndarray  # (n_q, n_k)
    output: np.ndarray  # (n_q, d_v)
    leaked: np.ndarray  # (n_q,) weight on keys that should be hidden; NaN in a dead row
    row_sums: np.ndarray  # (n_q,)
    moved: np.ndarray  # (n_q,) largest change of the output row when the last key and value change by 1
    error: float  # largest |output - right output| over the rows in which both are numbers

    @property
    def dead_rows(self) -> tuple[int, ...]:
        """Rows that are NaN: nothing was left for them to attend to."""
        return tuple(int(i) for i in np.flatnonzero(np.isnan(self.row_sums)))

    @property
    def leaks(self) -> bool:
        """Whether a hidden key gets any weight, in the rows that are numbers."""
        return bool((self.leaked > 0).any())  # NaN is not above 0

    @property
    def caption(self) -> str:
        """What this variant does, in numbers."""
        leaked = self.leaked[~np.isnan(self.leaked)]
        parts = [f"{self.name}: hidden keys get exactly 0"]
        if self.leaks:
            query = self.queries[int(np.nanargmax(self.leaked))]
            parts = [f"{self.name}: hidden keys get {_share(leaked.max())} of the row of “{query}”"]
        sums = self.row_sums[~np.isnan(self.row_sums)]
        if sums.size and not np.allclose(sums, 1):
            parts.append(f"rows sum to {fixed(sums.min())} … {fixed(sums.max())}")
        if self.dead_rows:
            n_rows = len(self.row_sums)
            parts.append(f"{len(self.dead_rows)} of {counted(n_rows, 'row')} NaN, with nothing left")
        if len(self.dead_rows) < len(self.row_sums):
            parts.append(self._about_the_output())
        return "; ".join(parts) + "."

    @property
    def cells(self) -> tuple[str, ...]:
        """The same as one row of a table."""
        leaked, sums = self.leaked[~np.isnan(self.leaked)], self.row_sums[~np.isnan(self.row_sums)]
        even = sums.size and np.allclose(sums, 1)
        return (
            self.name,
            _share(leaked.max()) if self.leaks else "0",
            "1" if even else f"{fixed(sums.min())} … {fixed(sums.max())}" if sums.size else "NaN",
            str(len(self.dead_rows)),
            significant(self.error) if len(self.dead_rows) < len(self.row_sums) else "NaN",
            str(int((self.moved[:-1] > 0).sum())),
        )

    def _about_the_output(self) -> str:
        """Right or off, over the rows that are numbers."""
        which = "the output of the other rows" if self.dead_rows else "the output"
        return (
            f"{which} is right" if self.error == 0 else f"{which} is off by up to {significant(self.error)}"
        )


def _share(value: float) -> str:
    """A leaked weight; small ones in percent with their digits."""
    return percent(value) if value >= 0.001 else f"{significant(100 * value)}{NO_BREAK}%"


@dataclass(frozen=True, slots=True, eq=False)
class MaskLab:
    """All variants side by side, the right one first."""

    allowed: np.ndarray  # (n_q, n_k)
    variants: tuple[MaskVariant, ...]

    @property
    def caption(self) -> str:
        """What to look at."""
        wrong = [one for one in self.variants[1:] if one.error > 0 or one.dead_rows]
        silent = [one for one in wrong if not one.dead_rows]
        exact = sum(not one.leaks for one in self.variants)
        return (
            f"The same scores, {len(self.variants)} masks. None raises an error and all have the same "
            f"shapes; {len(wrong)} of {len(self.variants) - 1} differ from the right output, {len(silent)} "
            f"of them with a number in every cell. {exact} of the {len(self.variants)}, the right one among "
            f"them, give hidden keys exactly 0 in every row that is a number. The last word changed: "
            f"{_movers(self.variants)}"
        )

    @property
    def table(self) -> Table:
        """One row a variant. The last column: rows before the last that move with the last word."""
        header = (
            "mask",
            "hidden keys get up to",
            "rows sum to",
            "NaN rows",
            "output off by",
            "earlier rows that move",
        )
        return (header, *(one.cells for one in self.variants))

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "Exactly 0 needs −∞, or a number so low that exp rounds to 0. A row with nothing left is NaN "
            "here, as the formula says (0/0). Masking after softmax is repaired by dividing by the row sum "
            "again, which is the same as −∞ before."
        )


def _movers(variants: tuple[MaskVariant, ...]) -> str:
    """How many earlier rows move in the right variant and without a mask."""
    right, without = ((one.moved[:-1] > 0).sum() for one in variants[:2])
    return f"{right} earlier rows move under {variants[0].name}, {without} without a mask."


def mask_lab(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray, queries: Sequence[str] = ()
) -> MaskLab:
    """q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), allowed (n_q, n_k), names of the queries -> every variant.

    Without names the queries are called by their numbers.
    "On the query axis" needs as many queries as keys and is left out otherwise.
    """
    scaled = scale(score(q, k), q.shape[-1])
    check_allowed(allowed, scaled.shape)
    allowed = np.broadcast_to(allowed, scaled.shape)
    k_changed, v_changed = k.astype(float), v.astype(float)
    k_changed[-1] += 1
    v_changed[-1] += 1
    changed = scale(score(q, k_changed), q.shape[-1])
    right = blend(VARIANTS[RIGHT](scaled, allowed), v)
    names = tuple(queries) or tuple(map(str, range(len(q))))
    found = []
    for name, weigh in VARIANTS.items():
        if name == "on the query axis" and scaled.shape[0] != scaled.shape[1]:
            continue
        weights = weigh(scaled, allowed)
        output = blend(weights, v)
        moved = np.abs(blend(weigh(changed, allowed), v_changed) - output).max(axis=-1)
        found.append(_variant(name, names, weights, output, allowed, moved, right))
    return MaskLab(allowed, tuple(found))


def _variant(
    name: str,
    queries: tuple[str, ...],
    weights: np.ndarray,
    output: np.ndarray,
    allowed: np.ndarray,
    moved: np.ndarray,
    right: np.ndarray,
) -> MaskVariant:
    """Measure one variant."""
    difference = np.abs(output - right)
    error = float(difference[~np.isnan(difference)].max(initial=0.0))
    dead = np.isnan(weights).any(axis=-1)
    leaked = np.where(dead, np.nan, np.where(allowed, 0.0, weights).sum(axis=-1))
    return MaskVariant(name, queries, weights, output, leaked, weights.sum(axis=-1), moved, error)
