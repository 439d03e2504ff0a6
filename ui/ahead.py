"""The next pictures, sent before they are asked for.

A move of a slider takes a journey to the server and back. What one step of it will bring can be known before:
the core has those numbers in about a millisecond. So a board is sent together with its next pictures, and the
browser shows the one that the slider is moved to at once (assets/matrix/board.js, `follow`). The answer that
comes after it is computed anew, as always, and has the last word.
"""

from collections.abc import Callable, Iterator, Sequence

from core.offered import D_KS, SEQ_LENS
from ui.controls import DRAGGED
from ui.matrix import Ahead, Matrix, news
from ui.view import View

SLIDERS = {DRAGGED: ("seq_len", SEQ_LENS), "d_k": ("d_k", D_KS)}  # a widget's key -> its field, its stops
# Beyond these the next pictures cost the server or the line more than they save the reader.
MOST_NEWS = 5000  # numbers of one picture that are not on the board already: 53 kB
MOST_CELLS = 2000  # of the whole board, for another d_k: it changes all numbers
MOST_WIDTH = 256  # d_model


def pictures(view: View, now: Sequence[Matrix], draw: Callable[[View], Sequence[Matrix]]) -> Iterator[Ahead]:
    """What `draw`, which has made `now` of this view, makes of each view that is one step of a slider away.

    None for a trained head, whose sizes are its own, and none where there is much to compute or to send. A
    longer or shorter sequence leaves most scores as they are, so even at T = 64 its pictures are small.
    """
    if view.setup.is_real or view.setup.d_model > MOST_WIDTH:
        return
    for key, (field, stops) in SLIDERS.items():
        if field == "d_k" and sum(matrix.values.size for matrix in now) > MOST_CELLS:
            continue
        here = getattr(view.setup, field)
        place = stops.index(here)
        for there in (*stops[max(0, place - 1) : place], *stops[place + 1 : place + 2]):
            moved = view.but(**{field: there})
            next_ones = draw(moved)
            if _count_news(next_ones, now) <= MOST_NEWS:
                yield Ahead(key, str(here), str(there), next_ones, moved.selected)


def _count_news(matrices: Sequence[Matrix], now: Sequence[Matrix]) -> int:
    present = {matrix.id: matrix for matrix in now}
    return sum(
        int(news(matrix, present[matrix.id]).sum()) if matrix.id in present else matrix.values.size
        for matrix in matrices
    )
