"""What the handed-in arrays may mean: names, layouts, masks, and what the owner believes.

A Reading is one consistent meaning: a Problem and the arrays that its computation must
reproduce. Where the owner did not say, there are several readings, the likeliest first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.clinic.errors import InputError
from core.clinic.precision import Target
from core.faults.problem import Problem

LAYOUTS = ("TD", "HTD", "BTD", "TBD", "BHTD", "BTHD", "X", "TBX")

#: the field of an array, and the names it is known by (lower case, "." and "-" read as "_")
ALIASES = {
    "q": ("q", "query", "queries", "q_heads"),
    "k": ("k", "key", "keys"),
    "v": ("v", "value", "values"),
    "out": ("out", "output", "o", "y", "result", "attn_output", "attention_output", "context", "context_layer"),
    "weights": ("weights", "attn", "attn_weights", "attention", "attention_weights", "attentions", "probs", "attn_probs", "a"),
    "mask": ("mask", "attn_mask", "allowed", "bias_mask"),
    "key_keep": ("key_keep", "key_is_real", "attention_mask", "keep", "key_mask"),
    "key_hide": ("key_padding_mask", "padding_mask", "pad_mask", "key_hide", "src_key_padding_mask"),
    "bias": ("bias", "attn_bias", "position_bias", "score_bias"),
    "x": ("x", "input", "inputs", "hidden_states", "embeddings"),
    "wq": ("wq", "w_q", "q_proj", "query_proj", "to_q", "wq_weight"),
    "wk": ("wk", "w_k", "k_proj", "key_proj", "to_k"),
    "wv": ("wv", "w_v", "v_proj", "value_proj", "to_v"),
    "wo": ("wo", "w_o", "o_proj", "out_proj", "to_out", "c_proj"),
    "bq": ("bq", "b_q", "q_proj_bias", "q_bias"),
    "bk": ("bk", "b_k", "k_proj_bias", "k_bias"),
    "bv": ("bv", "b_v", "v_proj_bias", "v_bias"),
    "bo": ("bo", "b_o", "o_proj_bias", "out_proj_bias", "o_bias"),
    "w_in": ("in_proj", "w_qkv", "wqkv", "qkv_proj", "c_attn"),
    "b_in": ("in_proj_bias", "b_qkv", "qkv_bias", "qkv_proj_bias"),
    "meta": ("meta", "metadata", "believed"),
}  # fmt: skip
FIELD_OF = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
MASK_NAMES = ("mask", "key_keep", "key_hide")


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What the owner says; None where nothing was said."""

    layout: str | None = None
    causal: bool | None = None
    n_heads: int | None = None
    n_kv_heads: int | None = None
    has_padding: bool | None = None
    rope: bool = False
    alibi: bool = False
    scale: float | None = None
    causal_alignment: str | None = None  # "lower_right" (the default) or "top_left"
    mask_true: str | None = None  # what True means in a boolean mask: "keep" or "hide"
    weights_as: str | None = None  # "x @ w" or "x @ w.T" (nn.Linear's own weights)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    problem: Problem
    targets: tuple[Target, ...]
    notes: tuple[str, ...] = ()  # what had to be assumed
    other_weights: np.ndarray | None = None  # weights in a shape that the heads' own do not have


def field_of(name: str) -> str | None:
    """The field that an array's name stands for, as "q" for "attn.Query"; None if unknown."""
    plain = name.strip().lower().replace(".", "_").replace("-", "_").replace(" ", "_")
    for ending in ("", "_weight", "_tensor", "_states", "_layer"):
        if plain.endswith(ending) and plain.removesuffix(ending) in FIELD_OF:
            return FIELD_OF[plain.removesuffix(ending)]
    parts = plain.split("_")
    for start in range(1, len(parts)):  # a module's path in front: "layers_0_attn_q_proj_weight"
        rest = "_".join(parts[start:])
        if len(rest) > 1 and (found := FIELD_OF.get(rest) or FIELD_OF.get(rest.removesuffix("_weight"))):
            return found
    return None


def named(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays under their fields' names; unknown names are left out."""
    fields: dict[str, np.ndarray] = {}
    origin: dict[str, str] = {}
    for name, array in arrays.items():
        known = field_of(name)
        if known is None:
            continue
        if known in fields:
            raise InputError(
                "duplicate_array",
                f"two arrays, {origin[known]!r} and {name!r}, can both be {known}: keep one of them",
            )
        fields[known], origin[known] = array, name
    return fields


# --- checks ----------------------------------------------------------------------------------------


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
    return {name: checked_array(name, array) for name, array in fields.items() if name != "meta"}


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
                f"{joined} holds W_Q, W_K and W_V together and needs 3 equal parts, but its shape is {array.shape}",
            )
        fields.update(zip(names, np.split(array, 3, axis=axis), strict=True))
    return fields


def checked_array(name: str, array: np.ndarray) -> np.ndarray:
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


# --- readings ----------------------------------------------------------------------------------------


def readings(fields: dict[str, np.ndarray], beliefs: Beliefs) -> list[Reading]:
    """All meanings that fit the shapes, the likeliest first; InputError if none does."""
    found: list[Reading] = []
    first_error: InputError | None = None
    for layout in layouts(fields, beliefs):
        try:
            found.extend(_readings_of_layout(fields, beliefs, layout))
        except InputError as error:
            first_error = first_error or error
    if not found:
        raise first_error or InputError("shape_mismatch", "the shapes of the arrays fit no known layout")
    return found


def layouts(fields: Mapping[str, np.ndarray], beliefs: Beliefs) -> tuple[str, ...]:
    if "q" not in fields:
        return (beliefs.layout,) if beliefs.layout in ("X", "TBX") else ("X",)
    rank = fields["q"].ndim
    if rank not in (2, 3, 4):
        raise InputError(
            "shape_mismatch",
            f"q must have 2, 3 or 4 axes (heads and batch in front), but its shape is {fields['q'].shape}",
        )
    stated = beliefs.layout
    if stated is not None and stated not in LAYOUTS:
        raise InputError("meta", f"the layout must be one of {', '.join(LAYOUTS)}, but it is {stated!r}")
    expected = {"TD": 2, "HTD": 3, "BTD": 3, "TBD": 3, "BHTD": 4, "BTHD": 4}
    if stated in expected:
        if rank != expected[stated]:
            raise InputError(
                "shape_mismatch",
                f"layout {stated} has {expected[stated]} axes, but q has shape {fields['q'].shape}",
            )
        return (stated,)
    if rank == 2:
        return ("TD",)
    if rank == 3:
        first = fields["q"].shape[0]
        return ("HTD",) if beliefs.n_heads == first and first > 1 else ("BTD", "HTD")
    return ("BHTD", "BTHD")


def _readings_of_layout(fields, beliefs: Beliefs, layout: str) -> Iterator[Reading]:
    if layout in ("X", "TBX") and beliefs.weights_as is None and beliefs.layout is None:
        yield from either_weights(fields, beliefs, layout)
        return
    base = bare_problem(fields, beliefs, layout)
    causals = (beliefs.causal,) if beliefs.causal is not None else (False, True)
    for mask_fields, mask_notes in mask_meanings(fields, beliefs, base):
        for causal in causals:
            if causal and base.n_q == 1 and beliefs.causal is None:
                continue
            problem = replace(
                base, causal=bool(causal), causal_known=beliefs.causal is not None,
                top_left=beliefs.causal_alignment == "top_left", **mask_fields,
            )  # fmt: skip
            causal_note = () if beliefs.causal is not None else ("causal" if causal else "not causal",)
            yield from with_targets(fields, problem, layout, (*mask_notes, *causal_note))


def either_weights(fields, beliefs: Beliefs, layout: str) -> Iterator[Reading]:
    """Nobody said how the projections are used: x @ w as in the paper, or x @ w.T as nn.Linear keeps them."""
    found = 0
    for weights_as in ("x @ w", "x @ w.T"):
        try:
            for reading in _readings_of_layout(fields, replace(beliefs, weights_as=weights_as), layout):
                found += 1
                yield replace(reading, notes=(f"projections used as {weights_as}", *reading.notes))
        except InputError:
            if weights_as == "x @ w.T" and not found:
                raise


def with_targets(fields, problem: Problem, layout: str, notes: tuple[str, ...]) -> Iterator[Reading]:
    targets = []
    if "out" in fields:
        out, merged = canonical_output(fields["out"], problem, layout)
        problem = replace(problem, merged=merged)
        targets.append(Target("output", out))
    other = None
    if "weights" in fields:
        weights = fields["weights"].astype(np.float64)
        shape = (problem.batch, problem.n_heads, problem.n_q, problem.n_k)
        if weights.ndim >= 2 and weights.size == np.prod(shape) and weights.shape[-2:] == shape[-2:]:
            targets.append(Target("weights", weights.reshape(shape)))
        else:
            other = weights
            if not targets:
                raise InputError(
                    "shape_mismatch", f"weights must have shape {shape}, but it is {weights.shape}"
                )
    yield Reading(problem, tuple(targets), notes, other)


def bare_problem(fields, beliefs: Beliefs, layout: str) -> Problem:
    """The problem without its masks, from arrays in `layout`."""
    common = {
        "rope": beliefs.rope,
        "alibi": beliefs.alibi,
        "scale": beliefs.scale,
        "dtype": float_format(fields),
    }
    if layout in ("X", "TBX"):
        problem = projected_problem(fields, beliefs, layout, common)
    elif layout in ("BTD", "TBD") or (layout == "TD" and (beliefs.n_heads or 1) > 1):
        problem = flat_problem(fields, beliefs, layout, common)
    else:
        problem = headed_problem(fields, beliefs, layout, common)
    if "bias" in fields:
        problem = replace(problem, bias=fitting_scores("bias", fields["bias"].astype(np.float64), problem))
    if problem.rope and problem.d_k % 2:
        raise InputError(
            "shape_mismatch", f"rotary positions turn pairs of channels, but d_k = {problem.d_k} is odd"
        )
    return problem


def float_format(fields) -> np.dtype:
    """The shortest floating format among the inputs: where an implementation would overflow."""
    kinds = [
        fields[n].dtype for n in ("q", "k", "v", "x", "out") if n in fields and fields[n].dtype.kind == "f"
    ]
    return min(kinds, key=lambda dtype: dtype.itemsize, default=np.dtype(np.float64))


def real(fields, name: str) -> np.ndarray:
    return fields[name].astype(np.float64)


def qkv(fields) -> dict[str, np.ndarray]:
    arrays = {name: real(fields, name) for name in "qkv" if name in fields}
    ranks = {name: array.ndim for name, array in arrays.items()}
    if len(set(ranks.values())) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError("shape_mismatch", f"q, k and v need the same number of axes: {shapes}")
    arrays.setdefault("v", np.zeros(arrays["k"].shape))
    return arrays


def mismatch(what: str, first: str, a: np.ndarray, second: str, b: np.ndarray) -> InputError:
    return InputError("shape_mismatch", f"{what}: {first} has shape {a.shape}, {second} has shape {b.shape}")


def headed_problem(fields, beliefs: Beliefs, layout: str, common) -> Problem:
    given = qkv(fields)
    arrays = {name: to_heads(array, layout) for name, array in given.items()}
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    if q.shape[0] != k.shape[0]:
        raise mismatch("q and k need the same batch size", "q", given["q"], "k", given["k"])
    if q.shape[-1] != k.shape[-1]:
        raise mismatch("q and k need the same width d_k", "q", given["q"], "k", given["k"])
    if k.shape[:-1] != v.shape[:-1]:
        raise mismatch("each key needs its value", "k", given["k"], "v", given["v"])
    n_heads, n_kv_heads = q.shape[1], k.shape[1]
    if n_heads % n_kv_heads:
        raise mismatch("the query heads cannot share the key heads evenly", "q", given["q"], "k", given["k"])
    for believed, found, what in (
        (beliefs.n_heads, n_heads, "heads"),
        (beliefs.n_kv_heads, n_kv_heads, "key/value heads"),
    ):
        if believed is not None and believed != found and beliefs.layout is not None:
            raise InputError(
                "shape_mismatch",
                f"you say {believed} {what}, but in layout {layout} the arrays have {found} (q {given['q'].shape}, k {given['k'].shape})",
            )
    return Problem(q=q, k=k, v=v, n_heads=n_heads, n_kv_heads=n_kv_heads, **common)


def to_heads(array: np.ndarray, layout: str) -> np.ndarray:
    """Any layout with its heads apart -> (B, h, T, d)."""
    if layout == "BTHD":
        return array.swapaxes(1, 2)
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def flat_problem(fields, beliefs: Beliefs, layout: str, common) -> Problem:
    given = qkv(fields)
    arrays = {name: to_batch(array, layout) for name, array in given.items()}
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    n_heads = beliefs.n_heads or 1
    n_kv_heads = beliefs.n_kv_heads or guessed_kv_heads(q, k, n_heads)
    if q.shape[0] != k.shape[0]:
        raise mismatch("q and k need the same batch size", "q", given["q"], "k", given["k"])
    if k.shape[:2] != v.shape[:2]:
        raise mismatch("each key needs its value", "k", given["k"], "v", given["v"])
    check_heads("q", q, n_heads)
    check_heads("k", k, n_kv_heads)
    check_heads("v", v, n_kv_heads)
    if q.shape[-1] // n_heads != k.shape[-1] // n_kv_heads:
        what = f"q and k need the same width d_k ({n_heads} heads, {n_kv_heads} key/value heads)"
        raise mismatch(what, "q", given["q"], "k", given["k"])
    check_groups(n_heads, n_kv_heads)
    return Problem(q=q, k=k, v=v, n_heads=n_heads, n_kv_heads=n_kv_heads, flat=True, merged=True, **common)


def guessed_kv_heads(q: np.ndarray, k: np.ndarray, n_heads: int) -> int:
    d_k = q.shape[-1] // n_heads
    return k.shape[-1] // d_k if d_k and k.shape[-1] < q.shape[-1] and k.shape[-1] % d_k == 0 else n_heads


def to_batch(array: np.ndarray, layout: str) -> np.ndarray:
    """(T, d), (B, T, d) or (T, B, d) -> (B, T, d)."""
    if layout in ("TBD", "TBX") and array.ndim == 3:
        return array.swapaxes(0, 1)
    return array.reshape((1,) * (3 - array.ndim) + array.shape)


def check_heads(name: str, array: np.ndarray, n_heads: int) -> None:
    if n_heads < 1 or array.shape[-1] % n_heads:
        raise InputError(
            "shape_mismatch",
            f"{name} is {array.shape[-1]} wide and cannot be cut into {n_heads} heads ({name} {array.shape})",
        )


def check_groups(n_heads: int, n_kv_heads: int) -> None:
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise InputError(
            "shape_mismatch", f"{n_heads} query heads cannot share {n_kv_heads} key/value heads evenly"
        )


def projected_problem(fields, beliefs: Beliefs, layout: str, common) -> Problem:
    given = fields["x"]
    if given.ndim not in (2, 3):
        raise InputError("shape_mismatch", f"x must be (T, D) or (B, T, D), but its shape is {given.shape}")
    x = to_batch(real(fields, "x"), layout)
    projections = {
        name: real(fields, name)
        for name in ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")
        if name in fields
    }
    for name, array in projections.items():
        if array.ndim != (2 if name[0] == "w" else 1):
            raise InputError(
                "shape_mismatch", f"{name} has the wrong number of axes: its shape is {array.shape}"
            )
    if beliefs.weights_as == "x @ w.T":
        projections = {n: a.T if n[0] == "w" else a for n, a in projections.items()}
    n_heads = beliefs.n_heads or 1
    widths = {name: projections[name].shape[1] for name in ("wq", "wk", "wv")}
    for name, width in widths.items():
        if projections[name].shape[0] != x.shape[-1]:
            raise mismatch(f"x and {name} do not fit as x @ {name}", "x", given, name, projections[name])
        bias = projections.get("b" + name[1])
        if bias is not None and bias.shape[0] != width:
            raise mismatch(
                "a bias needs the width of its projection", name, projections[name], "b" + name[1], bias
            )
    check_heads("x @ wq", np.empty((0, widths["wq"])), n_heads)
    n_kv_heads = beliefs.n_kv_heads or max(1, n_heads * widths["wk"] // widths["wq"])
    check_groups(n_heads, n_kv_heads)
    for name in ("wk", "wv"):
        check_heads(f"x @ {name}", np.empty((0, widths[name])), n_kv_heads)
    if widths["wq"] // n_heads != widths["wk"] // n_kv_heads:
        raise mismatch("q and k need the same width d_k", "wq", projections["wq"], "wk", projections["wk"])
    if "wo" in projections and projections["wo"].shape[0] != n_heads * (widths["wv"] // n_kv_heads):
        raise mismatch("the joined heads and wo do not fit", "wv", projections["wv"], "wo", projections["wo"])
    return Problem(
        q=None,
        k=None,
        v=None,
        x=x,
        projections=projections,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        merged=True,
        **common,
    )


def canonical_output(out: np.ndarray, problem: Problem, layout: str) -> tuple[np.ndarray, bool]:
    """The output as (B, h, n_q, d_v), or as (B, n_q, width) and True."""
    array = out.astype(np.float64)
    apart = (problem.batch, problem.n_heads, problem.n_q, problem.d_v)
    width = (
        problem.projections["wo"].shape[1] if "wo" in problem.projections else problem.n_heads * problem.d_v
    )
    joined = (problem.batch, problem.n_q, width)
    flat_layout = layout in ("BTD", "TBD", "X", "TBX") or problem.flat
    if not flat_layout and array.ndim == {"TD": 2, "HTD": 3}.get(layout, 4):
        shaped = to_heads(array, layout)
        if shaped.shape == apart:
            return shaped, False
    if array.ndim in (2, 3) and (flat_layout or problem.n_heads > 1):
        shaped = to_batch(array, layout if layout in ("TBD", "TBX") else "BTD")
        if shaped.shape == joined:
            return shaped, True
    if array.ndim == 4 and flat_layout and "wo" not in problem.projections and array.shape == apart:
        return array, False
    raise InputError(
        "shape_mismatch",
        f"the output of these inputs must have shape {joined if flat_layout else apart}, but out has shape {out.shape}",
    )


# --- masks -------------------------------------------------------------------------------------------


def mask_meanings(fields, beliefs: Beliefs, problem: Problem) -> list[tuple[dict, tuple[str, ...]]]:
    """What the mask arrays may mean: the fields of Problem they set, and a note."""
    keep = None
    notes: list[str] = []
    for name in ("key_keep", "key_hide"):
        if name in fields:
            keep = key_mask(name, fields[name], problem)
            keep = keep if name == "key_keep" else ~keep
    if beliefs.has_padding and keep is None and "mask" not in fields:
        notes.append("you say there is padding, but the file has no key mask: padding was not considered")
    base = {"key_keep": keep}
    if "mask" not in fields:
        return [(base, tuple(notes))]
    return [
        ({**base, **meaning}, (*notes, *((note,) if note else ())))
        for meaning, note in pair_mask(fields["mask"], beliefs, problem, keep)
    ]


def key_mask(name: str, array: np.ndarray, problem: Problem) -> np.ndarray:
    shape = (problem.batch, problem.n_k)
    if array.size == problem.n_k and problem.batch == 1:
        array = array.reshape(1, problem.n_k)
    elif array.ndim == 4 and array.shape[1:3] == (1, 1):
        array = array[:, 0, 0]
    if array.shape != shape:
        raise InputError(
            "shape_mismatch", f"{name} must have shape (batch, keys) = {shape}, but it is {array.shape}"
        )
    return as_boolean(name, array)


def as_boolean(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype == np.bool_:
        return array
    if np.isin(array, (0, 1)).all():
        return array.astype(bool)
    raise InputError("wrong_dtype", f"{name} must hold True and False or 1 and 0, but it holds other numbers")


def pair_mask(
    array: np.ndarray, beliefs: Beliefs, problem: Problem, keep: np.ndarray | None
) -> list[tuple[dict, str]]:
    """The meanings of an array called mask: booleans of either polarity, 0/1, or an additive mask."""
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError("nan_in_inputs", "mask holds NaN")
    if array.dtype == np.bool_ or np.isin(array, (0, 1)).all():
        boolean = array.astype(bool)
        polarities = [beliefs.mask_true] if beliefs.mask_true else ["keep", "hide"]
        return [(placed(b, problem, keep), note) for b, note in polarity_pairs(boolean, polarities, beliefs)]
    hidden = array < -1e3
    if array.dtype.kind != "f" or not np.isin(array[~hidden], 0).all():
        return [
            (
                {"bias": fitting_scores("mask", array.astype(np.float64), problem)},
                "the mask was added to the scaled scores",
            )
        ]
    return [(placed(~hidden, problem, keep), "")]


def polarity_pairs(boolean: np.ndarray, polarities, beliefs: Beliefs) -> Iterator[tuple[np.ndarray, str]]:
    for polarity in polarities:
        note = (
            ""
            if beliefs.mask_true
            else f"read True in the mask as {'may attend' if polarity == 'keep' else 'hidden'}"
        )
        yield (boolean if polarity == "keep" else ~boolean), note


def placed(boolean: np.ndarray, problem: Problem, keep: np.ndarray | None) -> dict:
    """A boolean mask as key_keep if it has one entry for each key, else as `allowed`."""
    if (
        boolean.shape == (problem.batch, problem.n_k)
        and boolean.shape != (problem.n_q, problem.n_k)
        and keep is None
    ):
        return {"key_keep": boolean}
    return {"allowed": fitting_scores("mask", boolean, problem)}


def fitting_scores(name: str, array: np.ndarray, problem: Problem) -> np.ndarray:
    """`array` in a shape that broadcasts to (B, h, n_q, n_k)."""
    shape = (problem.batch, problem.n_heads, problem.n_q, problem.n_k)
    candidates = [array]
    if array.ndim == 3:  # (B, n_q, n_k) or (h, n_q, n_k) or, as in nn.MultiheadAttention, (B h, n_q, n_k)
        candidates = [array[:, None] if array.shape[0] == problem.batch else array]
        if array.shape[0] == problem.batch * problem.n_heads:
            candidates.insert(0, array.reshape(problem.batch, problem.n_heads, *array.shape[1:]))
    for candidate in candidates:
        try:
            if np.broadcast_shapes(candidate.shape, shape) == shape:
                return candidate.reshape((1,) * (4 - candidate.ndim) + candidate.shape)
        except ValueError:
            continue
    raise InputError("shape_mismatch", f"{name} must fit the scores {shape}, but its shape is {array.shape}")
