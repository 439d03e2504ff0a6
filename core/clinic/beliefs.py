"""What the owner believes: from controls, and from a `meta` JSON in the file."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.files import InputError

AXES = {  # in words, by layout
    "TD": "(T, d)",
    "HTD": "(h, T, d)",
    "BTD": "(B, T, h·d)",
    "TBD": "(T, B, h·d)",
    "BHTD": "(B, h, T, d)",
    "BTHD": "(B, T, h, d)",
    "X": "x (B, T, d_model)",
    "TBX": "x (T, B, d_model)",
}
LAYOUTS = tuple(AXES)
MAX_META = 100_000


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
    softcap: float | None = None  # the scaled scores z become softcap · tanh(z / softcap)
    sink: float | None = None  # a constant in softmax's sum of exponentials
    causal_alignment: str | None = None  # "lower_right" (the default) or "top_left"
    mask_true: str | None = None  # what True means in a boolean mask: "keep" or "hide"
    weights_as: str | None = None  # "x @ w" or "x @ w.T" (nn.Linear's own weights)


def whole(value: object) -> bool:
    """A count."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1 << 20


def boolean(value: object) -> bool:
    """True or False."""
    return isinstance(value, bool)


def _positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e6


def _one_of(*options: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in options


#: the name in the JSON, the field of Beliefs, whether a value is allowed, and what is
RULES: dict[str, tuple[str, Callable[[object], bool], str]] = {
    "layout": ("layout", _one_of(*LAYOUTS), f"one of {', '.join(LAYOUTS)}"),
    "causal": ("causal", boolean, "true or false"),
    "num_heads": ("n_heads", whole, "a whole number of at least 1"),
    "n_heads": ("n_heads", whole, "a whole number of at least 1"),
    "num_kv_heads": ("n_kv_heads", whole, "a whole number of at least 1"),
    "n_kv_heads": ("n_kv_heads", whole, "a whole number of at least 1"),
    "has_padding": ("has_padding", boolean, "true or false"),
    "rope": ("rope", boolean, "true or false"),
    "alibi": ("alibi", boolean, "true or false"),
    "scale": ("scale", _positive, "a positive number"),
    "softcap": ("softcap", _positive, "a positive number"),
    "sink": ("sink", _positive, "a positive number"),
    "causal_alignment": ("causal_alignment", _one_of("lower_right", "top_left"), "lower_right or top_left"),
    "mask_true": ("mask_true", _one_of("keep", "hide"), "keep or hide"),
    "weights_as": ("weights_as", _one_of("x @ w", "x @ w.T"), "x @ w or x @ w.T"),
}


def beliefs_from(
    given: Mapping[str, object] | None, in_file: np.ndarray | None, stated: Mapping[str, object]
) -> Beliefs:
    """Beliefs from the file's meta, overruled by `given`, overruled by what is stated."""
    merged: dict[str, Any] = {}
    for source in (parsed(in_file), given or {}, stated):
        merged.update({field: value for field, value in valid(source).items() if value is not None})
    return Beliefs(**merged)


def valid(source: Mapping[str, object]) -> dict[str, object]:
    """The entries that are beliefs, under their fields; InputError for a value of the wrong kind."""
    found = {}
    for name, value in source.items():
        if name not in RULES or value is None:
            continue
        field, allowed, what = RULES[name]
        if not allowed(value):
            raise InputError("meta", f"{name} must be {what}, but it is {str(value)[:60]!r}")
        found[field] = value
    return found


def parsed(meta: np.ndarray | None) -> Mapping[str, object]:
    """The mapping in a meta array: JSON text in a string array of one entry (or bytes)."""
    if meta is None:
        return {}
    if meta.size != 1 or meta.dtype.kind not in "US" or meta.dtype.itemsize > MAX_META:
        raise InputError(
            "meta", f"meta must be one short JSON text, but it has shape {meta.shape} and dtype {meta.dtype}"
        )
    text = meta.reshape(-1)[0]
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else str(text)
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("meta", "meta is not valid JSON") from None
    if not isinstance(found, dict):
        raise InputError("meta", 'meta must be a JSON object, as {"causal": true}')
    return found
