"""Who may attend to whom, and how the rest is hidden: the right way and the wrong ways."""

from collections.abc import Callable

import numpy as np

from core import masks
from core.faults.pipeline import State, Updates, convention, faulty, right
from core.faults.problem import Problem

Compute = Callable[[Problem, State], Updates]


def is_causal(p: Problem) -> bool:
    return p.causal


def is_padded(p: Problem) -> bool:
    return p.key_keep is not None


def both(p: Problem) -> bool:
    return p.causal and is_padded(p)


def anything(p: Problem) -> bool:
    return p.masks


# --- the causal triangle ------------------------------------------------------------------------


def triangle(p: Problem, shift: int = 0) -> np.ndarray:
    """-> (n_q, n_k) bool: query i sees key j when j <= i + offset + shift."""
    offset = 0 if p.top_left else p.n_k - p.n_q
    return np.tri(p.n_q, p.n_k, offset + shift, dtype=bool)


@right("causal")
def causal(p: Problem, s: State) -> Updates:
    if getattr(s, "causal_elsewhere", False):
        return {"allowed": masks.causal(*s.scores.shape[-2:])}
    return {"allowed": triangle(p) if p.causal and s.mask_fits else None}


def shifted(shift: int) -> Compute:
    return lambda p, s: {"allowed": triangle(p, shift) if s.mask_fits else None}


faulty("causal", "mask.missing_causal", when=is_causal)(lambda p, s: {"allowed": None})
faulty("causal", "mask.strict_lower", when=is_causal)(shifted(-1))
faulty("causal", "mask.peeks_one_ahead", when=is_causal)(shifted(+1))
faulty("causal", "mask.causal_shifted", "two ahead", when=is_causal)(shifted(+2))
faulty("causal", "mask.causal_shifted", "two behind", when=is_causal)(shifted(-2))


def other_corner(p: Problem, s: State) -> Updates:
    offset = p.n_k - p.n_q if p.top_left else 0
    return {"allowed": np.tri(p.n_q, p.n_k, offset, dtype=bool) if s.mask_fits else None}


def unequal(p: Problem) -> bool:
    return p.causal and not p.square


faulty("causal", "mask.causal_top_left", when=lambda p: unequal(p) and not p.top_left)(other_corner)
faulty("causal", "mask.causal_lower_right", when=lambda p: unequal(p) and p.top_left)(other_corner)


@faulty("causal", "mask.upper_triangle", when=is_causal)
def upper(p: Problem, s: State) -> Updates:
    """Each query sees itself and what comes after it: the triangle transposed."""
    return {"allowed": ~triangle(p, -1) if s.mask_fits else None}


@faulty(
    "causal",
    "mask.inverted",
    "only the causal mask",
    when=lambda p: p.causal and (is_padded(p) or p.allowed is not None),
)
def causal_inverted(p: Problem, s: State) -> Updates:
    return {"allowed": ~triangle(p) if s.mask_fits else None}


@faulty("causal", "mask.causal_not_wanted", when=lambda p: not p.causal and p.causal_known and p.n_q > 1)
def not_wanted(p: Problem, s: State) -> Updates:
    return {"allowed": triangle(p) if s.mask_fits else None}


@faulty(
    "causal",
    "mask.causal_not_wanted",
    "top left",
    when=lambda p: not p.causal and p.causal_known and not p.square,
)
def not_wanted_top_left(p: Problem, s: State) -> Updates:
    return {"allowed": np.tri(p.n_q, p.n_k, dtype=bool) if s.mask_fits else None}


# --- padding --------------------------------------------------------------------------------------


def keys(keep: np.ndarray) -> np.ndarray:
    """(B, n_k) -> (B, 1, 1, n_k): the same for every head and query."""
    return masks.padding(keep)[:, None]


@right("padding")
def padding(p: Problem, s: State) -> Updates:
    return {"keep": keys(p.key_keep) if is_padded(p) and s.mask_fits else None}


def keeping(change: Callable[[np.ndarray], np.ndarray]) -> Compute:
    """A padding stage that uses change(key_keep) in place of key_keep."""
    return lambda p, s: {"keep": keys(change(p.key_keep)) if s.mask_fits else None}


def neighbours(keep: np.ndarray, beyond: bool) -> tuple[np.ndarray, np.ndarray]:
    """The mask moved by one to either side; `beyond` is what comes in at the edges."""
    edge = np.full((keep.shape[0], 1), beyond)
    return np.concatenate([edge, keep[:, :-1]], axis=1), np.concatenate([keep[:, 1:], edge], axis=1)


def one_more(keep: np.ndarray) -> np.ndarray:
    """The padded keys next to real ones are seen too."""
    left, right_side = neighbours(keep, beyond=False)
    return keep | left | right_side


def one_fewer(keep: np.ndarray) -> np.ndarray:
    """The real keys next to padded ones are hidden too."""
    left, right_side = neighbours(keep, beyond=True)
    return keep & left & right_side


def several_entries(p: Problem) -> bool:
    return is_padded(p) and p.batch > 1


faulty("padding", "mask.missing_padding", when=is_padded)(lambda p, s: {"keep": None})
faulty(
    "padding",
    "mask.inverted",
    "only the padding mask",
    when=lambda p: both(p) or (is_padded(p) and p.allowed is not None),
)(keeping(np.logical_not))
faulty("padding", "mask.padding_wrong_side", when=is_padded)(keeping(lambda keep: keep[:, ::-1]))
faulty("padding", "mask.padding_off_by_one", "one padded key seen", when=is_padded)(keeping(one_more))
faulty("padding", "mask.padding_off_by_one", "one real key hidden", when=is_padded)(keeping(one_fewer))
faulty("padding", "mask.padding_wrong_entry", "first entry for all", when=several_entries, mixes="batch")(
    keeping(lambda keep: np.broadcast_to(keep[:1], keep.shape))
)
faulty("padding", "mask.padding_wrong_entry", "batch reversed", when=several_entries, mixes="batch")(
    keeping(lambda keep: keep[::-1])
)


@faulty(
    "padding",
    "mask.padding_wrong_entry",
    "tiled over heads",
    when=lambda p: several_entries(p) and p.n_heads > 1,
    mixes="batch",
)
def tiled_over_heads(p: Problem, s: State) -> Updates:
    """A (B h, n_k) mask made by repeating the whole batch h times, read as (B, h, n_k)."""
    keep = np.tile(p.key_keep, (p.n_heads, 1)).reshape(p.batch, p.n_heads, 1, p.n_k)
    return {"keep": keep if s.mask_fits and s.scores.shape[1] == p.n_heads else None}


@faulty("padding", "mask.padding_on_query_axis", when=lambda p: is_padded(p) and p.square)
def on_query_axis(p: Problem, s: State) -> Updates:
    return {"keep": p.key_keep[:, None, :, None] if s.mask_fits else None}


@convention("padding", "padded queries are hidden too", when=lambda p: is_padded(p) and p.square)
def on_both_axes(p: Problem, s: State) -> Updates:
    return {"keep": keys(p.key_keep) & p.key_keep[:, None, :, None] if s.mask_fits else None}


# --- all masks together ---------------------------------------------------------------------------


def together(*parts: np.ndarray | None) -> np.ndarray | None:
    """The parts combined by `and`; None hides nothing."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    total = present[0]
    for part in present[1:]:
        total = total & part
    return total


@right("combine")
def combine(p: Problem, s: State) -> Updates:
    return {"allowed": together(s.allowed, s.keep, p.allowed if s.mask_fits else None)}


@faulty("combine", "mask.inverted", when=anything)
def inverted(p: Problem, s: State) -> Updates:
    allowed = combine(p, s)["allowed"]
    return {"allowed": None if allowed is None else ~allowed}


@faulty(
    "combine",
    "mask.combined_with_or",
    when=lambda p: sum((p.causal, is_padded(p), p.allowed is not None)) > 1,
)
def combined_with_or(p: Problem, s: State) -> Updates:
    parts = [part for part in (s.allowed, s.keep, p.allowed) if part is not None]
    if not s.mask_fits or len(parts) < 2:
        return combine(p, s)
    shown = parts[0]
    for part in parts[1:]:
        shown = shown | part
    return {"allowed": shown}


def explicit(p: Problem) -> bool:
    return p.allowed is not None


@faulty("combine", "mask.missing", when=explicit)
def without_explicit(p: Problem, s: State) -> Updates:
    return {"allowed": together(s.allowed, s.keep)}


@faulty(
    "combine",
    "mask.inverted",
    "only the mask handed in",
    when=lambda p: explicit(p) and (p.causal or is_padded(p)),
)
def explicit_inverted(p: Problem, s: State) -> Updates:
    return {"allowed": together(s.allowed, s.keep, ~p.allowed if s.mask_fits else None)}


@faulty(
    "combine",
    "mask.transposed",
    when=lambda p: explicit(p) and p.square and p.allowed.shape[-2:] == (p.n_q, p.n_k),
)
def explicit_transposed(p: Problem, s: State) -> Updates:
    return {"allowed": together(s.allowed, s.keep, p.allowed.swapaxes(-1, -2) if s.mask_fits else None)}
