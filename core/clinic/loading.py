"""Files -> arrays by name. Everything is read from memory; nothing is kept and nothing is executed."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path, PurePosixPath

import numpy as np

from core.clinic.names import field_of
from core.clinic.text_files import read_csv, read_json
from core.files import InputError, limits, read_npy, read_npz, read_safetensors
from core.files.errors import shown
from core.files.npy import MAGIC

KNOWN = limits.Wanted(
    limits.CLINIC_ARRAY_NUMBERS,
    array=lambda name: field_of(name) is not None,
    text=lambda name: field_of(name) == "meta",  # what the owner believes
)
LIMITS = (
    f"Files up to {limits.MAX_FILE_BYTES // 2**20} MiB in all, {limits.CLINIC_ARRAY_NUMBERS:,} numbers in "
    f"one array, {limits.MAX_TOTAL_NUMBERS:,} in all arrays, {limits.MAX_ENTRIES} arrays; "
    f".json and .csv up to {limits.MAX_TEXT_BYTES // 2**20} MiB."
)
ENDINGS = (".npz", ".npy", ".safetensors", ".json", ".csv")


def load(files: Iterable[tuple[str, bytes]]) -> dict[str, np.ndarray]:
    """(file name, content) pairs -> the arrays of all files by name; raises InputError.

    An archive names its own arrays; a .npy or .csv file is the array that its file name says.
    """
    arrays: dict[str, np.ndarray] = {}
    files = list(files)
    total = sum(len(data) for _, data in files)
    if total > limits.MAX_FILE_BYTES:
        raise InputError(
            "too_large", f"the files have {total:,} bytes, the limit is {limits.MAX_FILE_BYTES:,}"
        )
    read = chain.from_iterable(arrays_in(file_name, data) for file_name, data in files)
    for name, array in limits.within_total(read):
        if name in arrays:
            raise InputError("duplicate_array", f"there are two arrays called {shown(name)}")
        arrays[name] = array
    return arrays


def arrays_in(file_name: str, data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of one file, whose kind its name and its first bytes must agree on."""
    name = PurePosixPath(file_name.replace("\\", "/")).name
    stem, ending = PurePosixPath(name).stem, PurePosixPath(name).suffix.lower()
    if not data:
        raise InputError("empty", f"the file {shown(name)} is empty")
    if ending == ".npz":
        return read_npz(data, KNOWN)
    if ending == ".npy":
        return iter([(stem, _read_whole_npy(data, stem))])
    if ending == ".safetensors":
        return read_safetensors(data, KNOWN)
    if ending == ".json":
        return read_json(data)
    if ending == ".csv":
        return read_csv(data, stem)
    if ending in (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt"):
        raise InputError(
            "pickled",
            f"{shown(name)} may hold pickled objects, which are never loaded. Save with np.savez "
            "or safetensors",
        )
    raise InputError("unknown_type", f"{shown(name)} is not one of {', '.join(ENDINGS)}")


def _read_whole_npy(data: bytes, stem: str) -> np.ndarray:
    if data[:4] == b"PK\x03\x04" and data[:6] != MAGIC:
        raise InputError("malformed", f"{shown(stem)} is an archive: name it .npz")
    return read_npy(io.BytesIO(data), stem, KNOWN.most_numbers)


def load_paths(paths: Iterable[str | Path]) -> dict[str, np.ndarray]:
    """Files on disk -> arrays; the sizes are looked at before anything is read."""
    contents = []
    left = limits.MAX_FILE_BYTES
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                data = file.read(left + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError("unreadable", f"cannot open {shown(str(path))}: {reason}") from None
        left -= len(data)
        if left < 0:
            raise InputError(
                "too_large", f"the files are larger than the limit of {limits.MAX_FILE_BYTES:,} bytes"
            )
        contents.append((path.name, data))
    return load(contents)
