"""Read .npy without trusting it: the header first, limits before data, never a pickle.

The header is read by a strict pattern and not evaluated. Format: NumPy Enhancement Proposal 1.
"""

import re
from typing import IO

import numpy as np

from core.files import limits
from core.files.errors import InputError, shown

MAGIC = b"\x93NUMPY"
HEADER = re.compile(
    r"\{\s*'descr':\s*(?P<descr>'[^']{1,16}'|\[.*\]),\s*'fortran_order':\s*(?P<fortran>True|False),"
    r"\s*'shape':\s*\((?P<shape>[0-9, ]*)\),?\s*\}\s*",
    re.DOTALL,
)
DESCR = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f[248]|V2|[US]\d{1,6})")


def read_npy(stream: IO[bytes], name: str, most_numbers: int) -> np.ndarray:
    """One .npy: the header, then exactly as many bytes as it claims."""
    descr, fortran, shape = _read_header(stream, name)
    dtype = _dtype_of(descr, name)
    count = check_shape(shape, name, most_numbers)
    if dtype.itemsize * count > 8 * most_numbers:
        raise InputError(
            "too_large",
            f"{shown(name)} claims {dtype.itemsize * count:,} bytes, the limit is {8 * most_numbers:,}",
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


def check_shape(shape: tuple[int, ...], name: str, most_numbers: int) -> int:
    """The number of entries, if it is within the limit."""
    count = 1
    for size in shape:
        count *= size
    if max((count, *shape)) > most_numbers:
        raise InputError(
            "too_large",
            f"{shown(name)} claims the shape {shape}: the limit is {most_numbers:,} numbers in one array",
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
