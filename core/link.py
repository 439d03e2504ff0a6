"""The query part of the address that opens a page in a given state."""

from urllib.parse import urlencode

from core.examples import EXAMPLES
from core.setup import Setup, choices

FIRST = Setup()
FIRST_CELL = {
    "row": EXAMPLES[FIRST.example].row,
    "col": EXAMPLES[FIRST.example].col,
    "channel": 0,
    "head": "0",
}


def query(setup: Setup, **cell: int | float | str) -> str:
    """ "example=coref&seq_len=8&row=6": each field of Setup and of the selected cell that is not the default.

    `cell` may hold row, col, channel and head; further names (present, class, ...) are passed on.
    "" for the state that the tutor starts with.
    """
    chosen = choices(setup) | FIRST_CELL | cell
    start = choices(FIRST) | FIRST_CELL
    return urlencode(
        {name: value for name, value in chosen.items() if str(value) != str(start.get(name, ""))}
    )
