"""Mistakes beside the common ones, up to the masked scores: the neighbourhood of each step.

Nobody has reported these as often as the others. The search tries each alone, and together with a
common fault, but not two of them at once.
"""

import math
from collections.abc import Callable

import numpy as np

from core.faults.choices_heads import is_grouped
from core.faults.choices_mask import keeping, several_entries, shifted
from core.faults.choices_position import added, alibi_bias, rope, rotate, turned
from core.faults.choices_projection import project
from core.faults.choices_score import fits_value, right_factor, scaled_by, unit, wrong_here
from core.faults.pipeline import State, Updates, always, faulty
from core.faults.problem import Problem

Test = Callable[[Problem], bool]


def heads_apart(p: Problem) -> bool:
    return p.n_heads > 1


def entries_apart(p: Problem) -> bool:
    return p.batch > 1


def interchangeable(p: Problem) -> bool:
    return p.square and fits_value(p) and p.n_kv_heads == p.n_heads


# --- the tensors themselves ----------------------------------------


def handed_over(order: str) -> Callable[[Problem, State], Updates]:
    """What arrives as q, k, v when they are passed in this order."""

    def compute(p: Problem, s: State) -> Updates:
        made = project(p, s)
        return {name: made[source] for name, source in zip("qkv", order, strict=True)}

    return compute


for order, exists in (
    ("qvk", fits_value),
    ("vkq", interchangeable),
    ("kvq", interchangeable),
    ("vqk", interchangeable),
):
    faulty("project", "score.arguments_swapped", f"{', '.join(order)} for q, k, v", exists, rare=True)(
        handed_over(order)
    )


# --- scores ----------------------------------------


def scored(label: str, variant: str = "", when: Test = always, mixes: str = "") -> Callable:
    """Decorator: q and k -> scores, registered as a fault of the score stage."""

    def register(compute: Callable) -> Callable:
        faulty("score", label, variant, when, mixes, rare=True)(lambda p, s: {"scores": compute(s.q, s.k)})
        return compute

    return register


def dots(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    return q @ k.swapaxes(-1, -2)


def at_unit_power(x: np.ndarray) -> np.ndarray:
    return x * math.sqrt(x.shape[-1]) / np.linalg.norm(x, axis=-1, keepdims=True)


def standardised(x: np.ndarray) -> np.ndarray:
    return at_unit_power(x - x.mean(axis=-1, keepdims=True))


def over_positions(x: np.ndarray) -> np.ndarray:
    return unit(x.swapaxes(-1, -2)).swapaxes(-1, -2)


@scored("score.k_reshaped", when=lambda p: p.n_k != p.d_k)
def keys_reshaped(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    return q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


for way, normalise in (
    ("RMS norm", at_unit_power),
    ("layer norm", standardised),
    ("over positions", over_positions),
):
    scored("score.normalised", way)(lambda q, k, normalise=normalise: dots(normalise(q), normalise(k)))
scored("score.squared")(lambda q, k: dots(q, k) ** 2)
scored("score.rectified")(lambda q, k: np.maximum(dots(q, k), 0))
scored("score.channels_missing", "half of them", when=lambda p: p.d_k > 1)(
    lambda q, k: dots(q[..., : q.shape[-1] // 2], k[..., : k.shape[-1] // 2])
)
scored("score.channels_missing", "the first", when=lambda p: p.d_k > 1)(
    lambda q, k: dots(q[..., 1:], k[..., 1:])
)
scored("score.channels_missing", "the last", when=lambda p: p.d_k > 1)(
    lambda q, k: dots(q[..., :-1], k[..., :-1])
)
for way, reorder in (
    ("one back", lambda x: np.roll(x, 1, axis=-2)),
    ("one ahead", lambda x: np.roll(x, -1, axis=-2)),
    ("reversed", lambda x: x[..., ::-1, :]),
):
    scored("score.k_out_of_order", way)(lambda q, k, reorder=reorder: dots(q, reorder(k)))
    scored("score.q_out_of_order", way)(lambda q, k, reorder=reorder: dots(reorder(q), k))
scored("score.k_wrong_head", "reversed", heads_apart, "heads")(lambda q, k: dots(q, k[:, ::-1]))
scored("score.k_wrong_head", "the next", heads_apart, "heads")(lambda q, k: dots(q, np.roll(k, 1, axis=1)))
scored("score.k_wrong_head", "the first", heads_apart, "heads")(lambda q, k: dots(q, k[:, :1]))
scored("score.k_wrong_entry", "reversed", entries_apart, "batch")(lambda q, k: dots(q, k[::-1]))
scored("score.k_wrong_entry", "the first", entries_apart, "batch")(lambda q, k: dots(q, k[:1]))


# --- positions ----------------------------------------

for base in (1e2, 1e3, 1e5, 5e5, 1e6, 1e8):
    faulty("position", "score.rope_frequencies", f"base {base:,.0f}", rope, rare=True)(
        lambda p, s, base=base: turned(p, s, base=base)
    )


@faulty("position", "score.rope_partial", when=lambda p: rope(p) and p.d_k >= 4, rare=True)
def half_of_the_channels(p: Problem, s: State) -> Updates:
    width, first = p.d_k // 4 * 2, {"q": p.n_k - p.n_q, "k": 0}
    parts = {name: (getattr(s, name)[..., :width], getattr(s, name)[..., width:]) for name in "qk"}
    return {n: np.concatenate([rotate(turn, first[n]), rest], axis=-1) for n, (turn, rest) in parts.items()}


for by in (1, -1):
    faulty("position", "score.rope_positions_apart", f"queries {by:+d}", rope, rare=True)(
        lambda p, s, by=by: turned(p, s, offset=p.n_k - p.n_q + by)
    )
for side, other in ("qk", "kq"):
    faulty("position", "score.rope_interleaved", f"only {side}", rope, rare=True)(
        lambda p, s, side=side, other=other: {**turned(p, s, side, interleaved=True), **turned(p, s, other)}
    )
    faulty("position", "score.rope_sign", f"only {side}", rope, rare=True)(
        lambda p, s, side=side, other=other: {**turned(p, s, side, sign=-1.0), **turned(p, s, other)}
    )


@faulty("bias", "score.alibi_not_wanted", when=lambda p: not p.alibi, rare=True)
def unwanted_alibi(p: Problem, s: State) -> Updates:
    scaled = added(p, s)["scaled"]
    return {"scaled": scaled + alibi_bias(p)[: scaled.shape[1]] if s.mask_fits else scaled}


# --- scale ----------------------------------------


def key_width(p: Problem) -> int:
    """The width of all key heads side by side, also of those that a part leaves out."""
    return p.d_k * p.total_heads * p.n_kv_heads // p.n_heads


for label, variant, factor, exists in (
    ("scale.root_rounded", "down", lambda p, s: 1 / math.isqrt(s.d_k), always),
    ("scale.root_rounded", "up", lambda p, s: 1 / (math.isqrt(s.d_k - 1) + 1), always),
    ("scale.cube_root", "", lambda p, s: s.d_k ** (-1 / 3), always),
    ("scale.by_sqrt_kv_width", "", lambda p, s: key_width(p) ** -0.5, is_grouped),
    ("softmax.base_two", "log2(e) with exp", lambda p, s: right_factor(p, s) / math.log(2), always),
    ("softmax.base_ten", "", lambda p, s: right_factor(p, s) * math.log(10), always),
):
    faulty("scale", label, variant, wrong_here(factor, exists), rare=True)(scaled_by(factor))


# --- mask ----------------------------------------

for by in (3, -3):
    faulty(
        "causal",
        "mask.causal_shifted",
        f"three {'ahead' if by > 0 else 'behind'}",
        lambda p: p.causal,
        rare=True,
    )(shifted(by))
faulty("padding", "mask.padding_wrong_entry", "the next entry", several_entries, "batch", rare=True)(
    keeping(lambda keep: np.roll(keep, 1, axis=0))
)
faulty("padding", "mask.padding_wrong_entry", "the longest for all", several_entries, "batch", rare=True)(
    keeping(lambda keep: np.broadcast_to(keep.any(axis=0), keep.shape))
)
