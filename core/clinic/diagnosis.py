"""From arrays to a verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.clinic.beliefs import beliefs_from
from core.clinic.case import Case
from core.clinic.checks import checked
from core.clinic.loading import load, load_paths
from core.clinic.names import named, unknown
from core.clinic.report import Diagnosis, Explanation
from core.clinic.search import Progress
from core.clinic.second_look import second_look
from core.faults.catalogue import BAD_INPUT
from core.files import InputError
from core.files.errors import shown, why


def diagnose(
    arrays: Mapping[str, object] | None = None,
    /,
    *,
    causal: bool | None = None,
    n_heads: int | None = None,
    n_kv_heads: int | None = None,
    layout: str | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sink: float | None = None,
    rope: bool | None = None,
    alibi: bool | None = None,
    causal_alignment: str | None = None,
    mask_true: str | None = None,
    weights_as: str | None = None,
    meta: Mapping[str, object] | None = None,
    max_faults: int = 2,
    progress: Progress | None = None,
    **more_arrays: object,
) -> Diagnosis:
    """q, k, v and out (by name, or in a mapping) -> what is wrong with the attention that made out.

    Arrays: q, k, v, out, weights, mask, key_keep, key_padding_mask, lengths, bias, or x with wq, wk, wv, wo
    (used as x @ w); the usual other names are known too. Layouts: TD (T, d), HTD (h, T, d),
    BTD (B, T, h d), TBD, BHTD (B, h, T, d), BTHD, X and TBX for x.

    What the owner believes: causal, n_heads, layout ... ; None lets the numbers decide. `meta` holds
    the same beliefs as a mapping, as in the JSON of a file. mask_true: "keep" or "hide".
    causal_alignment: "lower_right" or "top_left". weights_as: "x @ w" or "x @ w.T".
    softcap: the scaled scores z become softcap · tanh(z / softcap). sink: a constant in softmax's sum.
    progress(fraction, what) is called now and then. Never raises for bad data: the verdict is bad_input.
    """
    stated = {
        "causal": causal, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "layout": layout, "scale": scale,
        "rope": rope, "alibi": alibi, "causal_alignment": causal_alignment, "mask_true": mask_true,
        "weights_as": weights_as, "softcap": softcap, "sink": sink,
    }  # fmt: skip
    try:
        given = _arrays({**(arrays or {}), **more_arrays})
        return _diagnosis(given, meta, stated, max_faults, progress)
    except InputError as error:
        return _bad_input(error)


def _diagnosis(
    given: Mapping[str, np.ndarray],
    meta: Mapping[str, object] | None,
    stated: Mapping[str, object],
    max_faults: int,
    progress: Progress | None,
) -> Diagnosis:
    fields = named(given)
    beliefs = beliefs_from(meta, fields.pop("meta", None), stated)
    fields = checked(fields)
    with np.errstate(all="ignore"):  # a stranger's numbers may overflow: judged by what comes out
        case = Case(fields, beliefs, max_faults, progress)
        found = case.diagnosis() or second_look(case)
    return replace(found, notes=(*found.notes, *_not_used(given)))


def _not_used(given: Mapping[str, np.ndarray]) -> list[str]:
    names = [shown(name) for name in unknown(given)]
    return [f"arrays whose names mean nothing here were not used: {', '.join(names[:5])}"] if names else []


def _arrays(given: Mapping[str, object]) -> dict[str, np.ndarray]:
    return {name: as_array(name, value) for name, value in given.items() if value is not None}


def diagnose_files(paths: Iterable[str | Path], **beliefs: Any) -> Diagnosis:
    """One or more files on disk -> Diagnosis. `beliefs` are the keywords of diagnose()."""
    try:
        arrays = load_paths(paths)
    except InputError as error:
        return _bad_input(error)
    return diagnose(arrays, **beliefs)


def diagnose_uploads(files: Iterable[tuple[str, bytes]], **beliefs: Any) -> Diagnosis:
    """(file name, content) pairs -> Diagnosis: nothing is written to disk."""
    try:
        arrays = load(files)
    except InputError as error:
        return _bad_input(error)
    return diagnose(arrays, **beliefs)


def _bad_input(error: InputError) -> Diagnosis:
    title = BAD_INPUT.get(error.label, "The input cannot be examined")
    explanation = Explanation((error.label,), ("",), (title,), ("",), ("",), ("clinic",), float("inf"))
    return Diagnosis("bad_input", error.message, (explanation,))


def as_array(name: str, value: Any) -> np.ndarray:
    """A NumPy array of anything that converts to one; a PyTorch tensor is taken off its graph first."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError("wrong_dtype", f"{shown(name)} is not an array of numbers: {why(error)}") from None
    if array.dtype == object:
        raise InputError(
            "wrong_dtype", f"{shown(name)} is not an array of numbers (rows of different lengths?)"
        )
    return array
