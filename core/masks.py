"""Masks as booleans: True = may attend. Combine them with & ."""

import numpy as np

from core.checks import ShapeError


def causal(n_q: int, n_k: int | None = None) -> np.ndarray:
    """-> allowed (n_q, n_k): each query sees its own position and the ones before it.

    With n_q != n_k the queries are taken to be the last n_q positions of the keys
    (lower-right aligned: query i may attend to key j when j <= i + n_k - n_q), as in
    generation with a cache. PyTorch's `is_causal=True` aligns to the top left instead
    (j <= i); `torch.nn.attention.bias.causal_lower_right` is the one drawn here.
    With n_q > n_k the first n_q - n_k rows have nothing allowed.
    """
    n_k = n_q if n_k is None else n_k
    _check_sizes(n_q, n_k)
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


def padding(key_is_real: np.ndarray) -> np.ndarray:
    """(..., n_k) bool, True = a real token -> allowed (..., 1, n_k), the same for every query.

    Only keys are hidden. A padded position's own query still gets a row; whoever
    uses the output ignores it.
    """
    key_is_real = np.asarray(key_is_real)
    if key_is_real.dtype != np.bool_:
        raise TypeError(f"key_is_real must be boolean (True = real token), but it is {key_is_real.dtype}")
    if key_is_real.ndim < 1 or key_is_real.size == 0:
        raise ShapeError(f"key_is_real needs at least one key, but its shape is {key_is_real.shape}")
    return key_is_real[..., None, :]


def sliding_window(n_q: int, n_k: int | None = None, *, width: int) -> np.ndarray:
    """-> allowed (n_q, n_k): each query sees keys fewer than `width` positions away, on both sides.

    width = 1 leaves the position itself. Aligned to the lower right like `causal`;
    `sliding_window(...) & causal(...)` is the window of a causal model.
    """
    n_k = n_q if n_k is None else n_k
    _check_sizes(n_q, n_k)
    if width < 1:
        raise ValueError(f"width must be at least 1, but it is {width}")
    position_q = np.arange(n_q)[:, None] + n_k - n_q
    position_k = np.arange(n_k)[None, :]
    return np.abs(position_q - position_k) < width


def _check_sizes(n_q: int, n_k: int) -> None:
    if n_q < 1 or n_k < 1:
        raise ShapeError(f"a mask needs at least one query and one key, but n_q = {n_q}, n_k = {n_k}")
