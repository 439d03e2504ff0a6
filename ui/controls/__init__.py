"""The inputs beside the page: the reader's choices, the selected cell, and what single pages add."""

from ui.controls.editing import keep_edit
from ui.controls.length import DRAGGED
from ui.controls.own import heads_part, replaced_word
from ui.controls.selection import Selection, pick, within
from ui.controls.sidebar import ask_in_the_next_run, draw, held, open_state

__all__ = [
    "DRAGGED",
    "Selection",
    "ask_in_the_next_run",
    "draw",
    "heads_part",
    "held",
    "keep_edit",
    "open_state",
    "pick",
    "replaced_word",
    "within",
]
