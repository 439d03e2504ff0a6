"""Make attention.npz: every intermediate of attention, by PyTorch. `python -m tests.golden.make_attention`

What is stored of each case: the inputs, the steps as PyTorch's own operations give them one by one,
and, where PyTorch has the whole in one function (F.scaled_dot_product_attention, nn.MultiheadAttention),
that function's result under "sdpa" or "mha". Steps of float32 cases are float32.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right

FILE = Path(__file__).with_name("attention.npz")
Case = dict[str, Tensor]


def make() -> dict[str, np.ndarray]:
    """-> all arrays by "case/name"."""
    cases = [*single_cases(), *multi_head_cases()]
    return {
        f"{case}/{name}": tensor.detach().numpy() for case, arrays in cases for name, tensor in arrays.items()
    }


def single_cases() -> Iterator[tuple[str, Case]]:
    """Attention alone: shapes, dtypes and masks."""
    generator = torch.Generator().manual_seed(2017)

    def drawn(*shape: int, dtype: torch.dtype = torch.float64, size: float = 1.0) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype) * size

    f32 = torch.float32
    yield "two_axes", attention(drawn(7, 4), drawn(7, 4), drawn(7, 3))
    yield "one_key", attention(drawn(3, 4), drawn(1, 4), drawn(1, 2))
    yield "width_one", attention(drawn(5, 1), drawn(6, 1), drawn(6, 1))
    yield (
        "heads_f32",
        attention(drawn(2, 3, 5, 8, dtype=f32), drawn(2, 3, 5, 8, dtype=f32), drawn(2, 3, 5, 8, dtype=f32)),
    )
    yield "cross", attention(drawn(2, 3, 8), drawn(2, 9, 8), drawn(2, 9, 5))
    yield (
        "wide_f32",
        attention(drawn(2, 9, 512, dtype=f32), drawn(2, 9, 512, dtype=f32), drawn(2, 9, 7, dtype=f32)),
    )
    yield "large_scores", attention(drawn(6, 4, size=60), drawn(6, 4, size=60), drawn(6, 3))
    yield (
        "large_scores_f32",
        attention(drawn(6, 4, dtype=f32, size=60), drawn(6, 4, dtype=f32, size=60), drawn(6, 3, dtype=f32)),
    )
    yield "shared_keys", attention(drawn(2, 4, 5, 8), drawn(2, 1, 6, 8), drawn(2, 1, 6, 3))

    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    yield "causal", attention(drawn(2, 6, 4), drawn(2, 6, 4), drawn(2, 6, 3), causal)
    yield (
        "causal_f32",
        attention(drawn(6, 4, dtype=f32), drawn(6, 4, dtype=f32), drawn(6, 3, dtype=f32), causal),
    )
    lower_right = torch.ones(3, 9, dtype=torch.bool).tril(diagonal=6)
    top_left = torch.ones(3, 9, dtype=torch.bool).tril()
    q, k, v = drawn(3, 4), drawn(9, 4), drawn(9, 5)
    yield "causal_lower_right", attention(q, k, v, lower_right) | causal_functions(q, k, v)
    yield "causal_top_left", attention(q, k, v, top_left)
    late = torch.ones(5, 3, dtype=torch.bool).tril(diagonal=-2)
    yield "rows_with_nothing", attention(drawn(5, 4), drawn(3, 4), drawn(3, 2), late)

    real = torch.tensor([[True, True, True, False], [True, False, False, False]])
    yield "padding", attention(drawn(2, 4, 8), drawn(2, 4, 8), drawn(2, 4, 8), real[:, None, :])
    near = causal & ~torch.ones(6, 6, dtype=torch.bool).tril(diagonal=-2)
    yield "causal_window", attention(drawn(6, 4), drawn(6, 4), drawn(6, 3), near)


def attention(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None = None) -> Case:
    """Each step by one operation of PyTorch, and all of them by its fused function."""
    scores = q @ k.transpose(-1, -2)
    scaled_scores = scores / math.sqrt(q.shape[-1])
    masked_scores = scaled_scores if allowed is None else scaled_scores.masked_fill(~allowed, -math.inf)
    weights = torch.softmax(masked_scores, dim=-1)
    steps = {
        "q": q,
        "k": k,
        "v": v,
        "scores": scores,
        "scaled_scores": scaled_scores,
        "masked_scores": masked_scores,
        "weights": weights,
        "output": weights @ v,
        "sdpa": F.scaled_dot_product_attention(q, k, v, allowed),
    }
    return steps if allowed is None else steps | {"allowed": allowed}


def causal_functions(q: Tensor, k: Tensor, v: Tensor) -> Case:
    """What PyTorch's own two causal masks give, to tell which corner each is aligned to."""
    bias = causal_lower_right(len(q), len(k))
    one_head = [tensor[None, None] for tensor in (q, k, v)]
    return {
        "sdpa_is_causal": F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "sdpa_lower_right": F.scaled_dot_product_attention(*one_head, attn_mask=bias)[0, 0],
    }


def multi_head_cases() -> Iterator[tuple[str, Case]]:
    """nn.MultiheadAttention, and grouped heads by F.scaled_dot_product_attention."""
    torch.manual_seed(2017)
    blocked = ~torch.ones(5, 5, dtype=torch.bool).tril()  # MultiheadAttention's True = may not attend
    for name, n_heads, dtype, mask in (
        ("mha", 4, torch.float64, None),
        ("mha_causal", 2, torch.float64, blocked),
        ("mha_one_head_f32", 1, torch.float32, None),
    ):
        layer = nn.MultiheadAttention(8, n_heads, bias=False, batch_first=True, dtype=dtype)
        x = torch.randn(2, 5, 8, dtype=dtype)
        output, weights = layer(x, x, x, attn_mask=mask, need_weights=True, average_attn_weights=False)
        w_q, w_k, w_v = (part.T for part in layer.in_proj_weight.chunk(3))
        yield (
            name,
            {
                "x": x,
                "w_q": w_q,
                "w_k": w_k,
                "w_v": w_v,
                "w_o": layer.out_proj.weight.T,
                "n_heads": torch.tensor(n_heads),
                "weights": weights,
                "mha": output,
            }
            | ({} if mask is None else {"allowed": ~mask}),
        )
    yield "grouped", grouped_heads(n_heads=4, n_kv_heads=2)


def grouped_heads(n_heads: int, n_kv_heads: int) -> Case:
    """Projections by hand, with d_v != d_k; the attention by PyTorch's enable_gqa."""
    d_in, d_k, d_v = 6, 4, 3
    x = torch.randn(2, 5, d_in, dtype=torch.float64)
    w_q, w_k, w_v, w_o = (
        torch.randn(shape, dtype=torch.float64)
        for shape in (
            (d_in, n_heads * d_k),
            (d_in, n_kv_heads * d_k),
            (d_in, n_kv_heads * d_v),
            (n_heads * d_v, 8),
        )
    )
    q = (x @ w_q).view(2, 5, n_heads, d_k).transpose(1, 2)
    k = (x @ w_k).view(2, 5, n_kv_heads, d_k).transpose(1, 2)
    v = (x @ w_v).view(2, 5, n_kv_heads, d_v).transpose(1, 2)
    heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    concat = heads.transpose(1, 2).reshape(2, 5, n_heads * d_v)
    numbers = {"n_heads": torch.tensor(n_heads), "n_kv_heads": torch.tensor(n_kv_heads)}
    weights = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    return {"x": x, **weights, **numbers, "heads": heads, "concat": concat, "mha": concat @ w_o}


if __name__ == "__main__":
    np.savez_compressed(FILE, allow_pickle=False, **make())
