"""The formula, the code and the values joined: which line makes which tensor out of which part."""

from dataclasses import dataclass

import numpy as np

from core.export.sources import FUNCTIONS, NUMPY_FUNCTIONS, TORCH_FUNCTIONS, with_blanks
from core.setup import Setup, run


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One step in all its forms."""

    part: str  # the part of the formula, named as in ui/frame.py
    formula: str
    numpy: str
    torch: str
    tensor: str  # field of AttentionSteps
    value: np.ndarray  # (h, n_q, ...) of the state
    note: str  # the shape arrow


_STEPS = (
    ("score", "Q Kᵀ", "scores", "(h, n_q, d_k) · (h, d_k, n_k) → (h, n_q, n_k)"),
    ("scale", "/ √d_k", "scaled_scores", "(h, n_q, n_k) → the same shape"),
    ("mask", "+ M", "masked_scores", "(h, n_q, n_k), allowed (n_q, n_k) → the same shape"),
    ("softmax", "softmax", "weights", "(h, n_q, n_k) → the same shape, each row sums to 1"),
    ("blend", "· V", "output", "(h, n_q, n_k) · (h, n_k, d_v) → (h, n_q, d_v)"),
)
_ASSIGNED = {
    "scores": "scores",
    "scaled_scores": "scaled",
    "masked_scores": "masked",
    "weights": "weights",
    "output": "output",
}
# How the lines begin that transcribe a part, in each version.
_STEPS_ALIKE = {
    "score": ("scores = ",),
    "scale": ("scaled = ",),
    "mask": ("masked = ",),
    "softmax": ("weights = ",),
    "blend": ("output = ",),
}
_BEGINS = {
    "numpy": _STEPS_ALIKE | {"softmax": ("weights = ", "def softmax(", "e = np.exp(", "return e / ")},
    "torch": _STEPS_ALIKE,
    "module": {
        "score": ("z = q @ ",),
        "scale": ("z = q @ ",),
        "mask": ("if allowed ", "z = z.masked_fill("),
        "softmax": ("weights = torch.softmax(",),
        "blend": ("heads = weights @ ",),
    },
}


def listing(version: str, *, blanks: bool = False) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The functions of a version, line by line, each with the parts of the formula that it transcribes.

    With `blanks`, the NumPy lines have ____ to fill in. Raises KeyError for an unknown version.
    """
    source = with_blanks(NUMPY_FUNCTIONS) if blanks else FUNCTIONS[version]
    begins = _BEGINS[version].items()
    return tuple(
        (line, tuple(part for part, starts in begins if line.strip().startswith(starts)))
        for line in source.splitlines()
    )


def lines(setup: Setup) -> tuple[Line, ...]:
    """The steps in order, with the very lines of the exported programs and the values of this state."""
    heads = run(setup).heads
    return tuple(
        Line(
            part,
            formula,
            _line(NUMPY_FUNCTIONS, _ASSIGNED[tensor]),
            _line(TORCH_FUNCTIONS, _ASSIGNED[tensor]),
            tensor,
            getattr(heads, tensor),
            note,
        )
        for part, formula, tensor, note in _STEPS
    )


def _line(source: str, name: str) -> str:
    """The line that assigns `name` inside attention(), without its comment."""
    body = source[source.index("def attention(") :].splitlines()
    found = next(line for line in body if line.strip().startswith(f"{name} = "))
    return found.partition("  #")[0].strip()
