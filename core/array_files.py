"""Read arrays from an uploaded .npz or .safetensors file, without trusting the file.

Nothing pickled is ever loaded. Each header is read first, and an array is read only if its size is
within the limits, so that a small file cannot claim, or unpack to, gigabytes.
"""

import io
import json
import lzma
import math
import zipfile
import zlib
from typing import IO

import numpy as np

from core.syntax import literal

MAX_TOTAL_BYTES = 100_000_000
MAX_ARRAYS = 100
MAX_TOKEN = 100  # characters of one token that are kept
_MAX_HEADER = 10_000  # bytes of one .npy header
_MAX_JSON_HEADER = 1_000_000  # bytes of a safetensors header
# What Python's readers of zip archives raise over bytes that are none, by kind of compression.
_DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
)
_KINDS = "biufU"
_SAFETENSORS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",  # the upper half of a float32
    "BOOL": "|b1",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
}


class FileError(ValueError):
    """The file cannot be read; the message is a sentence for its owner."""


def read_arrays(data: bytes, file_name: str = "the file") -> dict[str, np.ndarray]:
    """The bytes of an .npz or a .safetensors file -> its arrays by name. Raises FileError.

    The kind is told by the content, not by the name. Texts in a safetensors file's metadata become
    arrays of text; a list in JSON becomes an array with one text for each entry.
    """
    if data[:2] == b"PK":
        return _read_npz(data, file_name)
    if len(data) > 9 and data[8:9] == b"{":
        return _read_safetensors(data, file_name)
    raise FileError(f"{file_name} is neither an .npz nor a .safetensors file, or it was cut off at its start")


def _read_npz(data: bytes, file_name: str) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            _check_count(len(members), file_name)
            left = MAX_TOTAL_BYTES
            arrays: dict[str, np.ndarray] = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                if name in arrays:
                    raise FileError(f"{file_name} holds {_shown(name)} twice")
                with archive.open(member) as stream:
                    arrays[name] = _read_npy(stream, name, left)
                left -= arrays[name].nbytes
    except _DAMAGED_ZIP as error:
        raise FileError(f"{file_name} is a damaged or unusual zip archive: {error}") from error
    return arrays


def _read_npy(stream: IO[bytes], name: str, left: int) -> np.ndarray:
    """One .npy member: the header first, then exactly as many bytes as it claims."""
    shape, fortran, dtype = _npy_header(stream, name)
    n_bytes = _check_size(name, shape, dtype, left)
    content = stream.read(n_bytes)
    if len(content) != n_bytes or stream.read(1):
        raise FileError(f"{_shown(name)} claims shape {shape}, {dtype}, but its content has another length")
    array = np.frombuffer(content, dtype)
    return array.reshape(shape, order="F" if fortran else "C")


def _npy_header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY" or len(start) != 8:
        raise FileError(f"{_shown(name)} is not an array as NumPy saves it")
    n = int.from_bytes(stream.read(2 if start[6] == 1 else 4), "little")
    if n > _MAX_HEADER:
        raise FileError(f"the header of {_shown(name)} is {n} bytes long; {_MAX_HEADER} are allowed")
    try:
        header = literal(stream.read(n).decode("latin1"))
        shape, fortran, dtype = header["shape"], header["fortran_order"], np.dtype(header["descr"])
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        raise FileError(f"the header of {_shown(name)} cannot be read") from None
    if not isinstance(shape, tuple) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise FileError(f"the header of {_shown(name)} holds no shape")
    return shape, bool(fortran), dtype


def _read_safetensors(data: bytes, file_name: str) -> dict[str, np.ndarray]:
    n = int.from_bytes(data[:8], "little")
    if n > _MAX_JSON_HEADER or 8 + n > len(data):
        raise FileError(f"{file_name} claims a header of {n} bytes, but it is too long or cut off")
    try:
        header = json.loads(data[8 : 8 + n])
        metadata = header.pop("__metadata__", {})
        entries = {
            name: (
                str(entry["dtype"]),
                tuple(int(n) for n in entry["shape"]),
                *map(int, entry["data_offsets"]),
            )
            for name, entry in header.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise FileError(f"the header of {file_name} cannot be read") from None
    _check_count(len(entries), file_name)
    content, left = memoryview(data)[8 + n :], MAX_TOTAL_BYTES
    arrays: dict[str, np.ndarray] = {}
    for name, entry in entries.items():
        arrays[name] = _read_tensor(content, name, *entry, left)
        left -= arrays[name].nbytes
    return _texts(metadata) | arrays


def _read_tensor(
    content: memoryview, name: str, kind: str, shape: tuple[int, ...], start: int, stop: int, left: int
) -> np.ndarray:
    if kind not in _SAFETENSORS:
        raise FileError(f"{_shown(name)} has the type {_shown(kind)}; known are {', '.join(_SAFETENSORS)}")
    dtype = np.dtype(_SAFETENSORS[kind])
    n_bytes = _check_size(name, shape, dtype, left)
    if not 0 <= start <= stop <= len(content) or stop - start != n_bytes or min(shape, default=0) < 0:
        raise FileError(f"{_shown(name)} claims shape {shape}, {kind}, but its content has another length")
    array = np.frombuffer(content[start:stop], dtype).reshape(shape)
    if kind == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _texts(metadata: object) -> dict[str, np.ndarray]:
    """A safetensors file's metadata -> arrays of text, and of true, false or a number where it is one."""
    if not isinstance(metadata, dict):
        return {}
    texts = {}
    for name, text in list(metadata.items())[:MAX_ARRAYS]:
        try:
            value = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            value = text
        if isinstance(value, list):
            value = [str(entry)[:MAX_TOKEN] for entry in value]
        elif not isinstance(value, (bool, int, float)) or (isinstance(value, int) and abs(value) >= 2**63):
            value = str(text)
        texts[str(name)] = np.array(value)
    return texts


def _check_size(name: str, shape: tuple[int, ...], dtype: np.dtype, left: int) -> int:
    """-> the bytes that such an array takes; raises FileError if it may not be read."""
    if dtype.kind not in _KINDS:
        raise FileError(
            f"{_shown(name)} holds {dtype}, and only numbers, True/False and text are read; "
            f"Python objects never are"
        )
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes > left:
        raise FileError(
            f"{_shown(name)} has shape {shape}, {dtype}: {n_bytes / 1e6:.0f} MB. With the arrays before it, "
            f"that is more than the limit of {MAX_TOTAL_BYTES / 1e6:.0f} MB"
        )
    return n_bytes


def _check_count(n_arrays: int, file_name: str) -> None:
    if n_arrays > MAX_ARRAYS:
        raise FileError(f"{file_name} holds {n_arrays} arrays; {MAX_ARRAYS} are allowed")


def _shown(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:40] + "…")
