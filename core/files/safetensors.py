"""Read .safetensors: 8 bytes with the header's length, a JSON header, then the numbers.

The format is described by its authors at github.com/huggingface/safetensors.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from core.files import limits
from core.files.errors import InputError, shown
from core.files.limits import Wanted
from core.files.npy import check_shape, from_bfloat16

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}


def read_safetensors(data: bytes, wanted: Wanted) -> Iterator[tuple[str, np.ndarray]]:
    """The wanted texts of the metadata, then the wanted tensors; InputError for all that is not right."""
    header, numbers = _split_header(data)
    if len(header) > limits.MAX_ENTRIES + 1:
        raise InputError(
            "too_large", f"the file has {len(header)} tensors, the limit is {limits.MAX_ENTRIES}"
        )
    yield from _texts(header.pop("__metadata__", {}), wanted)
    for name, entry in header.items():
        if wanted.array(name):
            yield name, _tensor(name, entry, numbers, wanted.most_numbers)


def _split_header(data: bytes) -> tuple[dict[str, object], memoryview]:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise InputError(
            "malformed",
            f"the .safetensors header claims {length:,} bytes, the file has {max(0, len(data) - 8):,}",
        )
    if length > limits.MAX_JSON_HEADER_BYTES:
        raise InputError(
            "too_large",
            f"the .safetensors header claims {length:,} bytes, the limit is {limits.MAX_JSON_HEADER_BYTES:,}",
        )
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"), object_pairs_hook=_without_duplicates)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError("malformed", "the .safetensors header is not valid JSON") from None
    if not isinstance(header, dict):
        raise InputError("malformed", "the .safetensors header is not a JSON object")
    return header, memoryview(data)[8 + length :]


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise InputError("duplicate_array", f"the file names {shown(name)} twice")
        found[name] = value
    return found


def _tensor(name: str, entry: object, numbers: memoryview, most_numbers: int) -> np.ndarray:
    """One tensor, from its entry in the header."""
    if not isinstance(entry, dict):
        raise InputError("malformed", f"the header entry of {shown(name)} is not an object")
    code, shape, offsets = entry.get("dtype"), _sizes(entry.get("shape")), _sizes(entry.get("data_offsets"))
    if not isinstance(code, str) or code not in DTYPES:
        raise InputError(
            "wrong_dtype",
            f"{shown(name)} has the dtype {shown(str(code))}, which is not one of {', '.join(DTYPES)}",
        )
    if shape is None or len(shape) > limits.MAX_AXES or offsets is None or len(offsets) != 2:
        raise InputError(
            "malformed", f"the header entry of {shown(name)} has no valid shape and data_offsets"
        )
    count, dtype = check_shape(shape, name, most_numbers), np.dtype(DTYPES[code])
    begin, end = offsets
    if not 0 <= begin <= end <= len(numbers) or end - begin != count * dtype.itemsize:
        raise InputError(
            "malformed",
            f"{shown(name)} of shape {shape} needs {count * dtype.itemsize:,} bytes, its "
            f"place in the file is {begin}:{end} of {len(numbers):,}",
        )
    flat = np.frombuffer(numbers[begin:end], dtype=dtype)
    return (from_bfloat16(flat) if code == "BF16" else flat).reshape(shape)


def _sizes(value: Any) -> tuple[int, ...] | None:
    """A JSON list of plausible sizes as a tuple; None for anything else."""
    fits = isinstance(value, list) and all(type(size) is int and 0 <= size < 1 << 40 for size in value)
    return tuple(value) if fits else None


def _texts(metadata: object, wanted: Wanted) -> Iterator[tuple[str, np.ndarray]]:
    """Metadata is text. A list in JSON becomes an array of texts; true, false and numbers what they are."""
    texts = metadata.items() if isinstance(metadata, dict) else ()
    for name, text in list(texts)[: limits.MAX_ENTRIES]:
        if wanted.text(name) and isinstance(text, str):
            yield name, np.array(_meant(text))


def _meant(text: str) -> list[str] | bool | float | str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, list):
        return [str(entry)[: limits.MAX_TOKEN] for entry in value]
    if isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    return text
