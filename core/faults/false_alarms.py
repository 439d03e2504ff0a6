"""What looks wrong and is right: other ways to write the same attention, measured on the reader's numbers."""

from dataclasses import dataclass

import numpy as np

from core.attention import attention, mask, scale, score, softmax


@dataclass(frozen=True, slots=True)
class FalseAlarm:
    """Code that is often reported as a bug, and how far its output is from the usual one's."""

    title: str
    line: str
    why: str
    difference: float  # the largest in the output, over the rows that somebody reads


def false_alarms(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray, key_is_real: np.ndarray
) -> tuple[FalseAlarm, ...]:
    """q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), allowed (n_q, n_k), key_is_real (n_k,) -> what each gives."""
    root, fourth = np.sqrt(q.shape[-1]), q.shape[-1] ** 0.25
    scaled = scale(score(q, k), q.shape[-1])
    late = softmax(scaled) * allowed
    with np.errstate(invalid="ignore"):  # 0 / 0 where all that is allowed underflowed
        made_good = late / late.sum(-1, keepdims=True)
    usual = attention(q, k, v, allowed).output
    alive = allowed.any(-1)  # rows with nothing allowed are a matter of their own
    weights = {
        "folded": softmax(mask((q / root) @ k.T, allowed)),
        "fourth": softmax(mask((q / fourth) @ (k / fourth).T, allowed)),
        "large": softmax(np.where(allowed, scaled, -1e9)),
        "late": made_good,
    }
    apart = {name: float(np.abs(a @ v - usual)[alive].max(initial=0.0)) for name, a in weights.items()}
    apart["padding"] = _padding(q, k, v, key_is_real)
    return tuple(FalseAlarm(*_WORDS[name], apart[name]) for name in _WORDS)


#: title, line of code, why it is right
_WORDS = {
    "folded": (
        "The scale is folded into q",
        "scores = (q / np.sqrt(d_k)) @ k.T",
        "Dividing q first divides every product. There is no second division: look for the first before you "
        "report a missing scale.",
    ),
    "fourth": (
        "The fourth root, on both sides",
        "scores = (q / d_k**0.25) @ (k / d_k**0.25).T",
        "The two fourth roots make one square root, and smaller numbers in between.",
    ),
    "large": (
        "−1e9 where −∞ was expected",
        "masked = np.where(allowed, scaled, -1e9)",
        "exp(−1e9) is exactly 0. It differs only in a row with nothing allowed, and in float16, which cannot "
        "hold −1e9.",
    ),
    "padding": (
        "Queries at padding are not masked",
        "allowed = key_is_real[None, :]  # keys only",
        "A padded position's own row is some average, but nobody reads it. The real rows are the same.",
    ),
    "late": (
        "A late mask, made good",
        "weights = softmax(scaled) * allowed; weights /= weights.sum(-1, keepdims=True)",
        "Dividing by what is left of the row gives the weights of a mask before softmax.",
    ),
}


def _padding(q: np.ndarray, k: np.ndarray, v: np.ndarray, key_is_real: np.ndarray) -> float:
    """Keys masked alone, beside keys and queries masked: the difference in the rows of real queries."""
    query_is_real = key_is_real[len(k) - len(q) :]
    keys_only = attention(q, k, v, np.broadcast_to(key_is_real, (len(q), len(k)))).output
    both = attention(q, k, v, query_is_real[:, None] & key_is_real).output
    return float(np.abs(keys_only - both)[query_is_real].max(initial=0.0))
