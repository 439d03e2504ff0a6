"""The next pictures, sent before they are asked for.

A move of a slider takes a journey to the server and back. What one step of it will bring can be known before:
the core has those numbers in about a millisecond. So a board is sent together with its next pictures, and the
browser shows the one that the slider is moved to at once (assets/matrix/board.js, `follow`). The answer that
comes after it is computed anew, as always, and has the last word.
"""

from collections.abc import Callable, Iterator, Sequence

from core.offered import D_KS, SEQ_LENS
from ui.controls import DRAGGED
from ui.matrix import Ahead, Matrix
from ui.view import View

SLIDERS = {DRAGGED: ("seq_len", SEQ_LENS), "d_k": ("d_k", D_KS)}  # a widget's key -> its field, its stops
# Beyond these the next pictures cost the server or the line more than they save the reader.
MOST_CELLS = 2000  # of all matrices of one picture
MOST_WIDTH = 256  # d_model


def pictures(view: View, now: Sequence[Matrix], draw: Callable[[View], Sequence[Matrix]]) -> Iterator[Ahead]:
    """What `draw`, which has made `now` of this view, makes of each view that is one step of a slider away.

    None for a trained head, whose sizes are its own, and none where there is much to compute or to send.
    """
    if view.setup.is_real or view.setup.d_model > MOST_WIDTH or _cells(now) > MOST_CELLS:
        return
    for key, (field, stops) in SLIDERS.items():
        here = getattr(view.setup, field)
        place = stops.index(here)
        for there in (*stops[max(0, place - 1) : place], *stops[place + 1 : place + 2]):
            moved = view.but(**{field: there})
            yield Ahead(key, str(here), str(there), draw(moved), moved.selected)


def _cells(matrices: Sequence[Matrix]) -> int:
    return sum(matrix.values.size for matrix in matrices)
