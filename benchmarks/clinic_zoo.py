"""Attention as people write it: right in other conventions, or wrong in ways met beside the common ones.

Written from NumPy alone, one plain expression an implementation, without the clinic's faults and
without benchmarks/clinic_inputs.py. Each says which answers are acceptable for it.
"""

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass
class Given:
    """What an implementation is handed: heads apart, (B, h, T, d), and what it is meant to do."""

    q: Array
    k: Array
    v: Array
    causal: bool = False
    keep: Any = None  # (B, n_k) bool, True = a real token; None without padding
    flat: dict[str, Array] = field(default_factory=dict)  # q, k, v as (B, T, h d)
    w: dict[str, Array] = field(default_factory=dict)  # x, wq, wk, wv, wo
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @property
    def heads(self) -> int:
        return self.q.shape[1]

    @property
    def d(self) -> int:
        return self.q.shape[-1]

    def allowed(self, shift: int = 0) -> Array:
        """(B, 1, n_q, n_k): the causal triangle and the padding."""
        n_q, n_k = self.q.shape[2], self.k.shape[2]
        shown = np.ones((len(self.q), 1, n_q, n_k), bool)
        if self.causal:
            shown &= np.arange(n_k) <= np.arange(n_q)[:, None] + n_k - n_q + shift
        return shown if self.keep is None else shown & self.keep[:, None, None, :]


@dataclass(frozen=True)
class Entry:
    """One implementation, and what may be said about it: nothing (it is right), or the labels of its faults.

    "?" among them: no label need be found, but no other step may be accused.
    """

    name: str
    make: Callable[[Given], Array]
    accepted: tuple[tuple[str, ...], ...]
    needs: frozenset[str]

    def accepts(self, verdict: str, labels: list[list[str]]) -> bool:
        """Whether this answer is right; for right implementations, "cannot tell" is."""
        if not self.accepted:
            return verdict in ("correct", "undetermined")
        if verdict == "unexplained":
            return ("?",) in self.accepted
        return verdict == "fault" and any(set(found) == set(one) for found in labels for one in self.accepted)


ZOO: list[Entry] = []


def add(name: str, accepted: str, make: Callable[[Given], Array], needs: str = "") -> None:
    """Register an implementation. `accepted`: labels, the faults of a pair joined by "+"; "" is right."""
    labels = tuple(tuple(one.split("+")) for one in accepted.split())
    ZOO.append(Entry(name, make, labels, frozenset(needs.split())))


# --- the parts that most implementations share ----------------------------------------


def dots(q: Array, k: Array) -> Array:
    return np.einsum("...id,...jd->...ij", q, k)


def share(z: Array, axis: Any = -1) -> Array:
    e = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def repeat(x: Array, h: int) -> Array:
    return x.repeat(h // x.shape[1], 1)


def plain(
    g: Given,
    score: Callable[[Given], Array] = lambda g: dots(g.q, g.k),
    scale: Callable[[Given, Array], Array] = lambda g, s: s / np.sqrt(g.d),
    hide: Callable[[Given, Array], Array] = lambda g, z: np.where(g.allowed(), z, -np.inf),
    soft: Callable[[Array], Array] = share,
    blend: Callable[[Given, Array], Array] = lambda g, a: a @ g.v,
) -> Array:
    if g.k.shape[1] < g.heads:  # grouped heads
        g = replace(g, k=repeat(g.k, g.heads), v=repeat(g.v, g.heads))
    with np.errstate(all="ignore"):
        return blend(g, soft(hide(g, scale(g, score(g)))))


# --- right, in other words ----------------------------------------


def online(g: Given) -> Array:
    """Two keys at a time, with a running maximum and a running sum."""
    z = np.where(g.allowed(), dots(g.q, g.k) / np.sqrt(g.d), -np.inf)
    top = np.full(z.shape[:-1], -np.inf)
    total, out = np.zeros(z.shape[:-1]), np.zeros((*z.shape[:-1], g.v.shape[-1]))
    for start in range(0, z.shape[-1], 2):
        block, values = z[..., start : start + 2], g.v[..., start : start + 2, :]
        new = np.maximum(top, block.max(-1))
        safe = np.where(np.isneginf(new), 0, new)
        kept, e = np.exp(top - safe), np.exp(block - safe[..., None])
        total = total * kept + e.sum(-1)
        out = out * kept[..., None] + e @ values
        top = new
    return out / total[..., None]


def looped(g: Given) -> Array:
    """Row by row, as on paper."""
    out = np.zeros((*g.q.shape[:-1], g.v.shape[-1]))
    allowed = np.broadcast_to(g.allowed(), (*g.q.shape[:-1], g.k.shape[2]))
    for b, h, i in np.ndindex(*g.q.shape[:-1]):
        seen = np.flatnonzero(allowed[b, h, i])
        z = np.array([sum(g.q[b, h, i] * g.k[b, h, j]) for j in seen]) / g.d**0.5
        e = np.exp(z - z.max())
        out[b, h, i] = sum(w * g.v[b, h, j] for w, j in zip(e / e.sum(), seen, strict=True))
    return out


def base_two(g: Given) -> Array:
    z = np.where(g.allowed(), dots(g.q, g.k) / np.sqrt(g.d), -np.inf) * np.log2(np.e)
    e = np.exp2(z - z.max(-1, keepdims=True))
    return e @ g.v / e.sum(-1, keepdims=True)


def renormalised(g: Given) -> Array:
    a = share(dots(g.q, g.k) / np.sqrt(g.d)) * g.allowed()
    return a / a.sum(-1, keepdims=True) @ g.v


def logsumexp(g: Given) -> Array:
    z = np.where(g.allowed(), dots(g.q, g.k) / np.sqrt(g.d), -np.inf)
    top = z.max(-1, keepdims=True)
    return np.exp(z - (top + np.log(np.exp(z - top).sum(-1, keepdims=True)))) @ g.v


add("right: as written", "", plain)
add("right: online softmax", "", online)
add("right: loops", "", looped, "small")
add("right: exp2 with log2(e)", "", base_two)
add("right: late mask, renormalised", "", renormalised, "mask fine")
add("right: log-sum-exp", "", logsumexp)
add(
    "right: divided at the end",
    "",
    lambda g: plain(
        g,
        soft=lambda z: np.exp(z - z.max(-1, keepdims=True)),
        blend=lambda g, e: (e @ g.v) / e.sum(-1, keepdims=True),
    ),
)
add(
    "right: one maximum for all",
    "",
    lambda g: plain(g, soft=lambda z: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(z - z.max()))),
    "fine",
)
add(
    "right: no maximum, small scores",
    "",
    lambda g: plain(g, soft=lambda z: np.exp(z) / np.exp(z).sum(-1, keepdims=True)),
    "fine",
)
add("right: q scaled", "", lambda g: plain(g, lambda g: dots(g.q * g.d**-0.5, g.k), lambda g, s: s))
add("right: k scaled", "", lambda g: plain(g, lambda g: dots(g.q, g.k * g.d**-0.5), lambda g, s: s))
add(
    "right: quarter roots",
    "",
    lambda g: plain(g, lambda g: dots(g.q * g.d**-0.25, g.k * g.d**-0.25), lambda g, s: s),
)
add(
    "right: mask before scale",
    "",
    lambda g: plain(
        g, scale=lambda g, s: np.where(g.allowed(), s, -np.inf) / np.sqrt(g.d), hide=lambda g, z: z
    ),
    "mask",
)
for fill in (-1e4, -1e9, -3.4e38, -65504.0, -1e30):
    add(
        f"right: filled with {fill}",
        "",
        lambda g, fill=fill: plain(g, hide=lambda g, z: np.where(g.allowed(), z, fill)),
        "mask",
    )
    add(
        f"right: {fill} added",
        "",
        lambda g, fill=fill: plain(g, hide=lambda g, z: z + fill * ~g.allowed()),
        "mask",
    )
add(
    "right: causal and padding added apart",
    "",
    lambda g: plain(
        g,
        hide=lambda g, z: (
            z
            + np.where(replace(g, keep=None).allowed(), 0, -1e9)
            + np.where(replace(g, causal=False).allowed(), 0, -1e9)
        ),
    ),
    "causal padding",
)
add("right: shifted scores", "", lambda g: plain(g, scale=lambda g, s: s / np.sqrt(g.d) + 7.25), "fine")
add("right: padded queries give 0", "", lambda g: plain(g) * g.keep[:, None, :, None], "padding square")
add("right: sorted keys", "", lambda g: plain(replace(g, k=g.k[:, :, ::-1], v=g.v[:, :, ::-1])), "nomask")
add(
    "right: values first",
    "",
    lambda g: np.einsum(
        "bhij,bhjd->bhid",
        share(np.where(g.allowed(), np.einsum("bhjd,bhid->bhij", g.k, g.q) / g.d**0.5, -np.inf)),
        g.v,
    ),
)

# --- score ----------------------------------------


def norm(x: Array, axis: int = -1) -> Array:
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


def rms(x: Array) -> Array:
    return x / np.sqrt((x**2).mean(-1, keepdims=True))


def layer_norm(x: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


def scored(score: Callable[[Array, Array], Array]) -> Callable[[Given], Array]:
    return lambda g: plain(g, lambda g: score(g.q, g.k))


add("score: k q^T", "score.qk_swapped", scored(lambda q, k: dots(k, q)), "square")
add(
    "score: scores transposed", "score.qk_swapped", scored(lambda q, k: dots(q, k).swapaxes(-1, -2)), "square"
)
add("score: q q^T", "score.same_tensor_twice", scored(lambda q, k: dots(q, q)), "square")
add("score: k k^T", "score.same_tensor_twice", scored(lambda q, k: dots(k, k)), "square")
add(
    "score: k reshaped",
    "score.k_reshaped",
    scored(lambda q, k: q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2])),
)
add("score: k not transposed", "score.k_not_transposed", scored(lambda q, k: q @ k), "n_k=d")
add("score: minus", "score.negated", scored(lambda q, k: -dots(q, k)))
add("score: cosine", "score.normalised", scored(lambda q, k: dots(norm(q), norm(k))))
add(
    "score: cosine, unscaled",
    "score.normalised score.normalised+scale.missing",
    lambda g: plain(g, lambda g: dots(norm(g.q), norm(g.k)), lambda g, s: s),
)
add("score: k by its norm", "score.normalised", scored(lambda q, k: dots(q, norm(k))))
add("score: q by its norm", "score.normalised", scored(lambda q, k: dots(norm(q), k)))
add("score: RMS norm of q and k", "score.normalised", scored(lambda q, k: dots(rms(q), rms(k))))
add(
    "score: layer norm of q and k",
    "score.normalised",
    scored(lambda q, k: dots(layer_norm(q), layer_norm(k))),
)
add("score: norm over positions", "score.normalised", scored(lambda q, k: dots(norm(q, -2), norm(k, -2))))
add(
    "score: squared distance",
    "score.distance",
    scored(lambda q, k: -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)),
)
add(
    "score: distance",
    "score.distance",
    scored(lambda q, k: -np.sqrt(((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1))),
)
add("score: absolute", "score.absolute", scored(lambda q, k: abs(dots(q, k))))
add("score: squared", "score.squared", scored(lambda q, k: dots(q, k) ** 2))
add("score: relu", "score.rectified", scored(lambda q, k: np.maximum(dots(q, k), 0)))
for cap in (50.0, 20.0, 2.0):
    add(
        f"score: softcap {cap}",
        "scale.softcapped",
        lambda g, cap=cap: plain(g, scale=lambda g, s: cap * np.tanh(s / np.sqrt(g.d) / cap)),
        "fine",
    )
add(
    "score: tanh",
    "scale.softcapped",
    lambda g: plain(g, scale=lambda g, s: np.tanh(s / np.sqrt(g.d))),
    "fine",
)
add(
    "score: first half of the channels",
    "score.channels_missing",
    scored(lambda q, k: dots(q[..., : q.shape[-1] // 2], k[..., : k.shape[-1] // 2])),
)
add(
    "score: first channel dropped",
    "score.channels_missing",
    scored(lambda q, k: dots(q[..., 1:], k[..., 1:])),
)
add(
    "score: last channel dropped",
    "score.channels_missing",
    scored(lambda q, k: dots(q[..., :-1], k[..., :-1])),
)
add(
    "score: mean over channels",
    "scale.by_d_k scale.twice",
    lambda g: plain(g, lambda g: (g.q[..., :, None, :] * g.k[..., None, :, :]).mean(-1), lambda g, s: s),
)
add(
    "score: mean over channels, and scaled",
    "scale.three_times",
    scored(lambda q, k: (q[..., :, None, :] * k[..., None, :, :]).mean(-1)),
)
add(
    "score: keys rolled back",
    "score.k_out_of_order blend.v_shifted",
    scored(lambda q, k: dots(q, np.roll(k, 1, -2))),
)
add(
    "score: keys rolled ahead",
    "score.k_out_of_order blend.v_shifted",
    scored(lambda q, k: dots(q, np.roll(k, -1, -2))),
)
add(
    "score: keys reversed",
    "score.k_out_of_order blend.v_reversed",
    scored(lambda q, k: dots(q, k[..., ::-1, :])),
)
add("score: queries rolled", "score.q_out_of_order", scored(lambda q, k: dots(np.roll(q, 1, -2), k)))
add("score: queries reversed", "score.q_out_of_order", scored(lambda q, k: dots(q[..., ::-1, :], k)))
add("score: keys of another head", "score.k_wrong_head", scored(lambda q, k: dots(q, k[:, ::-1])), "heads")
add(
    "score: keys of the next head",
    "score.k_wrong_head",
    scored(lambda q, k: dots(q, np.roll(k, 1, 1))),
    "heads",
)
add("score: keys of another entry", "score.k_wrong_entry", scored(lambda q, k: dots(q, k[::-1])), "batch")
add("score: k and v swapped", "score.arguments_swapped", lambda g: plain(replace(g, k=g.v, v=g.k)), "widths")
add(
    "score: q and v swapped",
    "score.arguments_swapped",
    lambda g: plain(replace(g, q=g.v, v=g.q)),
    "widths square",
)
add(
    "score: k, v, q for q, k, v",
    "score.arguments_swapped",
    lambda g: plain(replace(g, q=g.k, k=g.v, v=g.q)),
    "widths square",
)
add(
    "score: v, q, k for q, k, v",
    "score.arguments_swapped",
    lambda g: plain(replace(g, q=g.v, k=g.q, v=g.k)),
    "widths square",
)
add("score: values for keys", "score.v_used_as_k", lambda g: plain(g, lambda g: dots(g.q, g.v)), "widths")
add(
    "score: one width too many heads summed",
    "heads.scores_summed",
    scored(lambda q, k: dots(q, k).sum(1, keepdims=True)),
    "heads",
)

# --- rotary positions and ALiBi ----------------------------------------


def spun(
    x: Array,
    first: int = 0,
    base: float = 1e4,
    sign: float = 1,
    pairs: str = "half",
    step: float = 1.0,
    axis: int = 2,
    part: int = 0,
    exponent: float = 2.0,
) -> Array:
    """Rotary positions, by cosines and sines."""
    d = part or x.shape[-1]
    x, rest = x[..., :d], x[..., d:]
    place = (np.arange(x.shape[axis]) * step + first).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
    angle = sign * place * base ** (-exponent * np.arange(d // 2) / d)
    c, s = np.cos(angle), np.sin(angle)
    a, b = (x[..., : d // 2], x[..., d // 2 :]) if pairs == "half" else (x[..., 0::2], x[..., 1::2])
    out = np.zeros_like(x)
    if pairs == "half":
        out[..., : d // 2], out[..., d // 2 :] = a * c - b * s, a * s + b * c
    else:
        out[..., 0::2], out[..., 1::2] = a * c - b * s, a * s + b * c
    return np.concatenate([out, rest], -1)


def roped(only: str = "qk", first: int | None = None, **how: Any) -> Callable[[Given], Array]:
    def made(g: Given) -> Array:
        start = g.k.shape[2] - g.q.shape[2] if first is None else first
        q = spun(g.q, start, **how) if "q" in only else g.q
        k = spun(g.k, 0, **how) if "k" in only else g.k
        v = spun(g.v, 0, **how) if "v" in only else g.v
        return plain(replace(g, q=q, k=k, v=v))

    return made


add("right: rope", "", roped(), "rope")
add(
    "right: rope counted from 5",
    "",
    lambda g: (
        roped()(g) if g.q.shape[2] != g.k.shape[2] else plain(replace(g, q=spun(g.q, 5), k=spun(g.k, 5)))
    ),
    "rope fine",
)
add("rope: missing", "score.rope_missing", plain, "rope")
add("rope: other pairs", "score.rope_interleaved", roped(pairs="next"), "rope")
add("rope: backwards", "score.rope_sign", roped(sign=-1), "rope")
add("rope: only q", "score.rope_on_one_side", roped("q"), "rope")
add("rope: only k", "score.rope_on_one_side", roped("k"), "rope")
add("rope: q from 0", "score.rope_offset_missing", roped(first=0), "rope unequal")
add("rope: values too", "score.rope_on_values", roped("qkv"), "rope widths")
add("rope: base 500000", "score.rope_frequencies", roped(base=5e5), "rope")
add("rope: base 1000000", "score.rope_frequencies", roped(base=1e6), "rope")
add("rope: half the exponent", "score.rope_frequencies", roped(exponent=1.0), "rope")
add("rope: twice the exponent", "score.rope_frequencies", roped(exponent=4.0), "rope")
add("rope: positions halved", "?", roped(step=0.5), "rope")
add("rope: half the channels", "score.rope_partial", lambda g: roped(part=g.d // 4 * 2)(g), "rope")
add("rope: along the heads", "score.rope_missing", roped(axis=1, first=0), "rope heads")
add(
    "rope: one position apart",
    "score.rope_positions_apart",
    lambda g: plain(replace(g, q=spun(g.q, g.k.shape[2] - g.q.shape[2] + 1), k=spun(g.k))),
    "rope",
)
add(
    "rope: q half, k next",
    "score.rope_interleaved",
    lambda g: plain(replace(g, q=spun(g.q, g.k.shape[2] - g.q.shape[2]), k=spun(g.k, pairs="next"))),
    "rope",
)
add(
    "rope: q and k against each other",
    "score.rope_sign",
    lambda g: plain(replace(g, q=spun(g.q, g.k.shape[2] - g.q.shape[2]), k=spun(g.k, sign=-1))),
    "rope",
)
add("rope: not wanted", "score.rope_not_wanted", roped())
add("rope: not wanted, other pairs", "score.rope_not_wanted", roped(pairs="next"))


def alibi(g: Given, start: int = 1, sign: int = 1, both: bool = False) -> Array:
    n_q, n_k = g.q.shape[2], g.k.shape[2]
    far = np.arange(n_k) - (np.arange(n_q)[:, None] + n_k - n_q)
    slope = 2.0 ** (-8 * (np.arange(g.heads) + start) / g.heads)
    return sign * slope[:, None, None] * (-abs(far) if both else far)


def biased(bias: Callable[[Given], Array]) -> Callable[[Given], Array]:
    return lambda g: plain(g, scale=lambda g, s: s / np.sqrt(g.d) + bias(g))


add("right: alibi", "", biased(alibi), "alibi")
add("alibi: missing", "score.alibi_missing", plain, "alibi heads")
add("alibi: sign", "score.alibi_sign", biased(lambda g: alibi(g, sign=-1)), "alibi heads")
add("alibi: slopes from 1", "score.alibi_slopes", biased(lambda g: alibi(g, start=0)), "alibi")
add("alibi: heads reversed", "score.alibi_slopes", biased(lambda g: alibi(g)[::-1]), "alibi heads")
add(
    "alibi: before the scale",
    "score.bias_scaled",
    lambda g: plain(g, scale=lambda g, s: (s + alibi(g)) / np.sqrt(g.d)),
    "alibi fine",
)
add("alibi: not wanted", "score.alibi_not_wanted", biased(alibi), "fine")

# --- scale ----------------------------------------


def divided(by: Callable[[Given], float]) -> Callable[[Given], Array]:
    return lambda g: plain(g, scale=lambda g, s: s / by(g))


add("scale: none", "scale.missing", divided(lambda g: 1))
add("scale: d_k", "scale.by_d_k", divided(lambda g: g.d))
add("scale: twice", "scale.twice", lambda g: plain(g, lambda g: dots(g.q / np.sqrt(g.d), g.k)))
add("scale: times", "scale.multiplied", divided(lambda g: g.d**-0.5))
add("scale: d_model", "scale.by_sqrt_d_model", divided(lambda g: (g.heads * g.d) ** 0.5), "heads")
add("scale: whole d_model", "scale.by_d_model", divided(lambda g: g.heads * g.d), "heads")
add("scale: sqrt of T", "scale.by_sqrt_seq", divided(lambda g: g.k.shape[2] ** 0.5))
add("scale: T", "scale.by_seq", divided(lambda g: g.k.shape[2]))
add("scale: sqrt of h", "scale.by_sqrt_heads", divided(lambda g: g.heads**0.5), "heads")
add("scale: h", "scale.by_heads", divided(lambda g: g.heads), "heads")
add("scale: d_k // 2", "scale.precedence", divided(lambda g: g.d // 2), "fine")
add("scale: whole part of the root", "scale.root_rounded", divided(lambda g: int(g.d**0.5)), "fine")
add("scale: cube root", "scale.cube_root", divided(lambda g: g.d ** (1 / 3)), "fine")
add("scale: sqrt of d_k, plus 1", "scale.wrong_constant", divided(lambda g: g.d**0.5 + 1), "fine")
add("scale: temperature", "scale.wrong_constant", divided(lambda g: 0.7 * g.d**0.5), "fine")
add("scale: always 8.3", "scale.wrong_constant", divided(lambda g: 8.3), "fine")
add(
    "scale: after softmax",
    "scale.after_softmax",
    lambda g: plain(g, scale=lambda g, s: s, blend=lambda g, a: a / np.sqrt(g.d) @ g.v),
)
add(
    "scale: q by d_k**0.25 only",
    "scale.quarter_root",
    lambda g: plain(g, lambda g: dots(g.q / g.d**0.25, g.k), lambda g, s: s),
)
add(
    "scale: both by sqrt",
    "scale.by_d_k",
    lambda g: plain(g, lambda g: dots(g.q / g.d**0.5, g.k / g.d**0.5), lambda g, s: s),
)
add(
    "scale: sqrt of h d_v",
    "scale.by_sqrt_d_model scale.wrong_constant",
    divided(lambda g: (g.heads * g.v.shape[-1]) ** 0.5),
    "heads fine",
)
add("scale: total key width", "scale.by_sqrt_kv_width", divided(lambda g: (g.d * 2) ** 0.5), "grouped fine")
add("scale: log2(e) and exp", "softmax.base_two", divided(lambda g: g.d**0.5 / np.log2(np.e)))
add(
    "scale: exp2 without log2(e)",
    "softmax.base_two",
    lambda g: plain(
        g, soft=lambda z: (lambda e: e / e.sum(-1, keepdims=True))(np.exp2(z - z.max(-1, keepdims=True)))
    ),
)

# --- mask ----------------------------------------


def hidden_by(allowed: Callable[[Given], Array], fill: float = -np.inf) -> Callable[[Given], Array]:
    return lambda g: plain(g, hide=lambda g, z: np.where(allowed(g), z, fill))


def near(g: Given, back: int, ahead: int) -> Array:
    n_q, n_k = g.q.shape[2], g.k.shape[2]
    far = np.arange(n_k) - (np.arange(n_q)[:, None] + n_k - n_q)
    return (far >= -back) & (far <= ahead)


add("mask: none", "mask.missing_causal", hidden_by(lambda g: np.array(True)), "causal")
add("mask: diagonal hidden", "mask.strict_lower", hidden_by(lambda g: g.allowed(-1)), "causal")
add("mask: one ahead", "mask.peeks_one_ahead", hidden_by(lambda g: g.allowed(1)), "causal")
add("mask: two ahead", "mask.causal_shifted", hidden_by(lambda g: g.allowed(2)), "causal")
add("mask: two behind", "mask.causal_shifted", hidden_by(lambda g: g.allowed(-2)), "causal")
add("mask: three ahead", "mask.causal_shifted", hidden_by(lambda g: g.allowed(3)), "causal")
add(
    "mask: top left",
    "mask.causal_top_left",
    hidden_by(lambda g: np.tri(g.q.shape[2], g.k.shape[2], dtype=bool)),
    "causal unequal",
)
add(
    "mask: upside down",
    "mask.upper_triangle",
    hidden_by(lambda g: g.allowed().swapaxes(-1, -2)),
    "causal square",
)
add("mask: inverted", "mask.inverted", hidden_by(lambda g: ~g.allowed()), "causal")
add("mask: inverted, finite fill", "mask.inverted", hidden_by(lambda g: ~g.allowed(), -1e9), "causal")
for back in (1, 2, 3):
    add(
        f"mask: causal window of {back + 1}",
        "mask.window_not_wanted",
        hidden_by(lambda g, back=back: g.allowed() & near(g, back, 0)),
        "causal",
    )
    add(
        f"mask: window of {back} to both sides",
        "mask.window_not_wanted",
        hidden_by(lambda g, back=back: near(g, back, back)),
        "nomask square",
    )
add(
    "mask: window, no longer causal",
    "mask.window_not_wanted",
    hidden_by(lambda g: near(g, 2, 2)),
    "causal square",
)
add(
    "mask: prefix of two seen by all",
    "? mask.other_cells",
    hidden_by(lambda g: g.allowed() | (np.arange(g.k.shape[2]) < 2)),
    "causal square",
)
add("mask: own position hidden", "? mask.other_cells", hidden_by(lambda g: ~near(g, 0, 0)), "nomask square")
add(
    "mask: first key hidden", "? mask.other_cells", hidden_by(lambda g: np.arange(g.k.shape[2]) > 0), "nomask"
)
add(
    "mask: last key hidden",
    "? mask.other_cells",
    hidden_by(lambda g: np.arange(g.k.shape[2]) < g.k.shape[2] - 1),
    "nomask",
)
add(
    "mask: first key hidden, causal",
    "? mask.other_cells",
    hidden_by(lambda g: g.allowed() & ((np.arange(g.k.shape[2]) > 0) | near(g, 0, 0))),
    "causal",
)
add(
    "mask: blocks of three",
    "? mask.other_cells",
    hidden_by(lambda g: np.arange(g.k.shape[2]) // 3 == np.arange(g.q.shape[2])[:, None] // 3),
    "nomask square",
)
add(
    "mask: every second key",
    "? mask.other_cells",
    hidden_by(lambda g: np.arange(g.k.shape[2]) % 2 == 0),
    "nomask",
)
add(
    "mask: causal where none is meant",
    "mask.causal_not_wanted",
    hidden_by(lambda g: near(g, 99, 0)),
    "nomask",
)
add(
    "mask: added 0 and 1",
    "mask.zero_one_added",
    lambda g: plain(g, hide=lambda g, z: z + g.allowed()),
    "mask",
)
add(
    "mask: added 1 and 0",
    "mask.zero_one_added",
    lambda g: plain(g, hide=lambda g, z: z + ~g.allowed()),
    "mask",
)
add(
    "mask: multiplied", "mask.filled_with_zero", lambda g: plain(g, hide=lambda g, z: z * g.allowed()), "mask"
)
add(
    "mask: multiplied before the scale",
    "mask.filled_with_zero",
    lambda g: plain(g, lambda g: dots(g.q, g.k) * g.allowed(), hide=lambda g, z: z),
    "mask",
)
for fill in (0, 1):
    add(
        f"mask: fill {fill}",
        "mask.filled_with_zero" if fill == 0 else "mask.filled_with_one",
        hidden_by(lambda g: g.allowed(), fill),
        "mask",
    )
for fill in (-1, -3, -10):
    add(
        f"mask: fill {fill}",
        "mask.filled_with_small_negative",
        hidden_by(lambda g: g.allowed(), fill),
        "mask fine",
    )
add("mask: fill 1e9", "mask.positive_fill", hidden_by(lambda g: g.allowed(), 1e9), "mask")
add("mask: fill 65504", "mask.positive_fill", hidden_by(lambda g: g.allowed(), 65504.0), "mask")
add(
    "mask: fill 1e-9",
    "mask.filled_with_zero mask.filled_with_positive",
    hidden_by(lambda g: g.allowed(), 1e-9),
    "mask fine",
)
add("mask: fill 3", "mask.filled_with_positive", hidden_by(lambda g: g.allowed(), 3.0), "mask fine")
add(
    "mask: fill with the least score",
    "mask.filled_with_small_negative",
    lambda g: plain(g, hide=lambda g, z: np.where(g.allowed(), z, z.min())),
    "mask fine",
)
add(
    "mask: subtracted -1e9",
    "mask.positive_fill",
    lambda g: plain(g, hide=lambda g, z: z - np.where(g.allowed(), 0, -1e9)),
    "mask fine",
)
add(
    "mask: after softmax",
    "mask.after_softmax",
    lambda g: plain(g, hide=lambda g, z: z, blend=lambda g, a: a * g.allowed() @ g.v),
    "mask",
)
add(
    "mask: after softmax, then softmax",
    "softmax.twice",
    lambda g: plain(
        g, hide=lambda g, z: z, blend=lambda g, a: share(np.where(g.allowed(), a, -np.inf)) @ g.v
    ),
    "mask",
)
add(
    "mask: after softmax, zeros in softmax",
    "softmax.twice",
    lambda g: plain(g, hide=lambda g, z: z, blend=lambda g, a: share(a * g.allowed()) @ g.v),
    "mask",
)
add(
    "mask: on the output",
    "mask.padding_on_query_axis",
    lambda g: plain(replace(g, keep=None)) * g.keep[:, None, :, None],
    "padding square",
)
add("mask: padding forgotten", "mask.missing_padding", lambda g: plain(replace(g, keep=None)), "padding")
add(
    "mask: padding on queries",
    "mask.padding_on_query_axis",
    hidden_by(lambda g: g.keep[:, None, :, None]),
    "padding square",
)
add(
    "mask: padding on queries, finite",
    "mask.padding_on_query_axis",
    hidden_by(lambda g: g.keep[:, None, :, None], -1e9),
    "padding square",
)
add(
    "mask: padding on the other side",
    "mask.padding_wrong_side",
    lambda g: plain(replace(g, keep=g.keep[:, ::-1])),
    "padding",
)
add("mask: padding inverted", "mask.inverted", lambda g: plain(replace(g, keep=~g.keep)), "padding")
add(
    "mask: one padded key seen",
    "mask.padding_off_by_one",
    lambda g: plain(replace(g, keep=g.keep | np.roll(g.keep, 1, 1))),
    "padding",
)
add(
    "mask: last real key hidden",
    "mask.padding_off_by_one",
    lambda g: plain(
        replace(g, keep=g.keep & np.roll(g.keep, -1, 1) | (g.keep.sum(1, keepdims=True) == g.keep.shape[1]))
    ),
    "padding",
)
add(
    "mask: lengths of another entry",
    "mask.padding_wrong_entry",
    lambda g: plain(replace(g, keep=g.keep[::-1])),
    "padding batch",
)
add(
    "mask: lengths rolled over the batch",
    "mask.padding_wrong_entry",
    lambda g: plain(replace(g, keep=np.roll(g.keep, 1, 0))),
    "padding batch",
)
add(
    "mask: only the longest length",
    "mask.padding_wrong_entry mask.missing_padding",
    lambda g: plain(replace(g, keep=np.broadcast_to(g.keep.any(0), g.keep.shape))),
    "padding batch",
)
add(
    "mask: values of padding zeroed",
    "mask.after_softmax",
    lambda g: plain(replace(g, keep=None, v=g.v * g.keep[:, None, :, None])),
    "padding",
)
add(
    "mask: keys of padding zeroed",
    "mask.filled_with_zero",
    lambda g: plain(replace(g, keep=None, k=g.k * g.keep[:, None, :, None])),
    "padding nocausal",
)
add(
    "mask: padding and causal by or",
    "mask.combined_with_or",
    hidden_by(lambda g: replace(g, keep=None).allowed() | g.keep[:, None, None]),
    "padding causal",
)
add(
    "mask: causal forgotten, padded",
    "mask.missing_causal",
    lambda g: plain(replace(g, causal=False)),
    "padding causal square",
)
add(
    "mask: padding forgotten, causal",
    "mask.missing_padding",
    lambda g: plain(replace(g, keep=None)),
    "padding causal",
)

# --- softmax ----------------------------------------


def softened(soft: Callable[[Array], Array]) -> Callable[[Given], Array]:
    return lambda g: plain(g, soft=soft)


def summed(e: Array, axis: Any = -1) -> Array:
    return e / e.sum(axis, keepdims=True)


add("softmax: over queries", "softmax.axis_query", softened(lambda z: share(z, -2)))
add("softmax: over heads", "softmax.axis_heads", softened(lambda z: share(z, 1)), "heads nomask")
add("softmax: over the batch", "softmax.axis_batch", softened(lambda z: share(z, 0)), "batch nomask")
add("softmax: over the matrix", "softmax.flattened", softened(lambda z: share(z, (-1, -2))))
add("softmax: over everything", "softmax.flattened", softened(lambda z: share(z, (0, 1, 2, 3))), "heads")
add("softmax: twice", "softmax.twice", softened(lambda z: share(share(z))))
add("softmax: none", "softmax.missing", softened(lambda z: z), "nomask")
add("softmax: sigmoid", "softmax.sigmoid", softened(lambda z: 1 / (1 + np.exp(-z))))
add("softmax: sigmoid, summed", "softmax.sigmoid", softened(lambda z: summed(1 / (1 + np.exp(-z)))))
add("softmax: relu", "softmax.relu", softened(lambda z: np.maximum(z, 0)))
add(
    "softmax: relu, summed",
    "? softmax.relu",
    softened(lambda z: summed(np.maximum(z, 0) + 1e-300)),
    "nomask fine",
)
add(
    "softmax: relu, by n",
    "softmax.relu+blend.divided_by_n_keys",
    softened(lambda z: np.maximum(z, 0) / z.shape[-1]),
)
add(
    "softmax: squared relu", "softmax.relu+softmax.weights_squared", softened(lambda z: np.maximum(z, 0) ** 2)
)
add("softmax: softplus, summed", "softmax.softplus", softened(lambda z: summed(np.log1p(np.exp(z)))))
add(
    "softmax: by the maximum",
    "softmax.not_normalised",
    softened(lambda z: np.exp(z - z.max(-1, keepdims=True))),
)
add(
    "softmax: by the norm",
    "softmax.divided_by_norm",
    softened(lambda z: np.exp(z) / np.sqrt((np.exp(z) ** 2).sum(-1, keepdims=True))),
)
add("softmax: no sum", "softmax.not_normalised", softened(np.exp))
add(
    "softmax: sum over queries",
    "softmax.sum_over_queries softmax.axis_query",
    softened(lambda z: summed(np.exp(z), -2)),
)
add(
    "softmax: max over queries",
    "softmax.max_over_queries",
    softened(lambda z: summed(np.exp(z - z.max(-2, keepdims=True)))),
    "nomask",
)
add(
    "softmax: sum over heads",
    "softmax.axis_heads",
    softened(lambda z: summed(np.exp(z), 1)),
    "heads nomask",
)
add(
    "softmax: plus one",
    "softmax.plus_one",
    softened(lambda z: np.exp(z) / (1 + np.exp(z).sum(-1, keepdims=True))),
)
add(
    "softmax: plus one, after the shift",
    "softmax.plus_one",
    softened(lambda z: (lambda e: e / (1 + e.sum(-1, keepdims=True)))(np.exp(z - z.max(-1, keepdims=True)))),
)
add(
    "softmax: a sink of 0.5",
    "softmax.constant_added",
    softened(lambda z: np.exp(z) / (np.exp(0.5) + np.exp(z).sum(-1, keepdims=True))),
    "fine",
)
add(
    "softmax: 0.01 added to the sum",
    "softmax.constant_added",
    softened(lambda z: np.exp(z) / (0.01 + np.exp(z).sum(-1, keepdims=True))),
    "fine",
)
add("softmax: hard", "softmax.hard", softened(lambda z: (z == z.max(-1, keepdims=True)) * 1.0), "fine")
add(
    "softmax: minus",
    "softmax.negated",
    lambda g: plain(g, hide=lambda g, z: np.where(g.allowed(), -z, -np.inf)),
)
add("softmax: base ten", "softmax.base_ten", softened(lambda z: summed(10 ** (z - z.max(-1, keepdims=True)))))
add("softmax: squares", "softmax.squares", softened(lambda z: summed(np.where(np.isneginf(z), 0, z) ** 2)))
add("softmax: weights squared", "softmax.weights_squared", softened(lambda z: share(z) ** 2))
add("softmax: root of the weights", "softmax.weights_rooted", softened(lambda z: np.sqrt(share(z))))
add(
    "softmax: linear attention",
    "softmax.linear",
    lambda g: (lambda f: summed(f(g.q) @ f(g.k).swapaxes(-1, -2)) @ g.v)(
        lambda x: np.where(x > 0, x + 1, np.exp(x))
    ),
    "nomask",
)
add(
    "softmax: apart for q and k",
    "softmax.linear",
    lambda g: share(g.q, -1) @ share(g.k, -2).swapaxes(-1, -2) @ g.v,
    "nomask",
)
add("softmax: log", "softmax.log_softmax", softened(lambda z: np.log(share(z))), "nomask")
add(
    "softmax: min-max",
    "?",
    softened(
        lambda z: (z - z.min(-1, keepdims=True)) / (z.max(-1, keepdims=True) - z.min(-1, keepdims=True))
    ),
    "nomask",
)
add(
    "softmax: best two keys only",
    "softmax.top_k",
    softened(lambda z: share(np.where(z >= np.sort(z, -1)[..., -2:-1], z, -np.inf))),
    "nomask fine",
)
add(
    "softmax: best three keys only",
    "softmax.top_k",
    softened(lambda z: share(np.where(z >= np.sort(z, -1)[..., -3:-2], z, -np.inf))),
    "nomask fine",
)
add("softmax: of absolute scores", "score.absolute", softened(lambda z: share(abs(z))), "nomask")

# --- blend ----------------------------------------


def blended(blend: Callable[[Array, Array, Given], Array]) -> Callable[[Given], Array]:
    return lambda g: plain(g, blend=lambda g, a: blend(a, g.v, g))


def turned_over(v: Array) -> Array:
    return v.swapaxes(-1, -2).reshape(v.shape)


add(
    "blend: weights transposed",
    "blend.weights_transposed",
    blended(lambda a, v, g: a.swapaxes(-1, -2) @ v),
    "square",
)
add("blend: keys", "blend.k_used_as_v", blended(lambda a, v, g: a @ g.k), "widths")
add("blend: queries", "blend.q_used_as_v", blended(lambda a, v, g: a @ g.q), "widths square")
add("blend: v as it is", "blend.returns_v", blended(lambda a, v, g: v), "square")
add("blend: plus q", "blend.residual_added", blended(lambda a, v, g: a @ v + g.q), "widths")
add("blend: plus v", "blend.residual_added", blended(lambda a, v, g: a @ v + v), "square")
add("blend: minus q", "blend.residual_subtracted", blended(lambda a, v, g: a @ v - g.q), "widths")
add(
    "blend: mean over keys",
    "blend.divided_by_n_keys",
    blended(lambda a, v, g: (a[..., None] * v[..., None, :, :]).mean(-2)),
)
add(
    "blend: plain mean",
    "blend.mean_of_v",
    blended(lambda a, v, g: np.broadcast_to(v.mean(-2, keepdims=True), (*a.shape[:-1], v.shape[-1]))),
)
add("blend: reversed values", "blend.v_reversed", blended(lambda a, v, g: a @ v[..., ::-1, :]))
add("blend: rolled values", "blend.v_shifted", blended(lambda a, v, g: a @ np.roll(v, 1, -2)))
add("blend: values rolled by two", "blend.v_shifted", blended(lambda a, v, g: a @ np.roll(v, 2, -2)))
add(
    "blend: last value dropped, zeros first",
    "blend.v_shifted",
    blended(lambda a, v, g: a @ np.concatenate([0 * v[..., :1, :], v[..., :-1, :]], -2)),
)
add("blend: values of another head", "blend.v_wrong_head", blended(lambda a, v, g: a @ v[:, ::-1]), "heads")
add(
    "blend: values of the next head",
    "blend.v_wrong_head",
    blended(lambda a, v, g: a @ np.roll(v, 1, 1)),
    "heads",
)
add("blend: values of the first head", "blend.v_wrong_head", blended(lambda a, v, g: a @ v[:, :1]), "heads")
add("blend: values of another entry", "blend.v_wrong_entry", blended(lambda a, v, g: a @ v[::-1]), "batch")
add("blend: values of the first entry", "blend.v_wrong_entry", blended(lambda a, v, g: a @ v[:1]), "batch")
add("blend: values reshaped", "blend.v_reshaped", blended(lambda a, v, g: a @ turned_over(v)))
add(
    "blend: values transposed",
    "blend.v_transposed",
    blended(lambda a, v, g: a @ v.swapaxes(-1, -2)),
    "d_v=n_k",
)
add("blend: channels reversed", "blend.channels_reversed", blended(lambda a, v, g: a @ v[..., ::-1]))
add("blend: output reshaped", "blend.output_reshaped", blended(lambda a, v, g: turned_over(a @ v)))
add("blend: minus", "blend.negated", blended(lambda a, v, g: -(a @ v)))
add("blend: halved", "blend.output_scaled", blended(lambda a, v, g: 0.5 * (a @ v)), "fine")
add("blend: weights by heads", "blend.output_scaled", blended(lambda a, v, g: a / g.heads @ v), "heads fine")
add(
    "blend: dropout",
    "blend.dropout_active",
    blended(lambda a, v, g: np.where(g.random.random(a.shape) < 0.8, a / 0.8, 0) @ v),
    "wide",
)
add(
    "blend: dropout, not rescaled",
    "blend.dropout_active",
    blended(lambda a, v, g: np.where(g.random.random(a.shape) < 0.8, a, 0) @ v),
    "wide",
)
add(
    "blend: dropout on the output",
    "blend.dropout_active",
    blended(lambda a, v, g: (lambda o: np.where(g.random.random(o.shape) < 0.8, o / 0.8, 0))(a @ v)),
)
add(
    "blend: dropout on the scores",
    "?",
    lambda g: plain(
        g, hide=lambda g, z: np.where(g.allowed(), z * (g.random.random(z.shape) < 0.8) / 0.8, -np.inf)
    ),
    "wide",
)
add("blend: scores in place of weights", "softmax.missing", lambda g: plain(g, soft=lambda z: z), "nomask")
add(
    "blend: unscaled scores in place of weights",
    "softmax.missing+scale.missing",
    lambda g: plain(g, scale=lambda g, s: s, soft=lambda z: z),
    "nomask",
)
add("blend: v normalised", "blend.normalised", blended(lambda a, v, g: a @ norm(v)))
add("blend: out normalised", "blend.normalised", blended(lambda a, v, g: norm(a @ v)))
add("blend: out by layer norm", "blend.normalised", blended(lambda a, v, g: layer_norm(a @ v)))
add("blend: relu", "blend.output_rectified", blended(lambda a, v, g: np.maximum(a @ v, 0)))
add(
    "blend: only the best key",
    "softmax.hard",
    blended(lambda a, v, g: np.take_along_axis(v, a.argmax(-1)[..., None], -2)),
    "fine",
)
add(
    "blend: queries reversed",
    "score.q_out_of_order",
    blended(lambda a, v, g: (a @ v)[..., ::-1, :]),
    "nomask",
)
add("blend: running sum", "?", blended(lambda a, v, g: (a @ v).cumsum(-2)))

# --- heads ----------------------------------------


def cut(x: Array, h: int, how: str = "right") -> Array:
    b, t, width = x.shape
    d = width // h
    return {
        "right": lambda: x.reshape(b, t, h, d).transpose(0, 2, 1, 3),
        "view": lambda: x.reshape(b, h, t, d),
        "interleaved": lambda: x.reshape(b, t, d, h).transpose(0, 3, 1, 2),
        "folded": lambda: x.transpose(0, 2, 1).reshape(b, h, t, d),
        "turned": lambda: x.transpose(0, 2, 1).reshape(b, h, d, t).transpose(0, 1, 3, 2),
    }[how]()


def joined(x: Array, how: str = "right") -> Array:
    b, h, t, d = x.shape
    return {
        "right": lambda: x.transpose(0, 2, 1, 3).reshape(b, t, h * d),
        "view": lambda: x.reshape(b, t, h * d),
        "interleaved": lambda: x.transpose(0, 2, 3, 1).reshape(b, t, h * d),
        "folded": lambda: x.transpose(0, 1, 3, 2).reshape(b, t, h * d),
        "reversed": lambda: x[:, ::-1].transpose(0, 2, 1, 3).reshape(b, t, h * d),
        "swapped": lambda: x.transpose(0, 2, 3, 1)[..., ::-1].reshape(b, t, h * d),
    }[how]()


def by_heads(
    split: str = "right", merge: str = "right", only: str = "qkv", scale: Callable | None = None
) -> Callable[[Given], Array]:
    def made(g: Given) -> Array:
        apart = {n: cut(g.flat[n], g.heads, split if n in only else "right") for n in "qkv"}
        return joined(plain(replace(g, **apart), **({"scale": scale} if scale else {})), merge)

    return made


add("right: split and merged", "", by_heads(), "flat")
add("right: split by another order of axes", "", by_heads("turned"), "flat")
add("heads: split by a view", "heads.split_without_transpose", by_heads("view"), "flat heads")
add(
    "heads: split and merged by a view",
    "heads.split_without_transpose",
    by_heads("view", "view"),
    "flat heads",
)
add("heads: merged by a view", "heads.merge_without_transpose", by_heads(merge="view"), "flat heads")
add(
    "heads: q split by a view",
    "heads.split_without_transpose",
    by_heads("view", only="q"),
    "flat heads square",
)
add("heads: v split by a view", "heads.split_without_transpose", by_heads("view", only="v"), "flat heads")
add("heads: interleaved", "heads.split_interleaved", by_heads("interleaved"), "flat heads")
add(
    "heads: interleaved throughout",
    "heads.split_interleaved",
    by_heads("interleaved", "interleaved"),
    "flat heads",
)
add("heads: merged interleaved", "heads.merge_interleaved", by_heads(merge="interleaved"), "flat heads")
add("heads: split after a transpose", "heads.split_wrong_transpose", by_heads("folded"), "flat heads")
add("heads: merged after a transpose", "heads.merge_wrong_transpose", by_heads(merge="folded"), "flat heads")
add("heads: order reversed", "heads.order_reversed", by_heads(merge="reversed"), "flat heads")
add(
    "heads: not split",
    "heads.not_split",
    lambda g: joined(plain(replace(g, **{n: cut(g.flat[n], 1) for n in "qkv"}))),
    "flat heads",
)
add(
    "heads: merged and d_model",
    "heads.merge_without_transpose+scale.by_sqrt_d_model",
    by_heads(merge="view", scale=lambda g, s: s / np.sqrt(g.heads * g.d)),
    "flat heads fine",
)
add(
    "heads: batch for time",
    "heads.batch_first",
    lambda g: by_heads()(replace(g, flat={n: x.swapaxes(0, 1) for n, x in g.flat.items()})).swapaxes(0, 1),
    "flat batch square nomask",
)
add(
    "heads: over heads",
    "heads.attends_over_heads",
    lambda g: plain(replace(g, **{n: getattr(g, n).swapaxes(1, 2) for n in "qkv"})).swapaxes(1, 2),
    "heads square nomask",
)
add(
    "heads: weights averaged",
    "heads.weights_averaged",
    blended(lambda a, v, g: a.mean(1, keepdims=True) @ v),
    "heads",
)
add(
    "heads: weights of the first head",
    "heads.first_head_only",
    blended(lambda a, v, g: a[:, :1] @ v),
    "heads",
)
add(
    "heads: output averaged",
    "heads.outputs_averaged",
    blended(lambda a, v, g: np.broadcast_to((a @ v).mean(1, keepdims=True), (*a.shape[:-1], v.shape[-1]))),
    "heads",
)
add(
    "heads: output summed",
    "heads.outputs_averaged",
    blended(lambda a, v, g: np.broadcast_to((a @ v).sum(1, keepdims=True), (*a.shape[:-1], v.shape[-1]))),
    "heads",
)
add("heads: out rolled", "heads.order_reversed", blended(lambda a, v, g: np.roll(a @ v, 1, 1)), "heads")


def grouped(
    k: Callable[[Array, int], Array], v: Callable[[Array, int], Array] | None = None
) -> Callable[[Given], Array]:
    return lambda g: plain(replace(g, k=k(g.k, g.heads), v=(v or k)(g.v, g.heads)))


def tile(x: Array, h: int) -> Array:
    return np.concatenate([x] * (h // x.shape[1]), 1)


add("right: grouped", "", grouped(repeat), "grouped")
add(
    "right: grouped by five axes",
    "",
    lambda g: (
        lambda q: np.concatenate(
            [plain(replace(g, q=q[:, :, i], k=g.k, v=g.v))[:, :, None] for i in range(q.shape[2])], 2
        ).reshape(*g.q.shape[:3], -1)
    )(g.q.reshape(len(g.q), g.k.shape[1], -1, *g.q.shape[2:])),
    "grouped",
)
add("heads: groups tiled", "heads.gqa_tiled", grouped(tile), "grouped")
add("heads: keys tiled", "heads.gqa_tiled", grouped(tile, repeat), "grouped")
add("heads: values tiled", "heads.gqa_tiled", grouped(repeat, tile), "grouped")
add(
    "heads: first group for all",
    "heads.gqa_first_head_only",
    grouped(lambda x, h: np.repeat(x[:, :1], h, 1)),
    "grouped",
)
add(
    "heads: groups averaged",
    "heads.gqa_averaged",
    grouped(lambda x, h: np.repeat(x.mean(1, keepdims=True), h, 1)),
    "grouped",
)
add("heads: groups reversed", "heads.gqa_wrong_group", grouped(lambda x, h: repeat(x[:, ::-1], h)), "grouped")
add(
    "heads: last group for all",
    "heads.gqa_first_head_only heads.gqa_wrong_group",
    grouped(lambda x, h: np.repeat(x[:, -1:], h, 1)),
    "grouped",
)

# --- projections ----------------------------------------


def projected(
    use: str = "qkvo", split: str = "right", merge: str = "right", flip: str = "", **changes: Any
) -> Callable[[Given], Array]:
    """`use`: which matrix stands for each of q, k, v, o; "-" none. `flip`: those used transposed."""

    def made(g: Given) -> Array:
        w = {name: g.w["w" + name].T if name in flip else g.w["w" + name] for name in "qkvo"}
        flat = [g.w["x"] if name == "-" else g.w["x"] @ w[name] for name in use[:3]]
        apart = dict(zip("qkv", (cut(x, g.heads, split) for x in flat), strict=True))
        out = joined(plain(replace(g, **apart), **changes), merge)
        return out if use[3] == "-" else out @ w[use[3]]

    return made


add("right: projected", "", projected(), "x")
for flip in ("q", "k", "v", "qk", "qkv", "qkvo"):
    add(f"projection: W_{flip} transposed", "projection.w_transposed", projected(flip=flip), "x")
add("projection: W_O transposed", "projection.wo_transposed", projected(flip="o"), "x")
add("projection: W_Q and W_K swapped", "score.qk_swapped", projected("kqvo"), "x")
add("projection: W_K and W_V swapped", "score.arguments_swapped", projected("qvko"), "x")
add("projection: W_Q and W_V swapped", "score.arguments_swapped", projected("vkqo"), "x")
add("projection: W_K, W_V, W_Q", "score.arguments_swapped", projected("kvqo"), "x")
add("projection: W_Q for all", "projection.one_matrix_for_all", projected("qqqo"), "x")
add(
    "projection: W_Q for q and k",
    "projection.one_matrix_for_all score.same_tensor_twice",
    projected("qqvo"),
    "x",
)
add("projection: W_K for q and k", "score.same_tensor_twice", projected("kkvo"), "x")
add("projection: W_K for v", "blend.k_used_as_v", projected("qkko"), "x")
add("projection: W_V for k", "score.v_used_as_k", projected("qvvo"), "x")
add("projection: none on v", "projection.missing", projected("qk-o"), "x")
add("projection: none on q", "projection.missing", projected("-kvo"), "x")
add("projection: none on q and k", "projection.missing", projected("--vo"), "x")
add("projection: none", "projection.missing", projected("---o"), "x")
add("projection: no W_O", "projection.wo_missing", projected("qkv-"), "x")
add("projection: W_V for W_O", "projection.wo_wrong", projected("qkvv"), "x")
add("projection: heads by a view", "heads.split_without_transpose", projected(split="view"), "x")
add("projection: joined by a view", "heads.merge_without_transpose", projected(merge="view"), "x")
add("projection: split interleaved", "heads.split_interleaved", projected(split="interleaved"), "x")
add(
    "projection: scaled by d_model",
    "scale.by_sqrt_d_model",
    projected(scale=lambda g, s: s / np.sqrt(g.heads * g.d)),
    "x",
)
add("projection: residual", "blend.residual_added", lambda g: projected()(g) + g.w["x"], "x")
add(
    "projection: residual before W_O",
    "blend.residual_added",
    lambda g: (projected("qkv-")(g) + g.w["x"]) @ g.w["wo"],
    "x",
)
add(
    "projection: joint matrix cut by head",
    "heads.joint_cut",
    lambda g: (
        lambda all_: (
            joined(plain(replace(g, **dict(zip("qkv", np.split(cut(all_, g.heads), 3, -1), strict=True)))))
            @ g.w["wo"]
        )
    )(np.concatenate([g.w["x"] @ g.w["w" + n] for n in "qkv"], -1)),
    "x",
)
add(
    "projection: dropout on the output",
    "blend.dropout_active",
    lambda g: (lambda o: np.where(g.random.random(o.shape) < 0.9, o / 0.9, 0))(projected()(g)),
    "x",
)

# --- inputs ----------------------------------------

FORMATS = ("float64", "float32", "float16", "bfloat16")


def rounded(x: Array, name: str) -> Array:
    """`x` as the number format keeps it, in float64."""
    if name == "bfloat16":
        m, e = np.frexp(x)
        return np.where(np.isfinite(x), np.ldexp(np.rint(m * 256), e - 8), x)
    return x.astype(name).astype(np.float64)


def draw(one: Entry, seed: int) -> dict[str, Array]:
    """A random input for this implementation, with its output and its beliefs: what a file would hold."""
    random = np.random.default_rng(zlib.crc32(f"{one.name} {seed}".encode()))
    needs = one.needs
    heads = int(random.choice([2, 3, 4])) if needs & {"heads", "x", "flat"} or random.random() < 0.5 else 1
    kv_heads = heads
    if "grouped" in needs:
        heads, kv_heads = (4, 2) if random.random() < 0.5 else (6, 2)
    d = int(random.choice([6, 8, 10, 12, 20]))
    taken = {d, heads, heads * d, heads**2, d * d, 2 * d}
    n_k = int(random.choice([n for n in (5, 7, 9, 11, 13) if n not in taken]))
    square = needs & {"square", "x"} or ("unequal" not in needs and random.random() < 0.6)
    n_q = n_k if square else int(random.choice([n for n in (3, 4) if n not in taken]))
    d_v = d if needs & {"widths", "x"} or random.random() < 0.5 else int(random.choice([7, 14, 15]))
    if "n_k=d" in needs:
        n_k, n_q = d, min(n_q, d)
    if "d_v=n_k" in needs:
        d_v = n_k
    if "wide" in needs:
        d_v = n_k + 4
    batch = int(random.choice([2, 3])) if needs & {"batch"} or random.random() < 0.6 else 1
    if "small" in needs:
        batch, heads, kv_heads = 1, min(heads, 2), min(kv_heads, 2)
    causal = "causal" in needs or (not needs & {"nomask", "nocausal", "padding"} and random.random() < 0.3)
    padding = "padding" in needs or (not needs & {"nomask", "causal", "x"} and random.random() < 0.2)
    if "mask" in needs and not causal and not padding:
        causal = True
    number_format = str(random.choice(FORMATS[:2] if needs & {"fine", "wide"} else FORMATS))

    def normal(*shape: int) -> Array:
        return rounded(random.standard_normal(shape), number_format)

    given = Given(
        normal(batch, heads, n_q, d),
        normal(batch, kv_heads, n_k, d),
        normal(batch, kv_heads, n_k, d_v),
        causal=causal,
        random=random,
    )
    arrays: dict[str, Array] = {}
    if padding:
        lengths = random.permutation(np.linspace(n_k // 2 + 1, n_k - 1, batch).astype(int))
        given.keep = arrays["key_keep"] = np.arange(n_k) < lengths[:, None]
    layout = str(random.choice(["BHTD", "BTHD"]))
    if "x" in needs:
        layout, width = "X", heads * d
        given.w = {"x": normal(batch, n_k, width)}
        given.w |= {
            n: rounded(random.standard_normal((width, width)) / width**0.5, number_format)
            for n in ("wq", "wk", "wv", "wo")
        }
        arrays |= given.w
    elif "flat" in needs:
        layout = str(random.choice(["BTD", "TBD"]))
        given.flat = {n: joined(getattr(given, n)) for n in "qkv"}
        arrays |= {n: x.swapaxes(0, 1) if layout == "TBD" else x for n, x in given.flat.items()}
    else:
        arrays |= {
            n: np.swapaxes(getattr(given, n), 1, 2) if layout == "BTHD" else getattr(given, n) for n in "qkv"
        }
    out = rounded(np.asarray(one.make(given), np.float64), number_format)
    arrays["out"] = out.swapaxes(0, 1) if layout == "TBD" else out.swapaxes(1, 2) if layout == "BTHD" else out
    kept_as = {"bfloat16": "float32"}.get(number_format, number_format)
    stored = {n: x if x.dtype == bool else x.astype(kept_as) for n, x in arrays.items()}
    meta = {
        "layout": layout,
        "causal": causal,
        "num_heads": heads,
        "num_kv_heads": kv_heads,
        "has_padding": padding,
        "rope": "rope" in needs,
        "alibi": "alibi" in needs,
    }
    return {**stored, "meta": np.array(json.dumps(meta))}
