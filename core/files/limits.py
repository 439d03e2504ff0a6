"""What and how much is read from a stranger's file. Checked before anything is unpacked.

One number differs between the two who read files: how large one array may be. The clinic tries hundreds of
calculations on each array, and its arrays are q, k, v and an output. A capture is calculated once, and holds
a layer's weights and mask as one array each: (16, 1024, 1024) is 2**24 numbers.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from core.files.errors import InputError

CLINIC_ARRAY_NUMBERS = 2**22  # in one array
CAPTURE_ARRAY_NUMBERS = 2**24  # in one array
MAX_TOTAL_NUMBERS = 2**24  # in all arrays together
MAX_ENTRIES = 64  # arrays in an archive
MAX_HEADER_BYTES = 4096  # of one .npy header
MAX_JSON_HEADER_BYTES = 2**18  # of a .safetensors header
MAX_AXES = 8
MAX_TOKEN = 100  # characters of one text in a list of texts

# Only the clinic takes several files, and text.
MAX_FILE_BYTES = 64 * 2**20  # of all files together
MAX_TEXT_BYTES = 16 * 2**20  # of a .json or .csv file


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one reader takes from a file; nothing else in it is unpacked."""

    most_numbers: int  # in one array
    array: Callable[[str], bool]  # whether an array of this name is read
    text: Callable[[str], bool]  # whether a text of this name in a safetensors file's metadata is


def within_total(arrays: Iterable[tuple[str, np.ndarray]]) -> Iterator[tuple[str, np.ndarray]]:
    """The same arrays by name; InputError at the one with which they become too many numbers."""
    total = 0
    for name, array in arrays:
        total += array.size
        if total > MAX_TOTAL_NUMBERS:
            raise InputError("too_large", f"the arrays have more than {MAX_TOTAL_NUMBERS:,} numbers in all")
        yield name, array
