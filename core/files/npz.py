"""Read .npz without trusting it: what the archive claims is checked before anything is unpacked."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np

from core.files import limits
from core.files.errors import InputError, shown, why
from core.files.limits import Wanted
from core.files.npy import read_npy

# What Python's reader of zip archives raises over bytes that are none.
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


def read_npz(data: bytes, wanted: Wanted) -> Iterator[tuple[str, np.ndarray]]:
    """The wanted arrays, one by one; InputError for anything not as it should be."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except BROKEN_ZIP as error:
        raise InputError(
            "not_a_zip", f"the file is not a complete .npz archive ({why(error)}): was the upload cut short?"
        ) from None
    for name, entry in _checked(entries, wanted):
        try:
            with archive.open(entry) as stream:
                yield name, read_npy(stream, name, wanted.most_numbers)
        except InputError:
            raise
        except BROKEN_ZIP as error:
            raise InputError(
                "not_a_zip", f"the entry {shown(entry.filename)} of the archive is damaged ({why(error)})"
            ) from None


def _checked(entries: list[zipfile.ZipInfo], wanted: Wanted) -> list[tuple[str, zipfile.ZipInfo]]:
    """The entries that hold wanted arrays; refuses archives that are too large or not for NumPy."""
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
    found = _by_name(entries, wanted)
    for entry in found.values():
        _check_entry(entry, wanted.most_numbers)
    claimed = sum(entry.file_size for entry in found.values())
    if claimed > 8 * limits.MAX_TOTAL_NUMBERS:
        raise InputError(
            "too_large",
            f"the archive claims {claimed:,} bytes of arrays, the limit is {8 * limits.MAX_TOTAL_NUMBERS:,}",
        )
    return list(found.items())


def _by_name(entries: list[zipfile.ZipInfo], wanted: Wanted) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename or not wanted.array(name):
            continue
        if name in found:
            raise InputError("duplicate_array", f"the archive has two entries called {shown(entry.filename)}")
        found[name] = entry
    return found


def _check_entry(entry: zipfile.ZipInfo, most_numbers: int) -> None:
    name = shown(entry.filename)
    if entry.flag_bits & 0x1:
        raise InputError("malformed", f"the entry {name} is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("malformed", f"the entry {name} is compressed by a method that .npz does not use")
    if entry.file_size > 8 * most_numbers + limits.MAX_HEADER_BYTES:
        raise InputError(
            "too_large",
            f"the entry {name} claims {entry.file_size:,} bytes, the limit is {most_numbers:,} numbers",
        )
