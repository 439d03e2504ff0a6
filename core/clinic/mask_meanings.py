"""What the mask arrays may mean: which axis, which polarity, added or not."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from core.clinic.beliefs import Beliefs
from core.faults.problem import Problem
from core.files import InputError


def mask_meanings(
    fields: Mapping[str, np.ndarray], beliefs: Beliefs, problem: Problem
) -> list[tuple[dict, tuple[str, ...]]]:
    """What the mask arrays may mean: the fields of Problem they set, and a note."""
    keep = None
    notes: list[str] = []
    fields = _as_pair_mask(fields, problem)
    for name in ("key_keep", "key_hide", "lengths"):
        if name in fields:
            keep = _kept(name, fields[name], problem)
    if beliefs.has_padding and keep is None and "mask" not in fields:
        notes.append("you say there is padding, but the file has no key mask: padding was not considered")
    base = {"key_keep": keep}
    if "mask" not in fields:
        return [(base, tuple(notes))]
    return [
        ({**base, **meaning}, (*notes, *((note,) if note else ())))
        for meaning, note in pair_mask(fields["mask"], beliefs, problem, keep)
    ]


def _as_pair_mask(fields: Mapping[str, np.ndarray], problem: Problem) -> Mapping[str, np.ndarray]:
    """An attention_mask with a row for each query, as Transformers hands on, is a mask of pairs."""
    array = fields.get("key_keep")
    if array is None or "mask" in fields or array.ndim < 2 or array.shape[-2:] != (problem.n_q, problem.n_k):
        return fields
    if array.ndim == 2 and problem.n_q == problem.batch:
        return fields
    return {**{name: other for name, other in fields.items() if name != "key_keep"}, "mask": array}


def _kept(name: str, array: np.ndarray, problem: Problem) -> np.ndarray:
    """Which keys are real (B, n_k), from any of the three ways to say it."""
    if name == "lengths":
        return _by_length(array, problem)
    keys = _key_mask(name, array, problem)
    return ~keys if name == "key_hide" and not _is_additive(array) else keys


def _by_length(array: np.ndarray, problem: Problem) -> np.ndarray:
    lengths = array.reshape(-1)
    if lengths.shape != (problem.batch,) or not np.isin(lengths, np.arange(problem.n_k + 1)).all():
        raise InputError(
            "shape_mismatch",
            f"lengths must hold a whole number from 0 to {problem.n_k} for each of the {problem.batch} batch "
            f"entries, but its shape is {array.shape}",
        )
    return np.arange(problem.n_k) < lengths[:, None]


def _is_additive(array: np.ndarray) -> bool:
    """0 where a key is seen, a very negative number where it is hidden."""
    return (
        array.dtype.kind == "f" and bool((array < -1e3).any()) and bool(((array == 0) | (array < -1e3)).all())
    )


def _key_mask(name: str, array: np.ndarray, problem: Problem) -> np.ndarray:
    shape = (problem.batch, problem.n_k)
    if array.size == problem.n_k and problem.batch == 1:
        array = array.reshape(1, problem.n_k)
    elif array.ndim == 4 and array.shape[1:3] == (1, 1):
        array = array[:, 0, 0]
    if array.shape != shape:
        raise InputError(
            "shape_mismatch", f"{name} must have shape (batch, keys) = {shape}, but it is {array.shape}"
        )
    return array == 0 if _is_additive(array) else _as_boolean(name, array)


def _as_boolean(name: str, array: np.ndarray) -> np.ndarray:
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
        return [(placed(b, problem, keep), note) for b, note in _polarity_pairs(boolean, polarities, beliefs)]
    hidden = array < -1e3
    if array.dtype.kind != "f" or not np.isin(array[~hidden], 0).all():
        return [
            (
                {"bias": fitting_scores("mask", array.astype(np.float64), problem)},
                "the mask was added to the scaled scores",
            )
        ]
    return [(placed(~hidden, problem, keep), "")]


def _polarity_pairs(
    boolean: np.ndarray, polarities: Sequence[str], beliefs: Beliefs
) -> Iterator[tuple[np.ndarray, str]]:
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
