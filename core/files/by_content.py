"""The arrays of one file, whatever it is called: its first bytes say which kind it is."""

import numpy as np

from core.files.errors import InputError, shown
from core.files.limits import CAPTURE_ARRAY_NUMBERS, Wanted, within_total
from core.files.npz import read_npz
from core.files.safetensors import read_safetensors

CAPTURE = Wanted(CAPTURE_ARRAY_NUMBERS, array=lambda _: True, text=lambda _: True)
"""Everything: where q, k or v is missing, its owner is told what was found instead."""


def read_arrays(data: bytes, file_name: str = "the file") -> dict[str, np.ndarray]:
    """The bytes of an .npz or a .safetensors file -> its arrays by name. Raises InputError.

    Texts in a safetensors file's metadata become arrays of text; a tensor of the same name goes first.
    """
    if data[:2] == b"PK":
        read = read_npz
    elif len(data) > 9 and data[8:9] == b"{":
        read = read_safetensors
    else:
        raise InputError(
            "unknown_type",
            f"{shown(file_name)} is neither an .npz nor a .safetensors file, or it was cut off at its start",
        )
    return dict(within_total(read(data, CAPTURE)))
