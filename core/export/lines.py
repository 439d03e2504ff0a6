"""The formula, the code and the values joined: which line makes which tensor out of which part."""

from core.export.sources import FUNCTIONS, NUMPY_FUNCTIONS, with_blanks

# part of the formula, named as in ui/frame.py -> (field of AttentionSteps, the shape arrow)
MADE_BY = {
    "score": ("scores", "(h, n_q, d_k) · (h, d_k, n_k) → (h, n_q, n_k)"),
    "scale": ("scaled_scores", "(h, n_q, n_k) → the same shape"),
    "mask": ("masked_scores", "(h, n_q, n_k), allowed (n_q, n_k) → the same shape"),
    "softmax": ("weights", "(h, n_q, n_k) → the same shape, each row sums to 1"),
    "blend": ("output", "(h, n_q, n_k) · (h, n_k, d_v) → (h, n_q, d_v)"),
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
