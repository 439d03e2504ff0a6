"""Read arrays from .json and .csv."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from core.clinic.names import field_of
from core.files import InputError, limits
from core.files.errors import shown, why


def _decoded(data: bytes) -> str:
    if len(data) > limits.MAX_TEXT_BYTES:
        raise InputError(
            "too_large", f"the text has {len(data):,} bytes, the limit is {limits.MAX_TEXT_BYTES:,}"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("malformed", "the file is not text in UTF-8") from None


def read_json(data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """{"q": [[...]], ..., "meta": {...}} -> arrays; all but meta may stand under "tensors"."""
    try:
        found = json.loads(_decoded(data))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError("malformed", f"the file is not valid JSON ({why(error)})") from None
    if not isinstance(found, dict):
        raise InputError(
            "malformed", 'the JSON must be an object with the arrays by name, as {"q": [[1, 2], [3, 4]]}'
        )
    for name, value in _arrays_of(found).items():
        field = field_of(name)
        if field == "meta":
            yield name, np.array(json.dumps(value))
        elif field is not None:
            yield name, array_of(name, value)


def _arrays_of(found: dict[str, Any]) -> dict[str, Any]:
    """The named values; those under "tensors" where nothing beside it has a known name but meta."""
    inner = found.get("tensors")
    beside = {name: value for name, value in found.items() if field_of(name) is not None}
    if not isinstance(inner, dict) or any(field_of(name) != "meta" for name in beside):
        return found
    return {**inner, **beside}


def array_of(name: str, value: object) -> np.ndarray:
    """Nested lists of numbers, or of true and false, -> an array."""
    try:
        array = np.array(value)
    except (ValueError, OverflowError, TypeError, RecursionError):
        raise InputError(
            "malformed", f"{shown(name)} is not a regular array: are its rows of one length?"
        ) from None
    if array.dtype.kind not in "fiub" and array.size:
        raise InputError(
            "wrong_dtype", f"{shown(name)} must hold numbers only (no text, no null, no huge integers)"
        )
    if array.ndim > limits.MAX_AXES or array.size > limits.CLINIC_ARRAY_NUMBERS:
        raise InputError("too_large", f"{shown(name)} has the shape {array.shape}, more than the limit")
    return array


def read_csv(data: bytes, stem: str) -> Iterator[tuple[str, np.ndarray]]:
    """A matrix under the file's own name, or rows that begin with the name of their array."""
    rows: dict[str, list[list[float]]] = {}
    try:
        for number, row in enumerate(csv.reader(io.StringIO(_decoded(data))), 1):
            cells = [cell.strip() for cell in row]
            if any(cells):
                name, numbers = _labelled(cells, stem)
                rows.setdefault(name, []).append(_as_numbers(numbers, number))
    except csv.Error as error:
        raise InputError("malformed", f"the file is not valid CSV ({why(error)})") from None
    for name, numbers in rows.items():
        if len({len(row) for row in numbers}) > 1:
            raise InputError("malformed", f"the rows of {shown(name)} are not of one length")
        if field_of(name) is not None:
            yield name, np.array(numbers)


def _labelled(cells: list[str], stem: str) -> tuple[str, list[str]]:
    return (cells[0], cells[1:]) if field_of(cells[0]) is not None else (stem, cells)


def _as_numbers(cells: list[str], row: int) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        bad = next(cell for cell in cells if not _is_number(cell))
        raise InputError(
            "malformed", f"row {row} of the CSV holds {shown(bad)}, which is not a number"
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
