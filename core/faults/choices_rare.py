"""Mistakes beside the common ones: the neighbourhood of each step.

Nobody has reported these as often as the others. The search tries each alone, and together with a
common fault, but not two of them at once.
"""

import math
from collections.abc import Callable

import numpy as np

from core.attention import softmax as right_softmax
from core.faults.choices_blend import finished, hidden_as_zero, plain
from core.faults.choices_heads import (
    cut,
    equal_widths,
    has_wo,
    has_x,
    is_flat,
    is_grouped,
    is_merged,
    project,
    project_out,
    tiled,
    unswapped,
    wo_is_square,
    x_fits_output,
)
from core.faults.choices_mask import anything, keeping, several_entries, shifted
from core.faults.choices_score import (
    added,
    alibi_bias,
    right_factor,
    rope,
    rotate,
    scaled_by,
    turned,
    unit,
    wrong_here,
)
from core.faults.pipeline import State, Updates, faulty
from core.faults.problem import Problem
from core.heads import merge_heads, repeat_key_value_heads, split_heads

Test = Callable[[Problem], bool]


def always(p: Problem) -> bool:
    return True


def heads_apart(p: Problem) -> bool:
    return p.n_heads > 1


def entries_apart(p: Problem) -> bool:
    return p.batch > 1


def same_width(p: Problem) -> bool:
    return p.d_v == p.d_k


def interchangeable(p: Problem) -> bool:
    return p.square and same_width(p) and p.n_kv_heads == p.n_heads


# --- the tensors themselves ----------------------------------------


def handed_over(order: str) -> Callable[[Problem, State], Updates]:
    """What arrives as q, k, v when they are passed in this order."""

    def compute(p: Problem, s: State) -> Updates:
        made = project(p, s)
        return {name: made[source] for name, source in zip("qkv", order, strict=True)}

    return compute


for order, exists in (
    ("qvk", same_width),
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


# --- softmax ----------------------------------------


def softened(label: str, variant: str = "", when: Test = always) -> Callable:
    """Decorator: masked scores -> weights, registered as a fault of the softmax stage."""

    def register(compute: Callable) -> Callable:
        faulty("softmax", label, variant, when, rare=True)(lambda p, s: finished(s, compute(s.masked)))
        return compute

    return register


def by_sum(shares: np.ndarray) -> np.ndarray:
    return shares / shares.sum(axis=-1, keepdims=True)


def softplus(z: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0)


softened("softmax.sigmoid", "divided by their sum")(lambda z: by_sum(1 / (1 + np.exp(-z))))
softened("softmax.relu", "divided by their sum")(lambda z: by_sum(np.maximum(z, 0)))
softened("softmax.softplus", "divided by their sum")(lambda z: by_sum(softplus(z)))
softened("softmax.softplus")(softplus)
softened("softmax.squares")(lambda z: by_sum(hidden_as_zero(z) ** 2))
softened("softmax.weights_rooted")(lambda z: np.sqrt(right_softmax(z)))
for count in (2, 3, 4, 5):
    softened("softmax.top_k", f"{count} keys", when=lambda p, count=count: p.n_k > count)(
        lambda z, count=count: right_softmax(
            np.where(z >= np.sort(z, axis=-1)[..., [-min(count, z.shape[-1])]], z, -np.inf)
        )
    )


@softened("softmax.divided_by_norm")
def by_norm(z: np.ndarray) -> np.ndarray:
    return unit(np.exp(z - z.max(axis=-1, keepdims=True)))


@softened("softmax.max_over_queries", when=lambda p: p.n_q > 1)
def shifted_by_columns(z: np.ndarray) -> np.ndarray:
    top = np.max(np.where(np.isneginf(z), -1e30, z), axis=-2, keepdims=True)
    return by_sum(np.exp(z - top))


def linear(feature: Callable[[np.ndarray], np.ndarray], of_keys: Callable | None = None) -> Callable:
    """Weights from features of q and k, without exp of their product."""

    def compute(p: Problem, s: State) -> Updates:
        shares = dots(feature(s.q), (of_keys or feature)(s.k))
        shown = shares if s.allowed is None else np.where(s.allowed, shares, 0.0)
        return finished(s, shown if of_keys else by_sum(shown))

    return compute


faulty("softmax", "softmax.linear", "elu + 1", rare=True)(
    linear(lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))))
)
faulty("softmax", "softmax.linear", "softmax of q and of k", rare=True)(
    linear(right_softmax, lambda k: right_softmax(k.swapaxes(-1, -2)).swapaxes(-1, -2))
)


@faulty("softmax", "softmax.twice", "the mask in between", anything, rare=True)
def mask_between(p: Problem, s: State) -> Updates:
    once = right_softmax(s.scaled)
    return finished(s, right_softmax(once if s.allowed is None else np.where(s.allowed, once, -np.inf)))


@faulty("softmax", "softmax.twice", "a mask of zeros in between", anything, rare=True)
def zeros_between(p: Problem, s: State) -> Updates:
    once = right_softmax(s.scaled)
    return finished(s, right_softmax(once if s.allowed is None else np.where(s.allowed, once, 0.0)))


# --- blend ----------------------------------------


def blended(label: str, variant: str = "", when: Test = always, mixes: str = "") -> Callable:
    """Decorator: state -> the output of each head, registered as a fault of the blend stage."""

    def register(compute: Callable) -> Callable:
        faulty("blend", label, variant, when, mixes, rare=True)(lambda p, s: {"heads_out": compute(s)})
        return compute

    return register


def reread(x: np.ndarray) -> np.ndarray:
    """The transpose, written out and read back in the old shape."""
    return x.swapaxes(-1, -2).reshape(x.shape)


def moved_on(v: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros_like(v[..., :1, :]), v[..., :-1, :]], axis=-2)


faulty("weights", "heads.first_head_only", when=heads_apart, mixes="heads", rare=True)(
    lambda p, s: {"weights": np.broadcast_to(s.weights[:, :1], s.weights.shape)}
)
blended("blend.v_shifted", "two back", lambda p: p.n_k > 2)(lambda s: s.weights @ np.roll(s.v, 2, axis=-2))
blended("blend.v_shifted", "one back, zeros first")(lambda s: s.weights @ moved_on(s.v))
blended("blend.v_wrong_head", "the next", heads_apart, "heads")(lambda s: s.weights @ np.roll(s.v, 1, axis=1))
blended("blend.v_wrong_head", "the first", heads_apart, "heads")(lambda s: s.weights @ s.v[:, :1])
blended("blend.v_wrong_entry", "the next", entries_apart, "batch")(
    lambda s: s.weights @ np.roll(s.v, 1, axis=0)
)
blended("blend.v_wrong_entry", "the first", entries_apart, "batch")(lambda s: s.weights @ s.v[:1])
blended("blend.channels_reversed", when=lambda p: p.d_v > 1)(lambda s: plain(s)[..., ::-1])
blended("blend.output_reshaped", when=lambda p: p.n_q > 1 and p.d_v > 1)(lambda s: reread(plain(s)))
blended("blend.output_rectified")(lambda s: np.maximum(plain(s), 0))
blended("blend.normalised", "the values")(lambda s: s.weights @ unit(s.v))
blended("blend.normalised", "the output")(lambda s: unit(plain(s)))
blended("blend.normalised", "the output, by layer norm")(lambda s: standardised(plain(s)))
blended("blend.normalised", "the output, by RMS norm")(lambda s: at_unit_power(plain(s)))
blended("heads.outputs_averaged", "mean", heads_apart, "heads")(
    lambda s: np.broadcast_to(plain(s).mean(1, keepdims=True), plain(s).shape)
)
blended("heads.outputs_averaged", "sum", heads_apart, "heads")(
    lambda s: np.broadcast_to(plain(s).sum(1, keepdims=True), plain(s).shape)
)


# --- heads and projections ----------------------------------------


def split_after_transpose(x: np.ndarray, n_heads: int) -> np.ndarray:
    batch, seq_len, width = x.shape
    return x.swapaxes(1, 2).reshape(batch, n_heads, seq_len, width // n_heads)


@faulty("split", "heads.split_wrong_transpose", when=is_flat, rare=True)
def split_wrong_axes(p: Problem, s: State) -> Updates:
    return cut(p, s, split_after_transpose)


@faulty("merge", "heads.merge_wrong_transpose", when=is_merged, rare=True)
def merge_wrong_axes(p: Problem, s: State) -> Updates:
    out = unswapped(s)
    batch, n_heads, seq_len, d_v = out.shape
    return {"output": out.swapaxes(-1, -2).reshape(batch, seq_len, n_heads * d_v)}


@faulty("merge", "heads.order_reversed", "each head one place on", heads_apart, "heads", rare=True)
def merge_rolled(p: Problem, s: State) -> Updates:
    out = np.roll(unswapped(s), 1, axis=1)
    return {"output": merge_heads(out) if p.merged else out}


@faulty("group", "heads.gqa_wrong_group", "reversed", is_grouped, "heads", rare=True)
def groups_reversed(p: Problem, s: State) -> Updates:
    return {name: repeat_key_value_heads(getattr(s, name)[:, ::-1], p.n_heads) for name in "kv"}


@faulty("group", "heads.gqa_wrong_group", "the last for all", is_grouped, "heads", rare=True)
def last_group(p: Problem, s: State) -> Updates:
    return {name: tiled(getattr(s, name)[:, -1:], p.n_heads) for name in "kv"}


@faulty(
    "split",
    "heads.joint_cut",
    when=lambda p: has_x(p) and is_flat(p) and equal_widths(p) and p.n_kv_heads == p.n_heads,
    rare=True,
)
def joint_cut(p: Problem, s: State) -> Updates:
    """q, k and v side by side, cut into heads first and into three afterwards."""
    whole = split_heads(np.concatenate([s.q, s.k, s.v], axis=-1), p.n_heads)
    return dict(zip("qkv", np.split(whole, 3, axis=-1), strict=True))


for name in ("wq", "wk", "wv"):
    faulty(
        "output",
        "projection.wo_wrong",
        name,
        lambda p, name=name: wo_is_square(p) and p.projections[name].shape == p.projections["wo"].shape,
        rare=True,
    )(lambda p, s, name=name: {"output": project_out(p, s, s.output, p.projections[name])})


def x_fits_heads(p: Problem) -> bool:
    return has_wo(p) and x_fits_output(p) and p.n_heads * p.d_v == p.x.shape[-1]


@faulty("output", "blend.residual_added", "x, before W_O", x_fits_heads, rare=True)
def residual_before_output(p: Problem, s: State) -> Updates:
    return {"output": project_out(p, s, s.output + p.x)}
