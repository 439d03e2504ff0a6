"""Read .npy and .npz without trusting them: headers first, limits before data, never a pickle.

The .npy header is read by a strict pattern and not evaluated. Format: NumPy Enhancement Proposal 1.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

import numpy as np

from core.clinic import limits
from core.clinic.errors import InputError
from core.clinic.names import field_of

MAGIC = b"\x93NUMPY"
HEADER = re.compile(
    r"\{\s*'descr':\s*(?P<descr>'[^']{1,16}'|\[.*\]),\s*'fortran_order':\s*(?P<fortran>True|False),"
    r"\s*'shape':\s*\((?P<shape>[0-9, ]*)\),?\s*\}\s*",
    re.DOTALL,
)
DESCR = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f[248]|V2|[US]\d{1,6})")
BROKEN_ZIP = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
    KeyError,
    IndexError,
)


def shown(name: str) -> str:
    """A name from a file, made safe to print."""
    return ascii(name if len(name) <= 40 else name[:37] + "...")


def why(error: Exception) -> str:
    """An error's own words, short and safe to print: they may quote the file."""
    return ascii(str(error)[:80])[1:-1] or type(error).__name__


def read_npz(data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of an .npz with known names, one by one; InputError for anything not as it should be."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except BROKEN_ZIP as error:
        raise InputError(
            "not_a_zip", f"the file is not a complete .npz archive ({why(error)}): was the upload cut short?"
        ) from None
    for name, entry in known_entries(entries):
        try:
            with archive.open(entry) as stream:
                yield name, read_npy(stream, name)
        except InputError:
            raise
        except BROKEN_ZIP as error:
            raise InputError(
                "not_a_zip", f"the entry {shown(entry.filename)} of the archive is damaged ({why(error)})"
            ) from None


def known_entries(entries: list[zipfile.ZipInfo]) -> list[tuple[str, zipfile.ZipInfo]]:
    """The entries that hold arrays of known names; refuses archives that are too large or not for NumPy."""
    if len(entries) > limits.MAX_ENTRIES:
        raise InputError(
            "too_large", f"the archive has {len(entries)} entries, the limit is {limits.MAX_ENTRIES}"
        )
    if any(entry.filename.endswith(".pkl") for entry in entries):
        raise InputError(
            "pickled",
            "this looks like a PyTorch file: it holds pickled objects, which are never loaded. "
            "Save with np.savez",
        )
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if field_of(name) is None:
            continue
        if name in found:
            raise InputError("duplicate_array", f"the archive has two entries called {shown(entry.filename)}")
        found[name] = entry
    for entry in found.values():
        _check_entry(entry)
    claimed = sum(entry.file_size for entry in found.values())
    if claimed > 8 * limits.MAX_TOTAL_NUMBERS:
        raise InputError(
            "too_large",
            f"the archive claims {claimed:,} bytes of arrays, the limit is {8 * limits.MAX_TOTAL_NUMBERS:,}",
        )
    return list(found.items())


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = shown(entry.filename)
    if entry.flag_bits & 0x1:
        raise InputError("malformed", f"the entry {name} is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("malformed", f"the entry {name} is compressed by a method that .npz does not use")
    if entry.file_size > 8 * limits.MAX_ARRAY_NUMBERS + limits.MAX_HEADER_BYTES:
        raise InputError(
            "too_large",
            f"the entry {name} claims {entry.file_size:,} bytes, the limit is "
            f"{limits.MAX_ARRAY_NUMBERS:,} numbers",
        )


def read_npy(stream: IO[bytes], name: str) -> np.ndarray:
    """One .npy: the header, then exactly as many bytes as it claims."""
    descr, fortran, shape = _read_header(stream, name)
    dtype = _dtype_of(descr, name)
    count = check_shape(shape, name)
    if dtype.itemsize * count > 8 * limits.MAX_ARRAY_NUMBERS:
        raise InputError(
            "too_large", f"{shown(name)} claims {dtype.itemsize * count:,} bytes, more than the limit"
        )
    data = _read_exactly(stream, dtype.itemsize * count, name)
    flat = np.frombuffer(data, dtype=dtype)
    if dtype.kind == "V":
        flat = from_bfloat16(flat.view(np.uint16))
    return flat.reshape(shape, order="F" if fortran else "C")


def _read_header(stream: IO[bytes], name: str) -> tuple[str, bool, tuple[int, ...]]:
    start = stream.read(8)
    if start[:6] != MAGIC or len(start) < 8:
        raise InputError("malformed", f"{shown(name)} is not a .npy array: its first bytes are not NumPy's")
    length_bytes = 2 if start[6] == 1 else 4
    length = int.from_bytes(stream.read(length_bytes), "little")
    if not 0 < length <= limits.MAX_HEADER_BYTES:
        raise InputError(
            "malformed",
            f"the header of {shown(name)} claims {length:,} bytes, the limit is {limits.MAX_HEADER_BYTES:,}",
        )
    text = stream.read(length).decode("latin-1")
    found = HEADER.fullmatch(text)
    if found is None:
        raise InputError("malformed", f"the header of {shown(name)} is not one that NumPy writes")
    sizes = [part.strip() for part in found["shape"].split(",") if part.strip()]
    if len(sizes) > limits.MAX_AXES or any(len(size) > 12 or not size.isdigit() for size in sizes):
        raise InputError(
            "malformed",
            f"the header of {shown(name)} claims a shape that no array here can have: "
            f"({found['shape'][:60]})",
        )
    return found["descr"].strip("'"), found["fortran"] == "True", tuple(int(size) for size in sizes)


def _dtype_of(descr: str, name: str) -> np.dtype:
    if "O" in descr:
        raise InputError(
            "pickled",
            f"{shown(name)} holds Python objects (a pickle), which are never loaded. Save "
            "numbers: np.asarray(x, dtype=float)",
        )
    if not DESCR.fullmatch(descr):
        raise InputError(
            "wrong_dtype", f"{shown(name)} must hold real numbers, but its dtype is {shown(descr)}"
        )
    return np.dtype(descr)


def check_shape(shape: tuple[int, ...], name: str) -> int:
    """The number of entries, if it is within the limit."""
    count = 1
    for size in shape:
        count *= size
    if max((count, *shape)) > limits.MAX_ARRAY_NUMBERS:
        raise InputError(
            "too_large",
            f"{shown(name)} claims the shape {shape}: the limit is {limits.MAX_ARRAY_NUMBERS:,} "
            "numbers in one array",
        )
    return count


def _read_exactly(stream: IO[bytes], n_bytes: int, name: str) -> bytes:
    data = stream.read(n_bytes + 1)
    if len(data) != n_bytes:
        found = "more" if len(data) > n_bytes else f"only {len(data):,}"
        raise InputError(
            "malformed",
            f"the header of {shown(name)} claims {n_bytes:,} bytes of numbers, the file has {found}",
        )
    return data


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """uint16 bits of bfloat16, the upper half of a float32, -> float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
