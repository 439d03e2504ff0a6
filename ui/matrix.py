"""What a matrix on screen is: its numbers, the words around them, and where they stand.

    Matrix("scores", "Scores S", s, words, words, "query", "key", "diverging")

The board draws it (ui/board.py); how each of the lesson's tensors becomes one is told in ui/tensors.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

COLOURS = ("diverging", "share", "sequential", "origin")


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """One matrix on the board: values (n_rows, n_cols), real; a label for each row and each column.

    row_axis and col_axis name what the rows and columns stand for ("query", "key", "channel", ...). The same
    name in two matrices means the same thing: it is lit and selected in both together.

    colours: "diverging" (0 is neutral, both signs equally strong), "share" (0 to 1), "sequential" (the data's
    range) or "origin" (categories of `origin`). decimals: the most digits after the point in a cell.
    place: grid row and grid column on the board; one grid column shares its column edges, one grid row its
    row edges. row_start, col_start: index of the first row and column when only a part is drawn.
    sources: which cells a cell came from: {"q": ("query",)} are the cells of matrix "q" of the same query.
    small: colours only, no numbers in the cells, so that many maps stand side by side.
    limits: the colour range to share with other matrices, wider than the data's own.
    switches: its cells are 0 or 1, and a click or Enter sends a cell's other value as an edit.

    Raises ValueError where labels, marks or names do not fit; the message names both sides.
    """

    id: str
    title: str
    values: np.ndarray
    row_labels: Sequence[str]
    col_labels: Sequence[str]
    row_axis: str
    col_axis: str
    colours: str
    place: tuple[int, int] = (0, 0)
    decimals: int = 0
    shape: str = ""
    lead: str = ""
    symbol: str = ""
    row_start: int = 0
    col_start: int = 0
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changed: np.ndarray | None = None
    origin: np.ndarray | None = None
    editable: bool = False
    small: bool = False
    switches: bool = False
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn as it is meant."""
        _check_values(self)
        _check_labels(self)
        _check_colours(self)
        for name in ("changed", "origin"):
            _check_same_shape(self, name)


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """What a board will show when a slider of the page has been moved, for the browser to have in time.

    slider is the key of its widget; start and stop are the texts of where it stands and where it is moved to.
    """

    slider: str
    start: str
    stop: str
    matrices: Sequence[Matrix]
    selected: Mapping[str, int]


def news(matrix: Matrix, present: Matrix) -> np.ndarray:
    """Which cells (n_rows, n_cols) do not hold, bit by bit, what `present` holds at the same place.

    Two matrices of other sizes have their upper left corner in common.
    """
    found = np.ones(matrix.values.shape, bool)
    common = tuple(slice(min(sizes)) for sizes in zip(found.shape, present.values.shape, strict=True))
    found[common] = _bits(matrix.values[common]) != _bits(present.values[common])
    return found


def _bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float64).view(np.uint64)


def _check_values(matrix: Matrix) -> None:
    values = matrix.values
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        found = getattr(values, "dtype", type(values).__name__)
        raise ValueError(f"Matrix {matrix.id!r} needs an array of real numbers, found {found}.")
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"Matrix {matrix.id!r} needs rows and columns, found shape {values.shape}.")


def _check_labels(matrix: Matrix) -> None:
    for side, labels, count in zip(
        ("row", "column"), (matrix.row_labels, matrix.col_labels), matrix.values.shape, strict=True
    ):
        if len(labels) != count:
            raise ValueError(
                f"Matrix {matrix.id!r} has {len(labels)} {side} labels, "
                f"but its values have shape {matrix.values.shape}: {count} {side}s."
            )


def _check_colours(matrix: Matrix) -> None:
    if matrix.colours not in COLOURS:
        raise ValueError(
            f"colours is one of {', '.join(COLOURS)}; matrix {matrix.id!r} has {matrix.colours!r}."
        )
    if (matrix.colours == "origin") != (matrix.origin is not None):
        raise ValueError(
            f"Matrix {matrix.id!r}: colours='origin' and an array `origin` of categories belong together, "
            f"found colours={matrix.colours!r} and origin={'given' if matrix.origin is not None else 'None'}."
        )


def _check_same_shape(matrix: Matrix, name: str) -> None:
    array = getattr(matrix, name)
    if array is not None and np.shape(array) != matrix.values.shape:
        raise ValueError(
            f"Matrix {matrix.id!r}: {name} has shape {np.shape(array)}, values has {matrix.values.shape}."
        )
