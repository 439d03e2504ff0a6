"""Multi-head attention: split the width into heads, attend in each, join them again.

    MultiHead(X) = Concat(head_1, ..., head_h) W_O
    head_i = Attention(X W_Q_i, X W_K_i, X W_V_i)

Vaswani et al. (2017), section 3.2.2. Axes: B batch, T positions, h heads.
"""

from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, attention
from core.checks import ShapeError, check_divides, check_has_heads, check_projection


def split_heads(x: np.ndarray, n_heads: int) -> np.ndarray:
    """(B, T, d_model) -> (B, h, T, d_k) with d_k = d_model / h; head i holds channels i d_k ... .

    Any leading axes in place of B. The reshape cuts the width, the transpose then puts
    the head axis before the time axis, so that a batched product attends over time.
    """
    check_divides(x, n_heads)
    *leading, seq_len, d_model = x.shape
    return x.reshape(*leading, seq_len, n_heads, d_model // n_heads).swapaxes(-2, -3)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """(B, h, T, d_k) -> (B, T, h d_k): the inverse of split_heads."""
    check_has_heads(x)
    *leading, n_heads, seq_len, d_k = x.shape
    return x.swapaxes(-2, -3).reshape(*leading, seq_len, n_heads * d_k)


def repeat_key_value_heads(x: np.ndarray, n_heads: int) -> np.ndarray:
    """(B, h_kv, T, d) -> (B, h, T, d): grouped heads, each key/value head serves h / h_kv query heads.

    Order 0, 0, 1, 1, ... (PyTorch's repeat_interleave, and its SDPA's enable_gqa), not 0, 1, 0, 1.
    Ainslie et al., "GQA" (2023).
    """
    check_has_heads(x)
    n_kv_heads = x.shape[-3]
    if n_heads % n_kv_heads:
        raise ShapeError(
            f"{n_heads} query heads cannot share {n_kv_heads} key/value heads evenly (x {x.shape})"
        )
    return x if n_heads == n_kv_heads else x.repeat(n_heads // n_kv_heads, axis=-3)


@dataclass(frozen=True, slots=True, eq=False)
class MultiHeadSteps:
    """Every tensor of one multi-head attention."""

    heads: AttentionSteps  # each tensor with a head axis: (B, h, T, ...)
    concat: np.ndarray  # (B, T, h d_v): the heads' outputs side by side
    w_o: np.ndarray  # (h d_v, d_model)
    output: np.ndarray  # (B, T, d_model)


def join_heads(heads: AttentionSteps, w_o: np.ndarray) -> MultiHeadSteps:
    """Heads' steps with output (B, h, T, d_v), w_o (h d_v, d_model) -> concatenated and projected."""
    concat = merge_heads(heads.output)
    check_projection("concat", concat, "w_o", w_o)
    return MultiHeadSteps(heads, concat, w_o, concat @ w_o)


def multi_head(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    n_heads: int,
    allowed: np.ndarray | None = None,
    n_kv_heads: int | None = None,
) -> MultiHeadSteps:
    """x (B, T, d_in) -> output (B, T, d_model), with every head's steps.

    w_q (d_in, h d_k), w_k (d_in, h_kv d_k), w_v (d_in, h_kv d_v), w_o (h d_v, d_model), used as
    x @ w: PyTorch's nn.Linear keeps the transpose. `allowed` broadcasts to (B, h, T, T).
    n_kv_heads < n_heads gives grouped key/value heads; None means one for each query head.
    """
    for name, weight in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
        check_projection("x", x, name, weight)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    q = split_heads(x @ w_q, n_heads)
    k = repeat_key_value_heads(split_heads(x @ w_k, n_kv_heads), n_heads)
    v = repeat_key_value_heads(split_heads(x @ w_v, n_kv_heads), n_heads)
    return join_heads(attention(q, k, v, allowed), w_o)
