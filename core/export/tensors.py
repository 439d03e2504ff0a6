"""A state's tensors as files, and the files read back: every number survives exactly."""

import csv
import io
import json
import zipfile

import numpy as np

from core.heads import MultiHeadSteps
from core.setup import Inputs, Setup, choices, inputs, run

MOST_NUMBERS = 200_000  # as text; .npz takes any state
HEADER = ("tensor", "head", "row", "column", "row_label", "column_label", "value")
_PER_HEAD = ("q", "k", "v", "scores", "scaled_scores", "masked_scores", "weights", "output")
_NOT_FINITE = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


class FileError(ValueError):
    """The file is too large to write as text, or not one of ours; the message says which."""


def tensors(setup: Setup) -> dict[str, np.ndarray]:
    """-> every tensor of the state by name: one head axis first, w_o, concat and projected without it."""
    return _named(inputs(setup), run(setup))


def count(given: Inputs, steps: MultiHeadSteps) -> int:
    """How many numbers the tensors of a state hold that was computed already."""
    return sum(array.size for array in _named(given, steps).values())


def _named(given: Inputs, steps: MultiHeadSteps) -> dict[str, np.ndarray]:
    heads = {name: getattr(steps.heads, name) for name in _PER_HEAD}
    return heads | {"concat": steps.concat, "w_o": given.w_o, "projected": steps.output}


def to_npz(setup: Setup) -> bytes:
    """A compressed NumPy archive: the tensors, and the setup as JSON under "setup"."""
    arrays = tensors(setup) | {"setup": np.array(json.dumps(choices(setup)))}
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def from_npz(data: bytes) -> tuple[Setup, dict[str, np.ndarray]]:
    """What to_npz wrote -> the setup and its tensors. Raises FileError."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        setup = Setup(**json.loads(str(arrays.pop("setup"))))
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"this is no .npz file of this tutor: {error}") from error
    return setup, arrays


def to_json(setup: Setup) -> str:
    """The setup, the names of rows and channels, and the tensors as nested lists.

    JSON has no infinity: −∞ is the text "-Infinity". Raises FileError for a state too large for text.
    """
    arrays = _as_text(setup)
    given = inputs(setup)
    names = ("query_tokens", "key_tokens", "channels", "value_channels")
    content = {
        "setup": choices(setup),
        "names": {name: list(getattr(given, name)) for name in names},
        "tensors": {name: _listed(array) for name, array in arrays.items()},
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> tuple[Setup, dict[str, np.ndarray]]:
    """What to_json wrote -> the setup and its tensors. Raises FileError."""
    try:
        content = json.loads(text)
        setup = Setup(**content["setup"])
        return setup, {name: _unlisted(lists) for name, lists in content["tensors"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"this is no .json file of this tutor: {error}") from error


def to_csv(setup: Setup) -> str:
    """One line for each number, with the names of its row and column. Raises FileError like to_json."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADER)
    labels = _labels(setup)
    for name, array in _as_text(setup).items():
        rows, columns = labels[name]
        for index, value in np.ndenumerate(array):
            head, row, column = index if len(index) == 3 else ("", *index)
            writer.writerow(
                [name, head, row, column, _cell(rows[row]), _cell(columns[column]), repr(float(value))]
            )
    return file.getvalue()


def from_csv(text: str) -> dict[str, np.ndarray]:
    """What to_csv wrote -> the tensors. Raises FileError."""
    reader = csv.DictReader(io.StringIO(text))
    if tuple(reader.fieldnames or ()) != HEADER:
        raise FileError(f"the first line must be {','.join(HEADER)}, but it is {reader.fieldnames}")
    found: dict[str, dict[tuple[int, ...], float]] = {}
    try:
        for line in reader:
            index = tuple(int(line[axis]) for axis in ("head", "row", "column") if line[axis] != "")
            found.setdefault(line["tensor"], {})[index] = float(line["value"])
        return {name: _gathered(cells) for name, cells in found.items()}
    except (ValueError, TypeError, IndexError) as error:
        raise FileError(f"this is no .csv file of this tutor: {error}") from error


def _gathered(cells: dict[tuple[int, ...], float]) -> np.ndarray:
    """index -> value, every index of a box once -> the array."""
    shape = tuple(max(axis) + 1 for axis in zip(*cells, strict=True))
    array = np.empty(shape)
    if array.size != len(cells):
        raise ValueError(f"{len(cells)} numbers cannot fill the shape {shape}")
    for index, value in cells.items():
        array[index] = value
    return array


def _as_text(setup: Setup) -> dict[str, np.ndarray]:
    arrays = tensors(setup)
    count = sum(array.size for array in arrays.values())
    if count > MOST_NUMBERS:
        raise FileError(
            f"this state holds {count:,} numbers, too many for a text file (at most {MOST_NUMBERS:,}): "
            "take the .npz file, or make d_k, the sequence or the number of heads smaller"
        )
    return arrays


def _labels(setup: Setup) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """tensor -> the names of its rows and of its columns."""
    given = inputs(setup)
    queries, keys, channels, values = (
        given.query_tokens, given.key_tokens, given.channels, given.value_channels,
    )  # fmt: skip
    side_by_side = tuple(f"head {head}, {name}" for head in range(setup.n_heads) for name in values)
    model = tuple(str(channel) for channel in range(given.w_o.shape[-1]))
    maps = dict.fromkeys(("scores", "scaled_scores", "masked_scores", "weights"), (queries, keys))
    return maps | {
        "q": (queries, channels),
        "k": (keys, channels),
        "v": (keys, values),
        "output": (queries, values),
        "concat": (queries, side_by_side),
        "w_o": (side_by_side, model),
        "projected": (queries, model),
    }


def _cell(label: str) -> str:
    """A label that no spreadsheet takes for a formula."""
    return f"'{label}" if label.startswith(("=", "+", "-", "@", "\t", "\r")) else label


def _listed(array: np.ndarray) -> list:
    """Nested lists; what is not finite becomes a text."""
    if array.ndim > 1:
        return [_listed(part) for part in array]
    names = {np.inf: "Infinity", -np.inf: "-Infinity"}
    return [value if np.isfinite(value) else names.get(value, "NaN") for value in array.tolist()]


def _unlisted(lists: list) -> np.ndarray:
    """Nested lists -> float64 array."""
    if lists and isinstance(lists[0], list):
        return np.array([_unlisted(part) for part in lists])
    return np.array([_NOT_FINITE[value] if isinstance(value, str) else float(value) for value in lists])
