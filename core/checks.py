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


def as_float(array: np.ndarray) -> np.ndarray:
    """Integers as float64, for products and differences of small ones wrap around; floats as they are."""
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def check_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> q, k, v once they are known to fit; with integers as float64."""
    if _alike(q, k, v):
        check_array("q", q)
    else:
        check_query_key(q, k)
        check_array("v", v)
        _check_one_value_for_each_key("k", k.shape, k.shape[-2], v.shape)
        _check_leading("q", q.shape, "v", v.shape)
        _check_leading("k", k.shape, "v", v.shape)
    if q.dtype.kind == k.dtype.kind == v.dtype.kind == "f":
        return q, k, v
    return as_float(q), as_float(k), as_float(v)


def check_query_key(q: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-> q, k, with integers as float64. Raise unless they can be multiplied as q kᵀ."""
    check_array("q", q)
    check_array("k", k)
    _check_widths(q.shape, k.shape)
    _check_leading("q", q.shape, "k", k.shape)
    return as_float(q), as_float(k)


def check_weights_value(weights: np.ndarray, v: np.ndarray) -> None:
    """Raise unless weights (..., n_q, n_k) can blend v (..., n_k, d_v)."""
    check_array("weights", weights)
    check_array("v", v)
    _check_one_value_for_each_key("weights", weights.shape, weights.shape[-1], v.shape)
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


def check_divides(x: np.ndarray, n_heads: int) -> None:
    """Raise unless the width of x (..., T, d_model) can be cut into n_heads equal heads."""
    check_array("x", x)
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ShapeError(
            f"d_model = {x.shape[-1]} cannot be cut into n_heads = {n_heads} equal heads (x {x.shape})"
        )


def check_has_heads(x: np.ndarray) -> None:
    """Raise unless x has the axes (..., heads, T, d)."""
    check_array("x", x)
    if x.ndim < 3:
        raise ShapeError(f"x needs the axes (heads, T, d), but its shape is {x.shape}")


def check_projection(name: str, x: np.ndarray, weight_name: str, weight: np.ndarray) -> None:
    """Raise unless x (..., d_in) @ weight (d_in, d_out) is defined."""
    check_array(name, x)
    check_array(weight_name, weight)
    if x.shape[-1] != weight.shape[0]:
        raise ShapeError(
            f"{name} is {x.shape[-1]} wide, {weight_name} takes {weight.shape[0]} "
            f"({name} {x.shape}, {weight_name} {weight.shape})"
        )


def _alike(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> bool:
    """Same type, shape and dtype, as in most self-attention: what holds for q then holds for all."""
    alike = type(q) is type(k) is type(v) is np.ndarray
    return alike and q.shape == k.shape == v.shape and q.dtype == k.dtype == v.dtype


def _check_widths(q_shape: tuple[int, ...], k_shape: tuple[int, ...]) -> None:
    if q_shape[-1] != k_shape[-1]:
        raise ShapeError(
            f"q has d_k = {q_shape[-1]}, k has d_k = {k_shape[-1]}: "
            f"a dot product needs equal widths (q {q_shape}, k {k_shape})"
        )


def _check_one_value_for_each_key(
    name: str, shape: tuple[int, ...], n_keys: int, v_shape: tuple[int, ...]
) -> None:
    if n_keys != v_shape[-2]:
        raise ShapeError(
            f"there are {n_keys} keys but {v_shape[-2]} values: "
            f"each key needs its value ({name} {shape}, v {v_shape})"
        )


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
