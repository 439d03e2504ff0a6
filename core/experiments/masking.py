"""Mask labs: the same scores under ten masks, prefixes one by one, both meanings of a boolean mask."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.attention import attention, blend, mask, scale, score, softmax
from core.checks import ShapeError, check_allowed
from core.experiments.prose import Table, fixed, percent, significant, weight
from core.masks import causal

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
    def caption(self) -> str:
        """What this variant does, in numbers."""
        leaked = self.leaked[~np.isnan(self.leaked)]
        row = int(np.nanargmax(self.leaked)) if leaked.size else 0
        parts = [
            f"{self.name}: hidden keys get {_share(leaked.max(initial=0.0))} of row {row}"
            if leaked.any()
            else f"{self.name}: hidden keys get exactly 0"
        ]
        sums = self.row_sums[~np.isnan(self.row_sums)]
        if sums.size and not np.allclose(sums, 1):
            parts.append(f"rows sum to {fixed(sums.min())} … {fixed(sums.max())}")
        if self.dead_rows:
            parts.append(f"{len(self.dead_rows)} of {len(self.row_sums)} rows are NaN, with nothing left")
        parts.append(
            "the output is the right one"
            if self.error == 0 and not self.dead_rows
            else f"the output is off by up to {significant(self.error)}"
        )
        return "; ".join(parts) + "."


def _share(value: float) -> str:
    """A leaked weight; small ones in percent with their digits."""
    return percent(value) if value >= 0.001 else f"{significant(100 * value)} %"


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
        exact = sum(not one.leaked.any() for one in self.variants)
        return (
            f"The same scores, {len(self.variants)} masks. None raises an error and all have the same "
            f"shapes; {len(wrong)} of {len(self.variants) - 1} differ from the right output, {len(silent)} "
            f"of them with a number in every cell. {exact} give hidden keys exactly 0. The last word "
            f"changed: {_movers(self.variants)}"
        )

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


def mask_lab(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> MaskLab:
    """q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), allowed (n_q, n_k) -> every variant.

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
    found = []
    for name, weigh in VARIANTS.items():
        if name == "on the query axis" and scaled.shape[0] != scaled.shape[1]:
            continue
        weights = weigh(scaled, allowed)
        output = blend(weights, v)
        moved = np.abs(blend(weigh(changed, allowed), v_changed) - output).max(axis=-1)
        found.append(_variant(name, weights, output, allowed, moved, right))
    return MaskLab(allowed, tuple(found))


def _variant(
    name: str,
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
    return MaskVariant(name, weights, output, leaked, weights.sum(axis=-1), moved, error)


@dataclass(frozen=True, slots=True, eq=False)
class PrefixLab:
    """One masked pass over the whole sequence against every prefix computed alone."""

    full: np.ndarray  # (T, d_v) output of the one pass
    one_by_one: np.ndarray  # (T, d_v): row t is the last row of a pass over words 0 ... t alone
    masked_differences: np.ndarray  # (T,) largest |difference| in each row
    unmasked_differences: np.ndarray  # (T,) the same for a pass without the mask

    @property
    def caption(self) -> str:
        """What was compared."""
        largest = self.masked_differences.max()
        apart = int((self.unmasked_differences > 1e-9).sum())
        return (
            f"One masked pass over {len(self.full)} words gives {len(self.full)} outputs. Each equals the "
            "output of a pass over its own prefix alone: the largest difference is "
            f"{significant(largest)}{'' if largest == 0 else ' (rounding)'}. Without the mask {apart} of "
            f"them differ, by up to {significant(self.unmasked_differences.max())}."
        )

    @property
    def note(self) -> str:
        """What follows."""
        return (
            "So training can score every position at once, and generating word by word gives the same "
            "numbers: at inference you only have the prefix. A difference near 10⁻¹⁶ can remain where the "
            "machine adds in another order."
        )


def prefix_lab(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> PrefixLab:
    """q (T, d_k), k (T, d_k), v (T, d_v) -> the causal pass against its prefixes.

    Raises ShapeError unless there are as many queries as keys.
    """
    if len(q) != len(k):
        raise ShapeError(f"every word needs a query and a key, but q is {q.shape} and k is {k.shape}")
    full = attention(q, k, v, causal(len(q))).output
    alone = np.stack([attention(q[t : t + 1], k[: t + 1], v[: t + 1]).output[0] for t in range(len(q))])
    unmasked = attention(q, k, v).output
    return PrefixLab(full, alone, np.abs(full - alone).max(axis=-1), np.abs(unmasked - alone).max(axis=-1))


@dataclass(frozen=True, slots=True)
class TorchFact:
    """How one function of PyTorch 2.13 reads a boolean mask, and what it does with a dead row."""

    call: str
    true_means: str  # "may attend" or "is blocked"
    dead_row: str  # "NaN" or "0"


TORCH_FACTS = (
    TorchFact("F.scaled_dot_product_attention(attn_mask=…)", "may attend", "0"),
    TorchFact("nn.MultiheadAttention(attn_mask=…), weights asked for (the default)", "is blocked", "NaN"),
    TorchFact("nn.MultiheadAttention(attn_mask=…, need_weights=False)", "is blocked", "0"),
    TorchFact("nn.MultiheadAttention(key_padding_mask=…)", "is blocked", "NaN"),
)


def torch_table() -> Table:
    """TORCH_FACTS, one row a call."""
    header = ("call", "True in the mask means", "a row with nothing left")
    return (header, *((fact.call, fact.true_means, fact.dead_row) for fact in TORCH_FACTS))


@dataclass(frozen=True, slots=True, eq=False)
class ConventionLab:
    """One boolean array, read both ways."""

    array: np.ndarray  # (n_q, n_k) bool
    may_attend: np.ndarray  # (n_q, n_k) weights when True means "may attend"
    blocked: np.ndarray  # (n_q, n_k) weights when True means "is blocked"

    @property
    def caption(self) -> str:
        """What the two readings give."""
        dead = (
            int(np.isnan(self.blocked).any(axis=-1).sum()),
            int(np.isnan(self.may_attend).any(axis=-1).sum()),
        )
        shared = (np.nan_to_num(self.may_attend) > 0) & (np.nan_to_num(self.blocked) > 0)
        return (
            f"The same array of {int(self.array.sum())} True and {int((~self.array).sum())} False, read as "
            f"“may attend” and as “is blocked”: {int(shared.sum())} cells have weight under both readings. "
            f"Rows with nothing left: {dead[1]} and {dead[0]}. Neither reading raises an error."
        )

    @property
    def note(self) -> str:
        """Who reads it how."""
        return (
            "PyTorch 2.13 has both: F.scaled_dot_product_attention takes True as “may attend”, "
            "nn.MultiheadAttention takes True as “is blocked”. A dead row: "
            + "; ".join(f"{fact.call}: {fact.dead_row}" for fact in TORCH_FACTS)
            + ". (Zeros are what goes into the output projection; its bias comes after.)"
        )


def convention_lab(scaled_scores: np.ndarray, array: np.ndarray) -> ConventionLab:
    """scaled_scores (n_q, n_k), a boolean array of that shape -> its weights read both ways."""
    return ConventionLab(array, softmax(mask(scaled_scores, array)), softmax(mask(scaled_scores, ~array)))


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
            f"{self.n_flips} cells painted; {int(self.allowed.sum())} of {self.allowed.size} are allowed"
        ]
        if hidden[~np.isnan(hidden)].size:
            parts.append(f"the largest hidden weight is {weight(hidden[~np.isnan(hidden)].max())}")
        if alone.size:
            parts.append(f"{alone.size} rows have one key left, which gets exactly 1")
        if dead.size:
            parts.append(f"{dead.size} rows have none left and are NaN")
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
