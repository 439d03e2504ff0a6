"""What a reader takes along: runnable programs, code with blanks, tensors as files, a page to print."""

from core.export.blanks import NUMPY_BLANKS, CodeBlank, CodeChecked, check_code
from core.export.lines import MADE_BY, listing
from core.export.printable import matrices_page
from core.export.programs import VERSIONS, as_notebook, as_python, cells, file_name
from core.export.tensors import (
    MOST_NUMBERS,
    FileError,
    count,
    from_csv,
    from_json,
    from_npz,
    tensors,
    to_csv,
    to_json,
    to_npz,
)

__all__ = [
    "MADE_BY",
    "MOST_NUMBERS",
    "NUMPY_BLANKS",
    "VERSIONS",
    "CodeBlank",
    "CodeChecked",
    "FileError",
    "as_notebook",
    "as_python",
    "cells",
    "check_code",
    "count",
    "file_name",
    "from_csv",
    "from_json",
    "from_npz",
    "listing",
    "matrices_page",
    "tensors",
    "to_csv",
    "to_json",
    "to_npz",
]
