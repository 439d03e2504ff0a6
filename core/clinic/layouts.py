"""Arrays in any layout -> one Problem with axes (B, h, T, d), and the output that goes with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from core.clinic.beliefs import Beliefs
from core.clinic.mask_meanings import fitting_scores
from core.faults.problem import Problem
from core.files import InputError

Common = dict[str, Any]  # the fields of Problem that no layout changes


def bare_problem(fields: Mapping[str, np.ndarray], beliefs: Beliefs, layout: str) -> Problem:
    """The problem without its masks, from arrays in `layout`."""
    common: Common = {
        "rope": beliefs.rope,
        "alibi": beliefs.alibi,
        "scale": beliefs.scale,
        "softcap": beliefs.softcap,
        "sink": beliefs.sink,
        "dtype": float_format(fields),
    }
    if layout in ("X", "TBX"):
        problem = _projected_problem(fields, beliefs, layout, common)
    elif layout in ("BTD", "TBD") or (layout == "TD" and (beliefs.n_heads or 1) > 1):
        problem = _flat_problem(fields, beliefs, layout, common)
    else:
        problem = _headed_problem(fields, beliefs, layout, common)
    if "bias" in fields:
        problem = replace(problem, bias=fitting_scores("bias", fields["bias"].astype(np.float64), problem))
    if problem.rope and problem.d_k % 2:
        raise InputError(
            "shape_mismatch", f"rotary positions turn pairs of channels, but d_k = {problem.d_k} is odd"
        )
    return problem


def float_format(fields: Mapping[str, np.ndarray]) -> np.dtype:
    """The shortest floating format among the inputs: where an implementation would overflow."""
    kinds = [
        fields[n].dtype for n in ("q", "k", "v", "x", "out") if n in fields and fields[n].dtype.kind == "f"
    ]
    return min(kinds, key=lambda dtype: dtype.itemsize, default=np.dtype(np.float64))


def _real(fields: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    return fields[name].astype(np.float64)


def _qkv(fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    arrays = {name: _real(fields, name) for name in "qkv" if name in fields}
    ranks = {name: array.ndim for name, array in arrays.items()}
    if len(set(ranks.values())) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError("shape_mismatch", f"q, k and v need the same number of axes: {shapes}")
    arrays.setdefault("v", np.zeros(arrays["k"].shape))
    return arrays


def _mismatch(what: str, first: str, a: np.ndarray, second: str, b: np.ndarray) -> InputError:
    return InputError("shape_mismatch", f"{what}: {first} has shape {a.shape}, {second} has shape {b.shape}")


def _headed_problem(
    fields: Mapping[str, np.ndarray], beliefs: Beliefs, layout: str, common: Common
) -> Problem:
    given = _qkv(fields)
    arrays = {name: to_heads(array, layout) for name, array in given.items()}
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    if q.shape[0] != k.shape[0]:
        raise _mismatch("q and k need the same batch size", "q", given["q"], "k", given["k"])
    if q.shape[-1] != k.shape[-1]:
        raise _mismatch("q and k need the same width d_k", "q", given["q"], "k", given["k"])
    if k.shape[:-1] != v.shape[:-1]:
        raise _mismatch("each key needs its value", "k", given["k"], "v", given["v"])
    n_heads, n_kv_heads = q.shape[1], k.shape[1]
    if n_heads % n_kv_heads:
        raise _mismatch("the query heads cannot share the key heads evenly", "q", given["q"], "k", given["k"])
    for believed, found, what in (
        (beliefs.n_heads, n_heads, "heads"),
        (beliefs.n_kv_heads, n_kv_heads, "key/value heads"),
    ):
        if believed is not None and believed != found and beliefs.layout is not None:
            raise InputError(
                "shape_mismatch",
                f"you say {believed} {what}, but in layout {layout} the arrays have {found} (q "
                f"{given['q'].shape}, k {given['k'].shape})",
            )
    return Problem(q=q, k=k, v=v, n_heads=n_heads, n_kv_heads=n_kv_heads, **common)


def to_heads(array: np.ndarray, layout: str) -> np.ndarray:
    """Any layout with its heads apart -> (B, h, T, d)."""
    if layout == "BTHD":
        return array.swapaxes(1, 2)
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _flat_problem(fields: Mapping[str, np.ndarray], beliefs: Beliefs, layout: str, common: Common) -> Problem:
    given = _qkv(fields)
    arrays = {name: to_batch(array, layout) for name, array in given.items()}
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    n_heads = beliefs.n_heads or 1
    n_kv_heads = beliefs.n_kv_heads or _guessed_kv_heads(q, k, n_heads)
    if q.shape[0] != k.shape[0]:
        raise _mismatch("q and k need the same batch size", "q", given["q"], "k", given["k"])
    if k.shape[:2] != v.shape[:2]:
        raise _mismatch("each key needs its value", "k", given["k"], "v", given["v"])
    _check_heads("q", q, n_heads)
    _check_heads("k", k, n_kv_heads)
    _check_heads("v", v, n_kv_heads)
    if q.shape[-1] // n_heads != k.shape[-1] // n_kv_heads:
        what = f"q and k need the same width d_k ({n_heads} heads, {n_kv_heads} key/value heads)"
        raise _mismatch(what, "q", given["q"], "k", given["k"])
    _check_groups(n_heads, n_kv_heads)
    return Problem(q=q, k=k, v=v, n_heads=n_heads, n_kv_heads=n_kv_heads, flat=True, merged=True, **common)


def _guessed_kv_heads(q: np.ndarray, k: np.ndarray, n_heads: int) -> int:
    d_k = q.shape[-1] // n_heads
    return k.shape[-1] // d_k if d_k and k.shape[-1] < q.shape[-1] and k.shape[-1] % d_k == 0 else n_heads


def to_batch(array: np.ndarray, layout: str) -> np.ndarray:
    """(T, d), (B, T, d) or (T, B, d) -> (B, T, d)."""
    if layout in ("TBD", "TBX") and array.ndim == 3:
        return array.swapaxes(0, 1)
    return array.reshape((1,) * (3 - array.ndim) + array.shape)


def _check_heads(name: str, array: np.ndarray, n_heads: int) -> None:
    if n_heads < 1 or array.shape[-1] % n_heads:
        raise InputError(
            "shape_mismatch",
            f"{name} is {array.shape[-1]} wide and cannot be cut into {n_heads} heads ({name} {array.shape})",
        )


def _check_groups(n_heads: int, n_kv_heads: int) -> None:
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise InputError(
            "shape_mismatch", f"{n_heads} query heads cannot share {n_kv_heads} key/value heads evenly"
        )


def _projected_problem(
    fields: Mapping[str, np.ndarray], beliefs: Beliefs, layout: str, common: Common
) -> Problem:
    given = fields["x"]
    if given.ndim not in (2, 3):
        raise InputError("shape_mismatch", f"x must be (T, D) or (B, T, D), but its shape is {given.shape}")
    projections = _projections(fields, given, transposed=beliefs.weights_as == "x @ w.T")
    n_heads = beliefs.n_heads or 1
    n_kv_heads = _projected_kv_heads(projections, n_heads, beliefs.n_kv_heads)
    return Problem(
        q=None,
        k=None,
        v=None,
        x=to_batch(_real(fields, "x"), layout),
        projections=projections,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        merged=True,
        **common,
    )


def _projections(fields: Mapping[str, np.ndarray], x: np.ndarray, transposed: bool) -> dict[str, np.ndarray]:
    """The projections and biases, to be used as x @ w + b, once they are known to fit x."""
    names = [name for name in ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo") if name in fields]
    found = {name: _real(fields, name) for name in names}
    for name, array in found.items():
        if array.ndim != (2 if name[0] == "w" else 1):
            raise InputError(
                "shape_mismatch", f"{name} has the wrong number of axes: its shape is {array.shape}"
            )
    if transposed:
        found = {name: array.T for name, array in found.items()}  # a bias has one axis and stays
    for name in ("wq", "wk", "wv"):
        if found[name].shape[0] != x.shape[-1]:
            raise _mismatch(f"x and {name} do not fit as x @ {name}", "x", x, name, found[name])
    for name, array in found.items():
        if name[0] == "b" and array.shape[0] != found.get("w" + name[1], array[None]).shape[1]:
            weight = found["w" + name[1]]
            raise _mismatch("a bias needs the width of its projection", "w" + name[1], weight, name, array)
    return found


def _projected_kv_heads(projections: dict[str, np.ndarray], n_heads: int, stated: int | None) -> int:
    """The number of key/value heads that the widths of the projections give, if they fit."""
    widths = {name: projections[name].shape[1] for name in ("wq", "wk", "wv")}
    _check_heads("x @ wq", np.empty((0, widths["wq"])), n_heads)
    n_kv_heads = stated or max(1, n_heads * widths["wk"] // widths["wq"])
    _check_groups(n_heads, n_kv_heads)
    for name in ("wk", "wv"):
        _check_heads(f"x @ {name}", np.empty((0, widths[name])), n_kv_heads)
    if widths["wq"] // n_heads != widths["wk"] // n_kv_heads:
        raise _mismatch("q and k need the same width d_k", "wq", projections["wq"], "wk", projections["wk"])
    if "wo" in projections and projections["wo"].shape[0] != n_heads * (widths["wv"] // n_kv_heads):
        raise _mismatch(
            "the joined heads and wo do not fit", "wv", projections["wv"], "wo", projections["wo"]
        )
    return n_kv_heads


def _in_heads_order(out: np.ndarray, apart: tuple[int, ...], layout: str) -> np.ndarray:
    """`out` in the order of `layout`, if its axes fit only in another one or have axes of 1 in front."""
    expected = apart
    if layout == "BTHD":
        expected = (apart[0], apart[2], apart[1], apart[3])
    other = (expected[0], expected[2], expected[1], expected[3])
    if out.ndim == 4 and out.shape != expected and out.shape == other:
        return out.swapaxes(1, 2)
    rank = {"TD": 2, "HTD": 3}.get(layout)
    while rank is not None and out.ndim > rank and out.shape[0] == 1:
        out = out[0]
    return out


def canonical_output(out: np.ndarray, problem: Problem, layout: str) -> tuple[np.ndarray, bool]:
    """The output as (B, h, n_q, d_v), or as (B, n_q, width) and True."""
    array = out.astype(np.float64)
    apart = (problem.batch, problem.n_heads, problem.n_q, problem.d_v)
    width = (
        problem.projections["wo"].shape[1] if "wo" in problem.projections else problem.n_heads * problem.d_v
    )
    joined = (problem.batch, problem.n_q, width)
    flat_layout = layout in ("BTD", "TBD", "X", "TBX") or problem.flat
    array = _in_heads_order(array, apart, layout)
    if not flat_layout and array.ndim == {"TD": 2, "HTD": 3}.get(layout, 4):
        shaped = to_heads(array, layout)
        if shaped.shape == apart:
            return shaped, False
    if array.ndim in (2, 3) and (flat_layout or problem.n_heads > 1):
        shaped = to_batch(array, layout if layout in ("TBD", "TBX") else "BTD")
        if shaped.shape == joined:
            return shaped, True
    if array.shape == apart and flat_layout and "wo" not in problem.projections:
        return array, False
    raise InputError(
        "shape_mismatch",
        f"the output of these inputs must have shape {joined if flat_layout else apart}, but out "
        f"has shape {out.shape}",
    )


def heads_output(problem: Problem, out: np.ndarray) -> np.ndarray | None:
    """The output of each head (B, h, n_q, d_v), from one that was joined and projected."""
    if "wo" in problem.projections:
        wo = problem.projections["wo"]
        try:
            if np.linalg.matrix_rank(wo) < wo.shape[0]:
                return None
            out = (out - problem.projections.get("bo", 0.0)) @ np.linalg.pinv(wo)
        except np.linalg.LinAlgError:
            return None
    if not problem.merged:
        return out
    batch, seq_len, width = out.shape
    return out.reshape(batch, seq_len, problem.n_heads, width // problem.n_heads).swapaxes(1, 2)
