"""The arrays of a capture's file, one by one: found by name, checked, and brought into one form."""

import math
import sys
from collections.abc import Mapping

import numpy as np

from core.checks import ShapeError
from core.files.limits import MAX_TOKEN
from core.heads import repeat_key_value_heads
from core.masks import causal
from core.tokens import displayable

NAMES = {
    "q": ("q", "Q", "query", "queries"),
    "k": ("k", "K", "key", "keys"),
    "v": ("v", "V", "value", "values"),
    "mask": ("mask", "allowed", "attn_mask", "attention_mask"),
    "out": ("out", "output", "o", "O", "attn_output"),
    "weights": ("weights", "attn", "attention", "attn_weights", "A"),
    "tokens": ("tokens",),
    "causal": ("causal", "is_causal"),
    "scaling": ("scaling", "scale"),
    "source": ("source", "model"),
    "layer": ("layer",),
}
MAX_POSITIONS, MAX_HEADS, MAX_WIDTH = 1024, 256, 1024
MAX_NUMBER, MAX_SCALING = 1e6, 1e4  # in size: with these no score, and no square of one, leaves float32
MOST_NAMES = 12  # of a file's arrays, named in an error
MASKED_BELOW = -1e4
"""In a mask that is added to the scores, a number this low or lower means "may not attend"."""


class CaptureError(ValueError):
    """The file is no usable capture; the message says what was expected and what was found."""


def find_all(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray | None]:
    """Each of NAMES -> its array, or None; CaptureError without q, k and v."""
    found = {name: _find(arrays, name) for name in NAMES}
    missing = [name for name in ("q", "k", "v") if found[name] is None]
    if missing:
        raise CaptureError(
            f"a capture needs q, k and v, but {' and '.join(missing)} cannot be found among "
            f"{_listed(arrays)}; accepted names are, for example, "
            f"{', '.join(NAMES[missing[0]])}"
        )
    return found


def _listed(arrays: Mapping[str, np.ndarray]) -> str:
    """The first names of a file that holds others than were expected."""
    names = [displayable(name, 40) for name in sorted(arrays)]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}" if names else "no arrays"


def _find(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray | None:
    given = [alias for alias in NAMES[name] if alias in arrays]
    if len(given) > 1:
        raise CaptureError(f"{' and '.join(given)} both stand for {name}: the file may hold one of them only")
    return arrays[given[0]] if given else None


def heads_first(name: str, array: np.ndarray) -> np.ndarray:
    """(T, d), (h, T, d) or (1, h, T, d) -> (h, T, d), as float32 or float64."""
    expected = f"{name} needs the axes (heads, positions, width)"
    if array.dtype.kind not in "fiu":
        raise CaptureError(f"{expected} and real numbers, but its dtype is {array.dtype}")
    shape = array.shape
    if array.ndim == 4 and len(array) != 1:
        raise CaptureError(
            f"{expected}; a batch axis before them must be 1, but the shape is {shape}: save one sentence"
        )
    array = array[0] if array.ndim == 4 else array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.size == 0:
        raise CaptureError(f"{expected}, none of them empty, but its shape is {shape}")
    n_heads, seq_len, width = array.shape
    if n_heads > MAX_HEADS or seq_len > MAX_POSITIONS or width > MAX_WIDTH:
        raise CaptureError(
            f"{name} may have {MAX_HEADS} heads, {MAX_POSITIONS} positions and width {MAX_WIDTH} at most, "
            f"but its shape is {shape}"
        )
    array = array.astype(np.float64 if array.dtype.itemsize > 4 or array.dtype.kind != "f" else np.float32)
    usable = np.abs(array) <= MAX_NUMBER  # NaN is not
    if not usable.all():
        where = tuple(int(i) for i in np.argwhere(~usable)[0])
        raise CaptureError(
            f"{name} must be finite and {MAX_NUMBER:,.0f} at most in size, "
            f"but at (head, position, channel) {where} it is {array[where]}"
        )
    return array


def check_shapes(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    """Raise CaptureError unless q (h, n_q, d_k), k (h_kv, n_k, d_k) and v (h_kv, n_k, d_v) fit together."""
    shapes = f"(q {q.shape}, k {k.shape}, v {v.shape})"
    if q.shape[-1] != k.shape[-1]:
        raise CaptureError(
            f"q and k must be equally wide, but q has {q.shape[-1]}, k has {k.shape[-1]} {shapes}"
        )
    if k.shape[1] != v.shape[1]:
        raise CaptureError(
            f"each key needs a value, but there are {k.shape[1]} keys, {v.shape[1]} values {shapes}"
        )
    if len(k) != len(v):
        raise CaptureError(
            f"k and v must have equally many heads, but k has {len(k)}, v has {len(v)} {shapes}"
        )
    if q.shape[1] > k.shape[1]:
        raise CaptureError(f"there are more queries ({q.shape[1]}) than keys ({k.shape[1]}) {shapes}")
    try:
        repeat_key_value_heads(k, len(q))
    except ShapeError:
        raise CaptureError(
            f"the query heads must be a multiple of the key/value heads, but there are {len(q)} and {len(k)} "
            f"{shapes}; if an axis is not heads first, transpose to (heads, positions, width)"
        ) from None


def allowed(
    given: np.ndarray | None, is_causal: np.ndarray | None, h: int, n_q: int, n_k: int, assumed: list[str]
) -> np.ndarray | None:
    """-> (1 or h, n_q, n_k) bool, or None where everything is allowed."""
    allowed = None
    if given is not None:
        allowed = _mask(given, h, n_q, n_k)
        if given.dtype.kind in "biu":
            assumed.append("In the mask, True (or 1) was taken to mean: may attend.")
    if is_causal is not None and _flag("causal", is_causal):
        below = causal(n_q, n_k)[None]
        allowed = below if allowed is None else allowed & below
    if given is None and is_causal is None:
        assumed.append("The file holds no mask and no causal flag, so every query may see every key.")
    if allowed is not None and not allowed.any(axis=-1).all():
        head, row = (int(i) for i in np.argwhere(~allowed.any(axis=-1))[0])
        raise CaptureError(
            f"query {row} (head {head}) may attend to no key: its softmax would be 0/0. "
            f"True means may attend here; nn.MultiheadAttention's masks mean the opposite, invert those"
        )
    return allowed


def _mask(given: np.ndarray, h: int, n_q: int, n_k: int) -> np.ndarray:
    """A boolean, 0/1 or additive mask -> allowed (1 or h, n_q, n_k)."""
    shape = given.shape
    if given.ndim == 4 and len(given) == 1:
        given = given[0]
    if given.shape in ((n_k,), (1, n_k)):  # one entry for each key: padding
        given = np.broadcast_to(given.reshape(1, n_k), (n_q, n_k))
    given = given[None] if given.ndim == 2 else given
    if given.shape not in ((1, n_q, n_k), (h, n_q, n_k)):
        raise CaptureError(
            f"the mask needs the shape ({n_q}, {n_k}), ({h}, {n_q}, {n_k}) or, for padding, ({n_k},), "
            f"but its shape is {shape}"
        )
    if given.dtype.kind == "b":
        return given
    if given.dtype.kind in "iu" and np.isin(given, (0, 1)).all():
        return given == 1
    if given.dtype.kind == "f" and ((given == 0) | (given <= MASKED_BELOW)).all():
        return given == 0
    raise CaptureError(
        f"the mask must be boolean, 0 and 1 as whole numbers, or numbers to add that are 0 or at most "
        f"{MASKED_BELOW:g}; it is {given.dtype} and holds others "
        "(a bias such as ALiBi is not one of the four steps)"
    )


def scaling(given: np.ndarray | None, d_k: int, assumed: list[str]) -> float:
    """-> the factor of the scores; 1/√d_k, and a word to `assumed`, where the file holds none."""
    if given is None:
        assumed.append(f"The file holds no scaling, so the scores were divided by √d_k = √{d_k}.")
        return 1 / math.sqrt(d_k)
    if given.size != 1 or given.dtype.kind not in "fiu":
        raise CaptureError(f"scaling must be one number, but it has shape {given.shape}, dtype {given.dtype}")
    scaling = float(given.reshape(()))
    if not abs(scaling) <= MAX_SCALING:
        raise CaptureError(f"scaling must be {MAX_SCALING:,.0f} at most in size, but it is {scaling}")
    return scaling


def tokens(given: np.ndarray | None, n_k: int) -> tuple[str, ...]:
    """-> n_k words that can be shown; numbers where the file holds none."""
    if given is None:
        return tuple(str(i) for i in range(n_k))
    if given.dtype.kind != "U" or given.shape != (n_k,):
        raise CaptureError(
            f"tokens must be {n_k} texts, one for each key, "
            f"but they have shape {given.shape}, dtype {given.dtype}"
        )
    if given.size and given.view("<u4" if given.dtype.isnative else ">u4").max(initial=0) > sys.maxunicode:
        raise CaptureError("tokens holds characters that do not exist")
    return tuple(displayable(str(token), MAX_TOKEN) for token in given)


def out(given: np.ndarray | None, shape: tuple[int, int, int]) -> np.ndarray | None:
    """(h, n_q, d_v), (n_q, h, d_v) or side by side (n_q, h d_v), maybe after a 1 -> (h, n_q, d_v)."""
    if given is None:
        return None
    _check_numbers("out", given)
    h, n_q, d_v = shape
    out = given[0] if given.ndim > 2 and len(given) == 1 and given.shape != shape else given
    if out.shape == shape:
        return out
    if out.shape in ((n_q, h, d_v), (n_q, h * d_v)):
        return out.reshape(n_q, h, d_v).swapaxes(0, 1)
    raise CaptureError(
        f"out needs the shape {shape}, or {(n_q, h * d_v)} with the heads side by side, before W_O; "
        f"its shape is {given.shape}"
    )


def weights(given: np.ndarray | None, shape: tuple[int, int, int]) -> np.ndarray | None:
    """(h, n_q, n_k), or with a 1 in front, or of one head (n_q, n_k) -> (h, n_q, n_k)."""
    if given is None:
        return None
    _check_numbers("weights", given)
    weights = given[0] if given.ndim == 4 and len(given) == 1 else given[None] if given.ndim == 2 else given
    if weights.shape != shape:
        raise CaptureError(f"the weights need the shape {shape}, but their shape is {given.shape}")
    return weights


def _check_numbers(name: str, given: np.ndarray) -> None:
    if given.dtype.kind not in "fiu":
        raise CaptureError(f"{name} must hold real numbers, but its dtype is {given.dtype}")


def _flag(name: str, given: np.ndarray) -> bool:
    if given.size != 1 or given.dtype.kind not in "biu":
        raise CaptureError(
            f"{name} must be one True or False, but it has shape {given.shape}, dtype {given.dtype}"
        )
    return bool(given.reshape(()))


def text(given: np.ndarray | None) -> str:
    """-> one line that can be shown; empty where the file holds none."""
    words = "" if given is None or given.size != 1 else str(given.reshape(()))
    return displayable(words, 200) if words else ""
