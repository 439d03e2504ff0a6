"""Make inputs for the clinic: attention as people write it, right or with a known fault.

Nothing here uses the clinic or its faults: this is a second, plain implementation, one branch a
fault, with the rounding of a number format after every step. So the clinic is measured against
code that it does not share.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np


@dataclass
class Config:
    """One random setting."""

    batch: int
    heads: int
    kv_heads: int
    n_q: int
    n_k: int
    d_k: int
    d_v: int
    causal: bool = False
    padding: bool = False
    rope: bool = False
    alibi: bool = False
    projected: bool = False
    layout: str = "BHTD"
    number_format: str = "float64"  # what is computed in
    inside: str = ""  # "" rounds after every step; else only inputs and output are rounded
    size: float = 1.0  # of the queries


@dataclass
class Sample:
    """An input for the clinic, and what is wrong with it."""

    arrays: dict[str, np.ndarray]
    meta: dict[str, object]
    labels: tuple[str, ...]
    config: Config
    style: str = ""

    def fields(self) -> dict[str, np.ndarray]:
        """The arrays with the beliefs as meta, as in a file."""
        return {**self.arrays, "meta": np.array(json.dumps(self.meta))}


def rounder(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """Round to a number format and come back to float64."""
    if name == "float64":
        return lambda x: x
    if name == "bfloat16":
        return to_bfloat16
    dtype = np.dtype(name)

    def to_format(x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return x.astype(dtype).astype(np.float64)

    return to_format


def to_bfloat16(x: np.ndarray) -> np.ndarray:
    """Nearest multiple of 2^(exponent - 7), ties to even."""
    mantissa, exponent = np.frexp(x)
    return np.where(np.isfinite(x), np.ldexp(np.rint(mantissa * 256), exponent - 8), x)


def _softmax(z: np.ndarray, axis: int | tuple[int, ...] = -1) -> np.ndarray:
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def turn(x: np.ndarray, first: int = 0, sign: float = 1.0, pairs: str = "half") -> np.ndarray:
    """Rotary positions by complex numbers: channels (i, i + d/2) or (2i, 2i + 1) as one complex number."""
    half = x.shape[-1] // 2
    z = x[..., :half] + 1j * x[..., half:] if pairs == "half" else x[..., 0::2] + 1j * x[..., 1::2]
    angle = np.outer(np.arange(x.shape[-2]) + first, 10000.0 ** (-np.arange(half) / half))
    z = z * np.exp(1j * sign * angle)
    if pairs == "half":
        return np.concatenate([z.real, z.imag], axis=-1)
    out = np.empty_like(x)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def _slopes(c: Config) -> np.ndarray:
    return np.array([2 ** (-8 * (i + 1) / c.heads) for i in range(c.heads)])[:, None, None]


def relative(c: Config) -> np.ndarray:
    """j - i with the queries at the end of the keys."""
    return np.arange(c.n_k)[None] - (np.arange(c.n_q) + c.n_k - c.n_q)[:, None]


def _cut_heads(x: np.ndarray, heads: int, how: str = "right") -> np.ndarray:
    b, t, width = x.shape
    if how == "reshape":
        return x.reshape(b, heads, t, width // heads)
    if how == "interleaved":
        return np.stack([x[..., i::heads] for i in range(heads)], axis=1)
    return np.stack(np.split(x, heads, axis=-1), axis=1)


def _join_heads(x: np.ndarray, how: str = "right") -> np.ndarray:
    if how == "reshape":
        return x.reshape(x.shape[0], x.shape[2], -1)
    if how == "interleaved":
        return np.stack(list(np.moveaxis(x, 1, 0)), axis=-1).reshape(x.shape[0], x.shape[2], -1)
    return np.concatenate(list(np.moveaxis(x, 1, 0)), axis=-1)


def _score_step(q: np.ndarray, k: np.ndarray, fault: str) -> np.ndarray:
    if fault == "score.qk_swapped":
        q, k = k, q
    if fault == "score.k_not_transposed":
        return np.einsum("bhid,bhdj->bhij", q, k)
    if fault == "score.same_tensor_twice":
        k = q
    if fault == "score.normalised":
        q, k = q / np.sqrt((q**2).sum(-1, keepdims=True)), k / np.sqrt((k**2).sum(-1, keepdims=True))
    if fault == "score.distance":
        return -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
    s = np.einsum("bhid,bhjd->bhij", q, k)
    if fault == "score.negated":
        return -s
    if fault == "score.absolute":
        return abs(s)
    if fault == "heads.scores_summed":
        return np.repeat(s.sum(1, keepdims=True), s.shape[1], axis=1)
    if fault == "score.fp16_overflow":
        return np.where(abs(s) > 65504, np.sign(s) * np.inf, s)
    return s


def divisor(c: Config, fault: str) -> float:
    """What the scores are divided by."""
    d, d_model = c.d_k, c.d_k * c.heads
    divisors = {
        "scale.missing": 1,
        "scale.by_d_k": d,
        "scale.twice": d,
        "scale.three_times": d**1.5,
        "scale.multiplied": d**-0.5,
        "scale.multiplied_by_d_k": 1 / d,
        "scale.by_sqrt_d_model": d_model**0.5,
        "scale.by_d_model": d_model,
        "scale.by_sqrt_seq": c.n_k**0.5,
        "scale.by_seq": c.n_k,
        "scale.by_sqrt_heads": c.heads**0.5,
        "scale.by_heads": c.heads,
        "scale.by_sqrt_batch": c.batch**0.5,
        "scale.by_sqrt_d_v": c.d_v**0.5,
        "scale.quarter_root": d**0.25,
        "scale.by_d_k_squared": d**2,
        "scale.precedence": d / 2,
        "scale.by_sqrt_half_d_k": (d / 2) ** 0.5,
        "scale.by_sqrt_twice_d_k": (2 * d) ** 0.5,
        "scale.by_log_d_k": np.log(d),
        "scale.wrong_constant": 3.7,
        "scale.after_softmax": 1,
        "softmax.base_two": d**0.5 / np.log(2),
    }
    return divisors.get(fault, d**0.5)


def _scale_step(s: np.ndarray, c: Config, fault: str) -> np.ndarray:
    return s / divisor(c, fault)


def _bias_step(z: np.ndarray, c: Config, fault: str) -> np.ndarray:
    if not c.alibi or fault == "score.alibi_missing":
        return z
    bias = _slopes(c) * relative(c)
    if fault == "score.alibi_sign":
        return z - bias
    if fault == "score.bias_scaled":
        return z + bias / np.sqrt(c.d_k)
    if fault == "score.alibi_slopes":
        return z + 2 ** (8 / c.heads) * bias
    return z + bias


def _hidden_by_causal(c: Config, fault: str) -> np.ndarray:
    shift = {
        "mask.strict_lower": -1,
        "mask.peeks_one_ahead": 1,
        "mask.causal_shifted": 2,
        "mask.causal_top_left": c.n_q - c.n_k,
    }.get(fault, 0)
    hidden = relative(c) > shift
    if fault == "mask.upper_triangle":
        return relative(c) < 0
    wanted = c.causal or fault == "mask.causal_not_wanted"
    return hidden if wanted and fault != "mask.missing_causal" else np.zeros_like(hidden)


def _hidden_by_padding(c: Config, keep: np.ndarray | None, fault: str) -> np.ndarray:
    if keep is None or fault == "mask.missing_padding":
        return np.zeros((c.batch, 1, 1, c.n_k), bool)
    if fault == "mask.padding_on_query_axis":
        return ~keep[:, None, :, None]
    if fault == "mask.padding_wrong_side":
        return ~keep[:, None, None, ::-1]
    if fault == "mask.padding_wrong_entry":
        return ~keep[::-1, None, None, :]
    if (
        fault == "mask.padding_off_by_one"
    ):  # one padded position too many is seen, on the side of the real ones
        seen = keep.copy()
        seen[:, 1:] |= keep[:, :-1]
        seen[:, :-1] |= keep[:, 1:]
        return ~seen[:, None, None, :]
    return ~keep[:, None, None, :]


def mask_step(
    z: np.ndarray, c: Config, keep: np.ndarray | None, fault: str, fill: str
) -> tuple[np.ndarray, np.ndarray]:
    """Scores with hidden ones filled, and which are hidden."""
    causal, pad = _hidden_by_causal(c, fault), _hidden_by_padding(c, keep, fault)
    hidden = (causal & pad) if fault == "mask.combined_with_or" else (causal | pad)
    hidden = np.broadcast_to(hidden, z.shape)
    if fault == "mask.inverted":
        hidden = ~hidden
    values = {
        "mask.filled_with_zero": 0.0,
        "mask.filled_with_one": 1.0,
        "mask.filled_with_small_negative": -10.0,
        "mask.positive_fill": 1e9,
    }
    if fault in values:
        return np.where(hidden, values[fault], z), hidden
    if fault == "mask.zero_one_added":
        return z + ~hidden, hidden
    if fault == "mask.after_softmax" or not (c.causal or c.padding or fault == "mask.causal_not_wanted"):
        return z, hidden
    fills = {"-inf": -np.inf, "-1e9": -1e9, "finfo.min": np.finfo(np.float32).min, "-1e4": -1e4}
    if fill == "added":
        return z + np.where(hidden, -1e9, 0.0), hidden
    return np.where(hidden, fills.get(fill, -np.inf), z), hidden


def _softmax_step(z: np.ndarray, fault: str, number_format: str) -> np.ndarray:
    axes = {
        "softmax.axis_query": -2,
        "softmax.axis_heads": 1,
        "softmax.axis_batch": 0,
        "softmax.flattened": (-2, -1),
    }
    if fault in axes:
        return _softmax(z, axes[fault])
    shown = np.where(np.isneginf(z), 0, z)
    exps = np.exp(z - z.max(-1, keepdims=True))
    if fault == "softmax.no_max_subtraction":
        exps = rounder(number_format)(np.exp(z))
        return exps / rounder(number_format)(exps.sum(-1, keepdims=True))
    others: dict[str, Callable[[], np.ndarray]] = {
        "softmax.missing": lambda: shown,
        "softmax.sum_of_scores": lambda: shown / shown.sum(-1, keepdims=True),
        "softmax.not_normalised": lambda: np.exp(z),
        "softmax.twice": lambda: _softmax(_softmax(z)),
        "softmax.sigmoid": lambda: 1 / (1 + np.exp(-z)),
        "softmax.relu": lambda: np.where(z > 0, z, 0),
        "softmax.hard": lambda: (z == z.max(-1, keepdims=True)).astype(float),
        "softmax.negated": lambda: _softmax(np.where(np.isneginf(z), z, -z)),
        "softmax.plus_one": lambda: np.exp(z) / (1 + np.exp(z).sum(-1, keepdims=True)),
        "softmax.sum_over_queries": lambda: exps / exps.sum(-2, keepdims=True),
        "softmax.no_keepdims": lambda: exps / np.swapaxes(exps.sum(-1, keepdims=True), -1, -2),
    }
    return others[fault]() if fault in others else exps / exps.sum(-1, keepdims=True)


def _weights_step(
    w: np.ndarray,
    hidden: np.ndarray,
    c: Config,
    faults: tuple[str, ...],
    style: str,
    rng: np.random.Generator,
) -> np.ndarray:
    if "mask.after_softmax" in faults or style == "renormalised":
        w = np.where(hidden, 0, w)
    if style == "renormalised":
        w = w / w.sum(-1, keepdims=True)
    if "scale.after_softmax" in faults:
        w = w / np.sqrt(c.d_k)
    if "heads.weights_averaged" in faults:
        w = np.repeat(w.mean(1, keepdims=True), w.shape[1], axis=1)
    if "softmax.weights_squared" in faults:
        w = w**2
    if "blend.dropout_active" in faults:
        keep = rng.random(w.shape) > 0.2
        w = np.where(keep, w / 0.8, 0)
    return w


def _blend_step(w: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, fault: str) -> np.ndarray:
    out = np.einsum("bhij,bhjd->bhid", w, v)
    others: dict[str, Callable[[], np.ndarray]] = {
        "blend.weights_transposed": lambda: np.einsum("bhji,bhjd->bhid", w, v),
        "blend.k_used_as_v": lambda: np.einsum("bhij,bhjd->bhid", w, k),
        "blend.q_used_as_v": lambda: np.einsum("bhij,bhjd->bhid", w, q),
        "blend.returns_v": lambda: v.copy(),
        "blend.residual_added": lambda: out + q,
        "blend.residual_subtracted": lambda: out - q,
        "blend.mean_of_v": lambda: np.repeat(v.mean(-2, keepdims=True), w.shape[-2], axis=-2),
        "blend.sum_of_v": lambda: np.repeat(v.sum(-2, keepdims=True), w.shape[-2], axis=-2),
        "blend.v_reversed": lambda: w @ np.flip(v, -2),
        "blend.v_shifted": lambda: w @ np.roll(v, 1, axis=-2),
        "blend.v_wrong_entry": lambda: w @ np.flip(v, 0),
        "blend.v_wrong_head": lambda: w @ np.flip(v, 1),
        "blend.negated": lambda: -out,
        "blend.divided_by_n_keys": lambda: (w[..., None] * v[..., None, :, :]).mean(-2),
        "blend.output_scaled": lambda: 1.37 * out,
        "blend.v_transposed": lambda: w @ np.swapaxes(v, -1, -2),
    }
    return others[fault]() if fault in others else out


def _repeat_groups(x: np.ndarray, c: Config, fault: str) -> np.ndarray:
    per_group = c.heads // c.kv_heads
    if per_group == 1 and fault != "heads.gqa_averaged":
        return x
    if fault == "heads.gqa_tiled":
        return np.concatenate([x] * per_group, axis=1)
    if fault == "heads.gqa_first_head_only":
        return np.stack([x[:, 0]] * c.heads, axis=1)
    if fault == "heads.gqa_averaged":
        return np.stack([x.mean(1)] * c.heads, axis=1)
    return np.stack([x[:, i // per_group] for i in range(c.heads)], axis=1)


def _positions_step(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, c: Config, fault: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if fault == "score.rope_not_wanted":
        return turn(q, c.n_k - c.n_q), turn(k), v
    if not c.rope or fault == "score.rope_missing":
        return q, k, v
    sign = -1.0 if fault == "score.rope_sign" else 1.0
    pairs = "next" if fault == "score.rope_interleaved" else "half"
    first = 0 if fault == "score.rope_offset_missing" else c.n_k - c.n_q
    turned_q, turned_k = turn(q, first, sign, pairs), turn(k, 0, sign, pairs)
    if fault == "score.rope_on_one_side":
        return turned_q, k, v
    if fault == "score.rope_twice":
        return turn(turned_q, first), turn(turned_k), v
    return turned_q, turned_k, turn(v) if fault == "score.rope_on_values" else v


def attend(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    c: Config,
    keep: np.ndarray | None,
    faults: tuple[str, ...],
    style: str,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(B, h, T, d) arrays -> output and weights of one implementation, rounded after every step."""
    r = rounder("float64" if c.inside else c.number_format)

    def of(*steps: str) -> str:
        return next((f for f in faults if f.split(".")[0] in steps), "")

    with np.errstate(all="ignore"):
        q, k, v = _positions_step(q, k, v, c, of("score"))
        k, v = _repeat_groups(k, c, of("heads")), _repeat_groups(v, c, of("heads"))
        swap = {"heads.attends_over_heads": (1, 2), "heads.batch_first": (0, 2)}.get(of("heads"))
        if swap:
            q, k, v = (np.swapaxes(x, *swap) for x in (q, k, v))
        if style == "prescaled":
            z = r(_score_step(r(q / np.sqrt(c.d_k)), k, of("score")))
        elif style == "quarter roots":
            z = r(_score_step(r(q * c.d_k**-0.25), r(k * c.d_k**-0.25), of("score")))
        else:
            z = r(
                _scale_step(r(_score_step(q, k, of("score") or of("heads"))), c, of("scale") or of("softmax"))
            )
        z = r(_bias_step(z, c, of("score"))) if not swap else z
        if swap:
            hidden = np.zeros(z.shape, bool)
        else:
            z, hidden = mask_step(
                z, c, keep, "mask.after_softmax" if style == "renormalised" else of("mask"), style
            )
            z = z if style in ("finfo.min", "added", "-1e9") else r(z)
        w = r(_softmax_step(z, of("softmax"), c.number_format))
        w = r(_weights_step(w, hidden, c, faults, style, rng))
        out = _blend_step(w, q, k, v, of("blend"))
        if swap:
            out = np.swapaxes(out, *swap)
    return out, w


# --- random inputs ---------------------------------------------------------------------------------------

#: faults that need an X layout, a causal mask and so on to exist
NEEDS_PROJECTION = {
    "heads.split_without_transpose",
    "heads.merge_without_transpose",
    "projection.wo_missing",
    "projection.wo_transposed",
    "projection.w_transposed",
    "projection.missing",
    "projection.one_matrix_for_all",
    "projection.wo_twice",
    "heads.split_interleaved",
    "heads.merge_interleaved",
    "heads.not_split",
    "projection.bias_missing",
}
NEEDS_CAUSAL = {
    "mask.missing_causal",
    "mask.strict_lower",
    "mask.peeks_one_ahead",
    "mask.causal_shifted",
    "mask.causal_top_left",
    "mask.upper_triangle",
}
NEEDS_PADDING = {
    "mask.missing_padding",
    "mask.padding_on_query_axis",
    "mask.padding_wrong_side",
    "mask.padding_wrong_entry",
    "mask.padding_off_by_one",
}
NEEDS_MASK = {
    "mask.inverted",
    "mask.filled_with_zero",
    "mask.filled_with_one",
    "mask.filled_with_small_negative",
    "mask.positive_fill",
    "mask.zero_one_added",
    "mask.after_softmax",
}
NEEDS_SQUARE = {
    "score.qk_swapped",
    "score.same_tensor_twice",
    "blend.weights_transposed",
    "blend.q_used_as_v",
    "blend.returns_v",
    "heads.attends_over_heads",
    "heads.batch_first",
    "mask.padding_on_query_axis",
    "softmax.no_keepdims",
    "blend.residual_added",
    "blend.residual_subtracted",
}
NEEDS_EQUAL_WIDTHS = {
    "blend.k_used_as_v",
    "blend.q_used_as_v",
    "blend.residual_added",
    "blend.residual_subtracted",
}
NEEDS_HEADS = {
    "scale.by_sqrt_d_model",
    "scale.by_d_model",
    "scale.by_sqrt_heads",
    "scale.by_heads",
    "heads.attends_over_heads",
    "heads.weights_averaged",
    "heads.scores_summed",
    "softmax.axis_heads",
    "blend.v_wrong_head",
}
NEEDS_BATCH = {
    "scale.by_sqrt_batch",
    "softmax.axis_batch",
    "heads.batch_first",
    "blend.v_wrong_entry",
    "mask.padding_wrong_entry",
}
#: half precision hides these, or lets rounding decide: a leak of e^-10, an argmax of equal scores,
#: a sum near 0; and exp overflows in float32's range
FINE_ONLY = {
    "mask.filled_with_small_negative",
    "scale.wrong_constant",
    "score.bias_scaled",
    "softmax.hard",
    "softmax.no_max_subtraction",
    "softmax.sum_of_scores",
}

FAULT_KINDS = tuple(
    sorted(
        NEEDS_PROJECTION
        | NEEDS_CAUSAL
        | NEEDS_PADDING
        | NEEDS_MASK
        | NEEDS_SQUARE
        | NEEDS_EQUAL_WIDTHS
        | NEEDS_HEADS
        | NEEDS_BATCH
        | FINE_ONLY
        | {
            "mask.combined_with_or",
            "mask.causal_not_wanted",
            "mask.fully_masked_row",
            "score.k_not_transposed",
            "score.negated",
            "score.normalised",
            "score.distance",
            "score.absolute",
            "score.fp16_overflow",
            "score.rope_missing",
            "score.rope_interleaved",
            "score.rope_sign",
            "score.rope_on_one_side",
            "score.rope_offset_missing",
            "score.rope_twice",
            "score.rope_on_values",
            "score.rope_not_wanted",
            "score.alibi_sign",
            "score.alibi_missing",
            "score.alibi_slopes",
            "score.bias_scaled",
            "scale.missing",
            "scale.by_d_k",
            "scale.twice",
            "scale.three_times",
            "scale.multiplied",
            "scale.multiplied_by_d_k",
            "scale.by_sqrt_seq",
            "scale.by_seq",
            "scale.by_sqrt_d_v",
            "scale.quarter_root",
            "scale.by_d_k_squared",
            "scale.precedence",
            "scale.by_sqrt_half_d_k",
            "scale.by_sqrt_twice_d_k",
            "scale.by_log_d_k",
            "scale.wrong_constant",
            "scale.after_softmax",
            "softmax.axis_query",
            "softmax.flattened",
            "softmax.missing",
            "softmax.sum_of_scores",
            "softmax.not_normalised",
            "softmax.twice",
            "softmax.sigmoid",
            "softmax.relu",
            "softmax.hard",
            "softmax.negated",
            "softmax.plus_one",
            "softmax.sum_over_queries",
            "softmax.base_two",
            "softmax.weights_squared",
            "blend.dropout_active",
            "blend.mean_of_v",
            "blend.sum_of_v",
            "blend.v_reversed",
            "blend.v_shifted",
            "blend.negated",
            "blend.divided_by_n_keys",
            "blend.output_scaled",
            "blend.v_transposed",
            "heads.gqa_tiled",
            "heads.gqa_first_head_only",
            "heads.gqa_averaged",
        }
    )
)

#: with another number of heads these are right: attention between the heads of one layout is attention
#: between the positions of another
SHOW_BY_HEADS = {"heads.attends_over_heads"}

FORMATS = ("float64", "float32", "float16", "bfloat16")


def random_config(rng: np.random.Generator, fault: str = "") -> Config:
    """Shapes and settings in which `fault` exists and can be seen."""
    heads = (
        int(rng.choice([2, 3, 4, 6])) if fault in NEEDS_HEADS | NEEDS_PROJECTION or rng.random() < 0.6 else 1
    )
    d_k = int(rng.choice([6, 8, 10, 12, 16, 20, 24]))
    forbidden = {d_k, heads, d_k * heads, 2 * d_k}
    n_k = int(rng.choice([n for n in (5, 7, 9, 11, 13, 14) if n not in forbidden]))
    n_q = (
        n_k
        if fault in NEEDS_SQUARE | NEEDS_PROJECTION or rng.random() < 0.7
        else int(rng.choice([n for n in (3, 4, 17) if n not in forbidden]))
    )
    d_v = (
        d_k
        if fault in NEEDS_EQUAL_WIDTHS | NEEDS_PROJECTION or rng.random() < 0.6
        else int(rng.choice([n for n in (7, 15, 18) if n not in forbidden]))
    )
    kv_heads = heads // 2 if heads in (4, 6) and rng.random() < 0.3 else heads
    c = Config(int(rng.integers(1, 4)), heads, kv_heads, n_q, n_k, d_k, d_v)
    c.causal, c.padding = bool(rng.random() < 0.4), bool(rng.random() < 0.3)
    c.number_format = str(rng.choice(FORMATS[:2] if fault in FINE_ONLY else FORMATS))
    c.inside = "float64" if c.number_format in ("float16", "bfloat16") and rng.random() < 0.5 else ""
    c.layout = str(rng.choice(["BHTD", "BTHD", "BTD", "TBD"]))
    constrain(c, fault, rng)
    if c.causal and c.n_q > c.n_k:
        c.n_q = c.n_k
    if c.batch == c.d_k:
        c.batch = 1
    return c


def constrain(c: Config, fault: str, rng: np.random.Generator) -> None:
    """What this fault needs on top of the random draw."""
    if fault in NEEDS_PROJECTION or (fault and fault.startswith("projection")):
        c.projected, c.layout, c.kv_heads, c.padding = True, "X", c.heads, False
    if fault in NEEDS_CAUSAL:
        c.causal, c.padding = True, False
    if fault == "mask.causal_top_left":
        c.n_q = 3
    if fault in NEEDS_PADDING:
        c.causal, c.padding = False, True
    if fault in NEEDS_MASK and not c.padding:
        c.causal = True
    if fault == "mask.combined_with_or":
        c.causal = c.padding = True
    if fault == "mask.causal_not_wanted":
        c.causal = c.padding = False
    if fault == "mask.fully_masked_row":
        c.causal = c.padding = True
        c.n_q = c.n_k
    if fault in NEEDS_BATCH:
        c.batch = 2 if c.n_q != 2 else 3
        c.batch = 3 if fault == "scale.by_sqrt_batch" else c.batch
    if fault in ("scale.by_sqrt_heads", "scale.by_heads") and c.d_k in (c.heads, c.heads**2):
        c.heads = c.kv_heads = 3
    if fault == "score.k_not_transposed":
        c.n_k = c.d_k
        c.n_q = min(c.n_q, c.n_k)
    if fault == "blend.v_transposed":
        c.d_v = c.n_k
    if fault == "scale.by_sqrt_d_v":
        c.d_v = 7 if c.d_k > 8 else 15  # sqrt(15) for sqrt(16) is within bfloat16's rounding
    if fault.startswith("score.rope") and fault != "score.rope_not_wanted":
        c.rope = True
    if fault in ("score.rope_offset_missing",):
        c.n_q = 3
    if fault == "score.rope_on_values":
        c.d_v = c.d_k
    if fault.startswith("score.alibi") or fault == "score.bias_scaled":
        c.alibi = True
        c.heads = c.kv_heads = max(c.heads, 2)
    if fault.startswith("heads.gqa"):
        c.heads, c.kv_heads = (4, 2) if rng.random() < 0.5 else (6, 3)
        if fault == "heads.gqa_averaged" and rng.random() < 0.3:
            c.kv_heads = c.heads
    if fault == "heads.attends_over_heads" and c.n_q == c.heads:
        c.n_q = c.n_k = 9
    if fault in ("heads.attends_over_heads", "heads.batch_first"):
        c.causal = c.padding = False
    if fault == "softmax.no_keepdims":
        c.batch = c.heads = c.kv_heads = 1
    if fault == "score.fp16_overflow":
        c.number_format, c.inside, c.size, c.padding, c.causal = "float16", "float64", 400.0, False, False
        c.d_k = 24
    if fault == "softmax.no_max_subtraction":
        c.number_format, c.inside, c.size = "float32", "", 80.0
    if fault == "blend.dropout_active":
        c.d_v = c.n_k + 3
    if fault in ("softmax.missing", "softmax.sum_of_scores", "softmax.log_softmax"):
        c.causal = c.padding = False
    if fault == "softmax.hard":
        c.padding = False
    if fault in NEEDS_SQUARE | NEEDS_PROJECTION:
        c.n_q = c.n_k
    if divisor(c, fault) != divisor(c, "") and abs(divisor(c, fault) / divisor(c, "") - 1) < 0.1:
        c.number_format = "float32"  # dividing by 5 for sqrt(24) is within half precision's rounding
    if c.layout in ("BTD", "TBD") and c.batch == 1 and c.heads == 1 and c.n_q == 1:
        c.layout = "BHTD"


def key_mask(c: Config, rng: np.random.Generator, dead: bool = False) -> np.ndarray:
    """(B, n_k) bool, some entries padded at the end; with `dead` at the start, so that causal rows die."""
    real = rng.integers(max(1, c.n_k // 2), c.n_k, size=c.batch)
    if c.batch > 1:
        real[-1] = c.n_k if real[0] != c.n_k else c.n_k - 1
    keep = np.arange(c.n_k)[None] < real[:, None]
    return keep[:, ::-1].copy() if dead else keep


def sample(rng: np.random.Generator, faults: tuple[str, ...] = (), style: str = "") -> Sample:
    """One random input made by code with these faults."""
    first = faults[0] if faults else ""
    c = random_config(rng, first)
    if len(faults) > 1:
        constrain(c, faults[1], rng)
    return make(c, rng, faults, style)


def make(c: Config, rng: np.random.Generator, faults: tuple[str, ...] = (), style: str = "") -> Sample:
    """One input made by code with these faults, in this setting."""
    keep = key_mask(c, rng, dead="mask.fully_masked_row" in faults) if c.padding else None
    used = tuple(f for f in faults if f != "mask.fully_masked_row")
    if c.projected:
        arrays, weights = _projected(c, rng, keep, used, style)
    else:
        arrays, weights = _headed(c, rng, keep, used, style)
    meta = {
        "layout": c.layout,
        "causal": c.causal,
        "num_heads": c.heads,
        "num_kv_heads": c.kv_heads,
        "has_padding": c.padding,
        "rope": c.rope,
        "alibi": c.alibi,
    }
    if keep is not None:
        arrays["key_keep"] = keep
    if weights is not None and rng.random() < 0.3 and not c.projected and not faults:
        arrays["weights"] = stored(rounder(c.number_format)(weights), c, rng)
    return Sample(arrays, meta, faults, c, style)


def says_less(made: Sample, rng: np.random.Generator) -> Sample:
    """In half of the samples without the layout, as on the page; now and then without the heads too."""
    meta = dict(made.meta)
    if meta["layout"] in ("BHTD", "BTHD", "BTD") and rng.random() < 0.5:
        heads_apart = meta.pop("layout") != "BTD"
        if heads_apart and rng.random() < 0.5 and not SHOW_BY_HEADS & set(made.labels):
            del meta["num_heads"], meta["num_kv_heads"]
    return replace(made, meta=meta)


def stored(x: np.ndarray, c: Config, rng: np.random.Generator) -> np.ndarray:
    """In the format's own dtype, or now and then in a wider one."""
    own = {"bfloat16": "float32"}.get(c.number_format, c.number_format)
    with np.errstate(over="ignore"):
        return x.astype(own if rng.random() < 0.8 else "float64")


def _headed(
    c: Config, rng: np.random.Generator, keep: np.ndarray | None, faults: tuple[str, ...], style: str
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    r = rounder(c.number_format)
    q = r(rng.standard_normal((c.batch, c.heads, c.n_q, c.d_k)) * c.size)
    k = r(rng.standard_normal((c.batch, c.kv_heads, c.n_k, c.d_k)) * (1.0 if c.size < 100 else 40.0))
    v = r(rng.standard_normal((c.batch, c.kv_heads, c.n_k, c.d_v)))
    out, weights = attend(q, k, v, c, keep, faults, style, rng)
    laid = {name: _lay_out(x, c.layout) for name, x in (("q", q), ("k", k), ("v", v), ("out", r(out)))}
    return {name: stored(x, c, rng) for name, x in laid.items()}, weights


def _lay_out(x: np.ndarray, layout: str) -> np.ndarray:
    if layout == "BTHD":
        return np.swapaxes(x, 1, 2)
    if layout in ("BTD", "TBD"):
        joined = _join_heads(x)
        return np.swapaxes(joined, 0, 1) if layout == "TBD" else joined
    return x


def _projected(
    c: Config, rng: np.random.Generator, keep: np.ndarray | None, faults: tuple[str, ...], style: str
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    r = rounder(c.number_format)
    rr = rounder("float64" if c.inside else c.number_format)
    width = c.heads * c.d_k
    x = r(rng.standard_normal((c.batch, c.n_k, width)))
    w = {n: r(rng.standard_normal((width, width)) / np.sqrt(width)) for n in ("wq", "wk", "wv", "wo")}
    with_bias = "projection.bias_missing" in faults or (not faults and rng.random() < 0.3)
    b = {n: r(rng.standard_normal(width)) for n in ("bq", "bk", "bv", "bo")} if with_bias else {}
    fault = next((f for f in faults if f.split(".")[0] in ("projection", "heads")), "")
    used = {
        "projection.w_transposed": {n: a.T for n, a in w.items() if n != "wo"},
        "projection.one_matrix_for_all": dict.fromkeys(("wq", "wk", "wv"), w["wq"]),
        "projection.missing": dict.fromkeys(("wq", "wk", "wv"), np.eye(width)),
        "projection.wo_transposed": {"wo": w["wo"].T},
    }.get(fault, {})
    used = {**w, **used}
    bias = {} if fault == "projection.bias_missing" else b
    flat = [rr(x @ used["w" + n] + bias.get("b" + n, 0)) for n in "qkv"]
    how = {"heads.split_without_transpose": "reshape", "heads.split_interleaved": "interleaved"}.get(
        fault, "right"
    )
    heads = 1 if fault == "heads.not_split" else c.heads
    inner = replace(c, heads=heads, kv_heads=heads, d_k=width // heads, d_v=width // heads)
    out, weights = attend(*(_cut_heads(a, heads, how) for a in flat), inner, keep, faults, style, rng)
    how = {"heads.merge_without_transpose": "reshape", "heads.merge_interleaved": "interleaved"}.get(
        fault, "right"
    )
    joined = rr(_join_heads(out, how))
    if fault != "projection.wo_missing":
        joined = joined @ used["wo"] + (b.get("bo", 0))
    if fault == "projection.wo_twice":
        joined = rr(joined) @ used["wo"]
    arrays = {"x": x, **w, **b, "out": r(joined)}
    return {name: stored(a, c, rng) for name, a in arrays.items()}, weights


# --- correct ones in every convention ----------------------------------------------------------------------

STYLES = ("", "", "prescaled", "quarter roots", "renormalised", "-1e9", "finfo.min", "added", "-1e4")


def correct_sample(rng: np.random.Generator) -> Sample:
    """A right implementation in a random convention, number format and layout."""
    style = str(rng.choice(STYLES))
    c = random_config(rng)
    if rng.random() < 0.25:
        c.projected, c.layout, c.kv_heads, c.n_q, c.d_v = True, str(rng.choice(["X"])), c.heads, c.n_k, c.d_k
    c.rope, c.alibi = bool(rng.random() < 0.1), bool(rng.random() < 0.1)
    c.size = float(rng.choice([0.3, 1.0, 1.0, 3.0]))
    if style == "renormalised" and c.number_format in ("float16", "bfloat16"):
        style = ""  # a late mask may leave 0 / 0 where a hidden key held all the weight
    made = make(c, rng, (), style)
    return vary(made, rng)


def vary(made: Sample, rng: np.random.Generator) -> Sample:
    """Say less, or say the same in another way."""
    arrays, meta = dict(made.arrays), dict(made.meta)
    if "key_keep" in arrays and rng.random() < 0.4:
        keep = arrays.pop("key_keep")
        name, value = [
            ("key_padding_mask", ~keep),
            ("attention_mask", keep.astype(np.int64)),
            ("padding_mask", ~keep),
        ][rng.integers(3)]
        arrays[name] = value
    elif meta["causal"] and not made.config.padding and rng.random() < 0.3:
        allowed = np.tri(made.config.n_q, made.config.n_k, made.config.n_k - made.config.n_q, dtype=bool)
        arrays["mask"] = [allowed, ~allowed, np.where(allowed, 0.0, -np.inf), np.where(allowed, 0.0, -1e9)][
            rng.integers(4)
        ]
        meta["causal"] = False
    if rng.random() < 0.2:
        meta.pop("causal")
    if meta["layout"] in ("BHTD", "BTHD", "BTD") and rng.random() < 0.3:
        meta.pop("layout")
        if made.config.layout != "BTD" and rng.random() < 0.5:
            del meta["num_heads"], meta["num_kv_heads"]
    return Sample(arrays, meta, (), made.config, made.style)
