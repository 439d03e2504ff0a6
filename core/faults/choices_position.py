"""What tells positions apart, rotation and bias: the right way and the wrong ways."""

from typing import Any

import numpy as np

from core.faults.choices_score import right_factor, several_heads
from core.faults.pipeline import State, Updates, faulty, right
from core.faults.problem import Problem

ROPE_BASE = 10000.0

# --- rotary positions (Su et al., "RoFormer", 2021) --------------------------------------------


def rotate(
    x: np.ndarray, offset: int, *, sign: float = 1.0, interleaved: bool = False, base: float = ROPE_BASE
) -> np.ndarray:
    """(..., T, d) -> (..., T, d): each pair of channels turned by its position times a frequency.

    Pairs are (i, i + d/2) (half-split) or (2i, 2i + 1) (interleaved). `offset` is the first position.
    """
    seq_len, width = x.shape[-2:]
    frequency = base ** (-np.arange(0, width, 2) / width)
    angle = sign * (np.arange(seq_len)[:, None] + offset) * frequency
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else np.split(x, 2, axis=-1)
    turned = first * cos - second * sin, second * cos + first * sin
    if interleaved:
        return np.stack(turned, axis=-1).reshape(x.shape)
    return np.concatenate(turned, axis=-1)


def rope(p: Problem) -> bool:
    return p.rope and p.d_k % 2 == 0


def turned(p: Problem, s: State, which: str = "qk", offset: int | None = None, **how: Any) -> Updates:
    """q and k turned; the queries are the last n_q positions of the keys."""
    offsets = {"q": p.n_k - p.n_q if offset is None else offset, "k": 0}
    return {name: rotate(getattr(s, name), offsets[name], **how) for name in which}


@right("position")
def position(p: Problem, s: State) -> Updates:
    return turned(p, s) if rope(p) else {}


faulty("position", "score.rope_missing", when=rope)(lambda p, s: {})
faulty("position", "score.rope_interleaved", when=rope)(lambda p, s: turned(p, s, interleaved=True))
faulty("position", "score.rope_sign", when=rope)(lambda p, s: turned(p, s, sign=-1.0))
faulty("position", "score.rope_on_one_side", "only q", when=rope)(lambda p, s: turned(p, s, "q"))
faulty("position", "score.rope_on_one_side", "only k", when=rope)(lambda p, s: turned(p, s, "k"))
faulty("position", "score.rope_offset_missing", when=lambda p: rope(p) and not p.square)(
    lambda p, s: turned(p, s, offset=0)
)


@faulty("position", "score.rope_twice", when=rope)
def turned_twice(p: Problem, s: State) -> Updates:
    return turned(p, State(**turned(p, s)))


faulty("position", "score.rope_on_values", when=lambda p: rope(p) and p.d_v % 2 == 0)(
    lambda p, s: {**turned(p, s), "v": rotate(s.v, 0)}
)
faulty("position", "score.rope_not_wanted", when=lambda p: not p.rope and p.d_k % 2 == 0)(
    lambda p, s: turned(p, s)
)
faulty("position", "score.rope_not_wanted", "interleaved", when=lambda p: not p.rope and p.d_k % 2 == 0)(
    lambda p, s: turned(p, s, interleaved=True)
)


# --- what is added to the scores ------------------------------------------------------------------


def alibi_bias(p: Problem, first: int = 1) -> np.ndarray:
    """-> (h, n_q, n_k): slope · (j - i), slope 2^(-8 (head + 1) / h). Press et al., "ALiBi" (2022)."""
    n_heads = p.total_heads
    slopes = 2.0 ** (-8.0 * (np.arange(n_heads) + first) / n_heads)
    distance = np.arange(p.n_k)[None, :] - (np.arange(p.n_q)[:, None] + p.n_k - p.n_q)
    return slopes[:, None, None] * distance


def added(p: Problem, s: State, alibi: np.ndarray | float | None = None, times: float = 1.0) -> Updates:
    """The scaled scores with their biases; `times` multiplies both."""
    total = s.scaled
    if p.alibi and s.mask_fits:
        slopes = alibi_bias(p) if alibi is None else alibi
        total = total + times * (slopes[: s.scaled.shape[1]] if isinstance(slopes, np.ndarray) else slopes)
    if p.bias is not None and s.mask_fits:
        total = total + times * p.bias
    return {"scaled": total}


@right("bias")
def bias(p: Problem, s: State) -> Updates:
    return added(p, s)


def alibi(p: Problem) -> bool:
    return p.alibi


def symmetric(p: Problem, s: State) -> np.ndarray:
    return -np.abs(alibi_bias(p))


faulty("bias", "score.alibi_sign", when=alibi)(lambda p, s: added(p, s, -alibi_bias(p)))
faulty("bias", "score.alibi_missing", when=alibi)(lambda p, s: added(p, s, 0.0))
faulty("bias", "score.alibi_slopes", "from 2^0", when=alibi)(lambda p, s: added(p, s, alibi_bias(p, first=0)))
faulty("bias", "score.alibi_slopes", "heads reversed", when=lambda p: p.alibi and several_heads(p))(
    lambda p, s: added(p, s, alibi_bias(p)[::-1])
)
faulty("bias", "score.alibi_slopes", "one for all heads", when=lambda p: p.alibi and several_heads(p))(
    lambda p, s: added(p, s, alibi_bias(p)[:1])
)
faulty("bias", "score.alibi_sign", "both sides falling", when=lambda p: p.alibi and not p.causal)(
    lambda p, s: added(p, s, symmetric(p, s))
)
faulty("bias", "score.bias_scaled", when=lambda p: p.alibi or p.bias is not None)(
    lambda p, s: added(p, s, times=right_factor(p, s))
)
faulty("bias", "score.bias_missing", when=lambda p: p.bias is not None)(lambda p, s: added(p, s, times=0.0))
faulty("bias", "score.bias_sign", when=lambda p: p.bias is not None)(lambda p, s: added(p, s, times=-1.0))
