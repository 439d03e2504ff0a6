"""The shapes that a tensor passes through on its way into the heads and back, element by element."""

from dataclasses import dataclass

import numpy as np

from core.checks import ShapeError, check_divides
from core.heads import merge_heads, split_heads


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """One shape of the same numbers."""

    name: str  # the code that made it
    tensor: np.ndarray
    position: np.ndarray  # of the tensor's shape: the position (token) each element belongs to


def ladder(x: np.ndarray, n_heads: int) -> tuple[Rung, Rung, Rung, Rung]:
    """x (B, T, d_model) -> (B, T, d_model), (B, T, h, d_k), (B, h, T, d_k), (B, T, d_model) again.

    The positions are carried through the very same operations as the numbers, so a colour
    drawn from them shows where an element really came from.
    """
    if x.ndim != 3:
        raise ShapeError(f"x needs the axes (B, T, d_model), but its shape is {x.shape}")
    batch, seq_len, d_model = x.shape
    check_divides(x, n_heads)
    position = np.broadcast_to(np.arange(seq_len)[None, :, None], x.shape)
    cut = (batch, seq_len, n_heads, d_model // n_heads)
    return (
        Rung("x", x, position),
        Rung("x.reshape(B, T, h, d_k)", x.reshape(cut), position.reshape(cut)),
        Rung(".transpose(0, 2, 1, 3)", split_heads(x, n_heads), split_heads(position, n_heads)),
        Rung(
            ".transpose(0, 2, 1, 3).reshape(B, T, d_model)",
            merge_heads(split_heads(x, n_heads)),
            merge_heads(split_heads(position, n_heads)),
        ),
    )


def address(position: int, channel: int, d_model: int, n_heads: int) -> tuple[str, str, str]:
    """One element's index on the first three rungs: [0, t, c], [0, t, h, k], [0, h, t, k]."""
    if not 0 <= channel < d_model or d_model % n_heads:
        raise ShapeError(f"there is no channel {channel} in d_model = {d_model} with n_heads = {n_heads}")
    head, k = divmod(channel, d_model // n_heads)
    return (
        f"[0, {position}, {channel}]",
        f"[0, {position}, {head}, {k}]",
        f"[0, {head}, {position}, {k}]",
    )
