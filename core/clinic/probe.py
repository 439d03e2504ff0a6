"""Inputs on which every known fault shows, and a check of a function by them."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.clinic.diagnosis import diagnose

#: sizes of which no two agree and none is the square of another, so that no scale hides another
BATCH, N_HEADS, N_Q, N_K, D_K, D_V = 2, 3, 7, 11, 12, 10


@dataclass(frozen=True, slots=True)
class Probe:
    """Arrays to run through an attention, and what they are meant for."""

    name: str
    arrays: dict[str, np.ndarray]
    meta: dict[str, object]
    large: bool = False  # scores so large that only overflow shows


def probe(
    *,
    causal: bool = False,
    padding: bool = False,
    square: bool = True,
    n_heads: int = N_HEADS,
    n_kv_heads: int | None = None,
    dtype: str = "float64",
    size: float = 1.0,
    seed: int = 0,
) -> Probe:
    """q (2, h, n_q, 12), k (2, h_kv, 11, 12), v (2, h_kv, 11, 10 or 12), and key_keep (2, 11) with padding.

    Square ones have n_q = n_k and d_v = d_k, so that swapped tensors fit too. `size` multiplies q.
    """
    random = np.random.default_rng(seed)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    n_q, d_v = (N_K, D_K) if square else (N_Q, D_V)
    shapes = {
        "q": (BATCH, n_heads, n_q, D_K),
        "k": (BATCH, n_kv_heads, N_K, D_K),
        "v": (BATCH, n_kv_heads, N_K, d_v),
    }
    arrays = {name: random.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}
    arrays["q"] *= np.asarray(size, dtype)
    if padding:
        arrays["key_keep"] = np.arange(N_K) < np.array([[N_K - 3], [N_K]])
    meta = {
        "layout": "BHTD",
        "causal": causal,
        "num_heads": n_heads,
        "num_kv_heads": n_kv_heads,
        "has_padding": padding,
    }
    name = ", ".join(
        [
            dtype,
            "causal" if causal else "not causal",
            "padding" if padding else "no padding",
            f"n_q = {n_q}, n_k = {N_K}",
        ]
        + (["large scores"] if size > 1 else [])
    )
    return Probe(name, arrays, meta, large=size > 1)


def probe_npz(**settings: Any) -> bytes:
    """A probe as the bytes of an .npz. Run your attention on its q, k, v, add `out`, bring it back."""
    made = probe(**settings)
    file = io.BytesIO()
    whole: dict[str, Any] = {**made.arrays, "meta": np.array(json.dumps(made.meta))}
    np.savez(file, **whole)
    return file.getvalue()


def assert_attention(
    function: Callable[..., object],
    *,
    causal: bool = False,
    padding: bool = False,
    n_heads: int = N_HEADS,
    n_kv_heads: int | None = None,
    square_only: bool = False,
    dtypes: tuple[str, ...] = ("float64", "float32", "float16"),
    convert: Callable[[np.ndarray], object] = lambda array: array,
    layout: str = "BHTD",
    **beliefs: Any,
) -> None:
    """Fail with the diagnosis unless function(q, k, v) is scaled dot-product attention.

    function(q, k, v), or function(q, k, v, key_keep) with padding=True, takes arrays in `layout`
    (BHTD or BTHD), key_keep (B, n_k) bool with True = a real token, and returns the output (or a
    tuple that starts with it).
    `convert` makes its inputs from NumPy arrays, as torch.from_numpy. It is called with equal and
    (unless square_only) unequal numbers of queries and keys, in each of dtypes, and with scores
    large enough that exp overflows without the maximum subtracted. `beliefs` are more keywords of
    diagnose(): scale, causal_alignment, ...
    """
    for made in _probes(causal, padding, n_heads, n_kv_heads, square_only, dtypes):
        arrays = _laid_out(made.arrays, layout)
        given = {name: convert(array) for name, array in arrays.items()}
        output = function(*given.values())
        output = output[0] if isinstance(output, tuple) else output
        meta = {**made.meta, "layout": layout}
        answer = diagnose({**arrays, "out": output, "meta": np.array(json.dumps(meta))}, **beliefs)
        fine = ("correct", "undetermined") if made.large else ("correct",)
        if answer.verdict not in fine:
            raise AssertionError(f"on {made.name}:\n{answer.as_text()}")


def _probes(
    causal: bool,
    padding: bool,
    n_heads: int,
    n_kv_heads: int | None,
    square_only: bool,
    dtypes: tuple[str, ...],
) -> list[Probe]:
    common: dict[str, Any] = {
        "causal": causal,
        "padding": padding,
        "n_heads": n_heads,
        "n_kv_heads": n_kv_heads,
    }
    made = [probe(dtype=dtype, **common) for dtype in dtypes]
    if not square_only:
        made.append(probe(dtype=dtypes[0], square=False, seed=1, **common))
    overflowing = {"float64": 2000.0, "float32": 200.0, "float16": 20.0}
    made += [probe(dtype=d, size=overflowing[d], seed=2, **common) for d in dtypes if d in overflowing]
    return made


def _laid_out(arrays: dict[str, np.ndarray], layout: str) -> dict[str, np.ndarray]:
    if layout == "BHTD":
        return arrays
    if layout != "BTHD":
        raise ValueError(f"layout must be BHTD or BTHD, but it is {layout!r}")
    return {name: np.ascontiguousarray(a.swapaxes(1, 2)) if a.ndim == 4 else a for name, a in arrays.items()}
