"""The trace card: its levels, its blanks and their checking."""

from core.trace.blanks import Blank
from core.trace.card import (
    LEVEL_OF,
    LEVELS,
    STEPS,
    Card,
    Checked,
    card,
    card_of,
    check_blank,
    check_card,
    is_complete,
)

__all__ = [
    "LEVELS",
    "LEVEL_OF",
    "STEPS",
    "Blank",
    "Card",
    "Checked",
    "card",
    "card_of",
    "check_blank",
    "check_card",
    "is_complete",
]
