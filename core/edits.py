"""Numbers of q, k and v that the reader typed, as the text that an address holds: "q.0.4.0=3;v.0.1.0=-2"."""

import math
import re

from core.examples import MAX_SEQ_LEN
from core.offered import D_KS, HEADS

EDIT_LIMIT = 99.0
MAX_EDITS = 64

Edits = dict[tuple[str, int, int, int], float]  # (tensor, head, row, channel) -> value
_EDIT = re.compile(
    r"(?P<tensor>[qkv])\.(?P<head>\d{1,4})\.(?P<row>\d{1,4})\.(?P<channel>\d{1,4})"
    r"=(?P<value>[+-]?\d{1,20}(\.\d{0,20})?(e[+-]?\d{1,3})?)",
    re.ASCII,
)


def parse_edits(text: str) -> Edits:
    """Text such as "q.0.4.0=3;v.0.1.0=-2" -> {("q", 0, 4, 0): 3.0, ("v", 0, 1, 0): -2.0}.

    What is no edit is left out. Values are held within -99 to 99; the first 64 edits count.
    """
    edits: Edits = {}
    for entry in text.split(";"):
        found = _EDIT.fullmatch(entry.strip())
        value = float(found["value"]) if found else math.nan
        if found and math.isfinite(value) and len(edits) < MAX_EDITS:
            cell = (found["tensor"], int(found["head"]), int(found["row"]), int(found["channel"]))
            if fits(cell[1:], (max(HEADS), MAX_SEQ_LEN, max(D_KS))):
                edits[cell] = within_limit(value)
    return edits


def written_edits(edits: Edits) -> str:
    """-> the text that parse_edits reads them from, MAX_EDITS of them at most."""
    return ";".join(f"{t}.{h}.{r}.{c}={_short(v)}" for (t, h, r, c), v in list(edits.items())[:MAX_EDITS])


def within_limit(value: float) -> float:
    """The value, or the nearest that an edit may have."""
    return min(max(value, -EDIT_LIMIT), EDIT_LIMIT)


def fits(index: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape has the cell."""
    return all(0 <= i < n for i, n in zip(index, shape, strict=True))


def _short(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if value == int(value) else repr(value)
