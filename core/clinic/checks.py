"""Is everything there, are these numbers, are they finite?"""

import numpy as np

from core.clinic.names import MASK_NAMES
from core.files import InputError


def checked(fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as float64 (masks as they are), or InputError for what is missing, empty or not finite."""
    fields = split_joined_projections(fields)
    present = {name for name in fields if name not in ("meta",)}
    required = ("x", "wq", "wk", "wv") if "x" in present and "q" not in present else ("q", "k", "v")
    if required[0] == "q" and "v" not in present and "weights" in present:
        required = ("q", "k")
    missing = [name for name in required if name not in present]
    if "out" not in present and "weights" not in present:
        missing.append("out (or weights)")
    if missing:
        have = ", ".join(sorted(present)) or "no array with a known name"
        raise InputError("missing_array", f"missing: {', '.join(missing)}. The file has {have}")
    return {name: _checked_array(name, array) for name, array in fields.items() if name != "meta"}


def split_joined_projections(fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """PyTorch keeps W_Q, W_K, W_V one above the other, as (3 D, D): cut them apart."""
    fields = dict(fields)
    for joined, names in (("w_in", ("wq", "wk", "wv")), ("b_in", ("bq", "bk", "bv"))):
        if joined not in fields:
            continue
        array = np.asarray(fields.pop(joined))
        axis = 0 if array.ndim == 1 or array.shape[0] == 3 * array.shape[1] else 1
        if array.ndim not in (1, 2) or array.shape[axis] % 3:
            raise InputError(
                "shape_mismatch",
                f"{joined} holds W_Q, W_K and W_V together and needs 3 equal parts, but its shape "
                f"is {array.shape}",
            )
        fields.update(zip(names, np.split(array, 3, axis=axis), strict=True))
    return fields


def _checked_array(name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise InputError("wrong_dtype", f"{name} must hold real numbers, but its dtype is {array.dtype}")
    if array.size == 0:
        raise InputError("empty", f"{name} has an empty axis: its shape is {array.shape}")
    if name in MASK_NAMES:
        return array
    if array.dtype.kind == "b":
        raise InputError("wrong_dtype", f"{name} must hold real numbers, but it is boolean, like a mask")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    finite = np.isfinite(array)
    if name not in ("out", "weights", "bias") and not finite.all():
        place = tuple(int(i) for i in np.argwhere(~finite)[0])
        kind = "NaN" if np.isnan(array[place]) else "an infinity"
        label = "nan_in_inputs" if kind == "NaN" else "inf_in_inputs"
        raise InputError(
            label,
            f"{name} holds {kind} at {list(place)} ({np.count_nonzero(~finite)} such values): "
            "the output cannot be finite whatever the code does. Look at what made this array first",
        )
    if name == "bias" and (np.isnan(array).any() or np.isposinf(array).any()):
        raise InputError(
            "nan_in_inputs", "bias holds NaN or +inf: the output cannot be finite whatever the code does"
        )
    return array
