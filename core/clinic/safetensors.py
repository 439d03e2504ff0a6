"""Read .safetensors: 8 bytes with the header's length, a JSON header, then the numbers.

The format is described by its authors at github.com/huggingface/safetensors.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from core.clinic import limits
from core.clinic.errors import InputError
from core.clinic.names import field_of
from core.clinic.npy import check_shape, from_bfloat16, shown

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


def read_safetensors(data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """The tensors with known names; InputError for anything not as it should be."""
    header, numbers = _split_header(data)
    if len(header) > limits.MAX_ENTRIES + 1:
        raise InputError(
            "too_large", f"the file has {len(header)} tensors, the limit is {limits.MAX_ENTRIES}"
        )
    for name, entry in header.items():
        if name == "__metadata__":
            yield from metadata(entry)
        elif field_of(name) is not None:
            yield name, tensor(name, entry, numbers)


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


def tensor(name: str, entry: object, numbers: memoryview) -> np.ndarray:
    """One tensor, from its entry in the header."""
    if not isinstance(entry, dict):
        raise InputError("malformed", f"the header entry of {shown(name)} is not an object")
    code, shape, offsets = entry.get("dtype"), _sizes(entry.get("shape")), _sizes(entry.get("data_offsets"))
    if not isinstance(code, str) or code not in DTYPES:
        raise InputError(
            "wrong_dtype", f"{shown(name)} has the dtype {shown(str(code))}, which is not read here"
        )
    if shape is None or len(shape) > limits.MAX_AXES or offsets is None or len(offsets) != 2:
        raise InputError(
            "malformed", f"the header entry of {shown(name)} has no valid shape and data_offsets"
        )
    count, dtype = check_shape(shape, name), np.dtype(DTYPES[code])
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


def metadata(entry: object) -> Iterator[tuple[str, np.ndarray]]:
    """The owner's beliefs, if the file's metadata holds them as JSON text."""
    if isinstance(entry, dict):
        for name, value in entry.items():
            if field_of(name) == "meta" and isinstance(value, str):
                yield name, np.array(value)
