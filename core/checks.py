"""Refuse input that attention is not defined for, in sentences that name what was found."""

import numpy as np


class ShapeError(ValueError):
    """The arrays do not fit together; the message holds the shapes."""


def check_array(name: str, array: object) -> None:
    """Raise unless `array` is a real-numbered NumPy array of rank 2 or more with no empty axis."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, but it is a {type(array).__name__}")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must hold real numbers, but its dtype is {array.dtype}")
    if array.ndim < 2:
        raise ShapeError(f"{name} needs at least 2 axes (rows, width), but its shape is {array.shape}")
    if array.size == 0:
        raise ShapeError(f"{name} has an empty axis: its shape is {array.shape}")


def check_query_key(q: np.ndarray, k: np.ndarray) -> None:
    """Raise unless q (..., n_q, d_k) and k (..., n_k, d_k) can be multiplied as q kᵀ."""
    check_array("q", q)
    check_array("k", k)
    if q.shape[-1] != k.shape[-1]:
        raise ShapeError(
            f"q has d_k = {q.shape[-1]}, k has d_k = {k.shape[-1]}: "
            f"a dot product needs equal widths (q {q.shape}, k {k.shape})"
        )
    _check_leading("q", q.shape, "k", k.shape)


def check_weights_value(weights: np.ndarray, v: np.ndarray) -> None:
    """Raise unless weights (..., n_q, n_k) can blend v (..., n_k, d_v)."""
    check_array("weights", weights)
    check_array("v", v)
    if weights.shape[-1] != v.shape[-2]:
        raise ShapeError(
            f"there are {weights.shape[-1]} keys but {v.shape[-2]} values: "
            f"each key needs its value (weights {weights.shape}, v {v.shape})"
        )
    _check_leading("weights", weights.shape, "v", v.shape)


def check_allowed(allowed: object, scores_shape: tuple[int, ...]) -> None:
    """Raise unless `allowed` is a boolean mask that broadcasts to the scores' shape."""
    if not isinstance(allowed, np.ndarray) or allowed.dtype != np.bool_:
        found = getattr(allowed, "dtype", type(allowed).__name__)
        raise TypeError(f"allowed must be a boolean array (True = may attend), but it is {found}")
    try:
        fits = np.broadcast_shapes(allowed.shape, scores_shape) == scores_shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"allowed has shape {allowed.shape}, the scores have shape {scores_shape}")


def _check_leading(name_a: str, shape_a: tuple[int, ...], name_b: str, shape_b: tuple[int, ...]) -> None:
    """Raise unless all but the last two axes broadcast."""
    if shape_a[:-2] == shape_b[:-2]:
        return
    try:
        np.broadcast_shapes(shape_a[:-2], shape_b[:-2])
    except ValueError:
        raise ShapeError(
            f"the leading axes (batch, heads) do not fit: {name_a} has shape {shape_a}, "
            f"{name_b} has shape {shape_b}"
        ) from None
