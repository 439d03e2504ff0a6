"""Presenter mode and speaker notes: two switches that stay in the URL from page to page.

`present=1`: large type, no chrome, the whole page on one screen, answers hidden until R reveals them.
`notes=1`: the notes of the page above it, for a window that only the teacher sees.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import streamlit as st

from ui import steps
from ui.board import MAX_HEIGHT

SCALE = 1.45  # of the matrices
CHART_TYPE = 18  # pixels
TALLER = 1.3  # charts, than readers see them
ALONE = 1.8  # the same, where a screen holds nothing else below its heading
FULL = 1.0  # and where the screen is full as it is
SHARE = 0.7  # of their usual height, for matrices with something under them
TO_THE_END = 0  # of the screen, for the others; see assets/matrix/board.js
FEW_ROWS = 8  # matrices of no more rows stand two above two
FEW_NUMBERS = 64  # a board of no more in a matrix has room for two others beside it
LONG_CODE = 3  # lines; longer code has a screen of its own
SWITCHES = {"present": "Presenter mode", "notes": "Speaker notes"}


def draw(slug: str) -> None:
    """The two switches, at the top of the sidebar: on the Teach page, and wherever one of them is on."""
    if slug != "teach" and not any(map(_asked, SWITCHES)):
        return
    with st.container(horizontal=True):
        for key, label in SWITCHES.items():
            _take_short_form(key)
            st.toggle(label, key=key, bind="query-params")


def presenting() -> bool:
    """Whether the page is shown to a class. True only after draw()."""
    return bool(st.session_state.get("present"))


def with_notes() -> bool:
    """Whether the teacher's notes stand above the page. True only after draw()."""
    return bool(st.session_state.get("notes"))


def starts_bare() -> bool:
    """Whether this run is asked to begin without its sidebar; known before draw()."""
    return _asked("present")


def listen_for_keys(slugs: Sequence[str], page: str) -> None:
    """The step keys, and in presenter mode the others."""
    steps.listen(slugs, page, present=presenting(), notes=with_notes(), on_leave=_leave)


def scale() -> float:
    """How much larger the matrices are drawn."""
    return SCALE if presenting() else 1.0


def room(max_height: int) -> int:
    """The height that matrices may take, before they are drawn larger; MAX_HEIGHT where nothing follows."""
    if not presenting():
        return max_height
    return TO_THE_END if max_height >= MAX_HEIGHT else int(SHARE * max_height)


def rest(max_height: int) -> int:
    """The height for matrices that are the last of their screen."""
    return TO_THE_END if presenting() else max_height


def crowded(rows: int, cols: int) -> bool:
    """Whether several matrices of this size are more than a class can read, so that colours must do."""
    return presenting() and min(rows, cols) > FEW_ROWS


def code_place(lines: int) -> AbstractContextManager:
    """Where a page's code stands: for a class, long code goes to the page's second screen."""
    if not presenting():
        return nullcontext()
    return st.container(key="page_code_long" if lines > LONG_CODE else "page_code")


def screen(name: str, place: str = "") -> AbstractContextManager:
    """A container for what follows a page's first look: to a class it is shown on a screen of its own.

    Readers see no difference. Screens stand in the order of the page; what is in none is the first of them.
    Blocks of one name share a screen; `place` tells them apart.
    """
    return st.container(key=f"screen_{name}__{place}" if place else f"screen_{name}")


def beside(rows: int, *, wide: bool = False) -> AbstractContextManager:
    """Where words with a table of so many rows stand: with few, for a class too, beside the matrices.

    `wide` matrices need all the room.
    """
    return screen("sum") if presenting() and (wide or rows > FEW_ROWS) else nullcontext()


def _asked(key: str) -> bool:
    return bool(st.session_state.get(key)) or st.query_params.get(key) in ("1", "true")


def _take_short_form(key: str) -> None:
    """`present=1`, as people write it, is the switch's own `present=true`."""
    if st.query_params.get(key) == "1":
        del st.query_params[key]
        st.session_state[key] = True


def _leave() -> None:
    st.session_state["present"] = False
