"""Mistakes beside the common ones, from the softmax to the output: see choices_rare_scores."""

from collections.abc import Callable

import numpy as np

from core.attention import softmax as right_softmax
from core.faults.choices_blend import finished, hidden_as_zero, plain
from core.faults.choices_heads import cut, is_flat, is_grouped, is_merged, tiled, unswapped
from core.faults.choices_mask import anything
from core.faults.choices_projection import (
    equal_widths,
    has_wo,
    has_x,
    project_out,
    wo_is_square,
    x_fits_output,
)
from core.faults.choices_rare_scores import (
    Test,
    at_unit_power,
    dots,
    entries_apart,
    heads_apart,
    standardised,
)
from core.faults.choices_score import unit
from core.faults.pipeline import State, Updates, always, faulty
from core.faults.problem import Problem
from core.heads import merge_heads, repeat_key_value_heads, split_heads

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


@softened("softmax.max_over_queries", when=lambda p: p.n_q > 1 and p.sink is None)
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
