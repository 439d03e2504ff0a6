"""Words from somebody else's file, made fit to be shown: each character visible, none with power over others.

A token may hold what has no picture of its own (a line break, a zero-width space), what turns the text after
it around (U+202E), more accents than a line is high, or half a character. In a table, a sentence or a label
such a token must stay in its place and be told from its neighbours.
"""

import unicodedata

MOST_MARKS = 4  # accents on one letter; living scripts use fewer
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_JOINERS = "\u200c\u200d"  # they belong to the spelling of some scripts, and hold emoji together
_FROM_RIGHT = ("R", "AL", "AN")
_ISOLATE, _END = "\u2068", "\u2069"


def displayable(token: str, most: int = 100) -> str:
    """A token of any kind -> text of one line that can stand in any sentence; `most` characters count.

    "\\n" becomes a backslash and an n, other invisible characters their number, such as ‹U+202E›; nothing at
    all becomes ‹empty›, and a blank ␣. A word that is written from the right is set apart (U+2068), so that
    the text around it keeps its own order.
    """
    letters = token[:most]
    shown = "".join(_visible(letters, place) for place in range(len(letters)))
    if not shown.strip(" "):
        return "␣" * len(shown) or "‹empty›"
    from_right = any(unicodedata.bidirectional(letter) in _FROM_RIGHT for letter in shown)
    return f"{_ISOLATE}{shown}{_END}" if from_right else shown


def _visible(letters: str, place: int) -> str:
    """One character as it is shown where it stands."""
    letter = letters[place]
    kind = unicodedata.category(letter)
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter in _JOINERS and _joins(letters, place):
        return letter
    if kind == "Cs":
        return "\ufffd"
    if kind in ("Cc", "Cf", "Zl", "Zp", "Cn", "Co"):
        return f"‹U+{ord(letter):04X}›"
    if kind == "Zs":
        return " "
    return "" if kind in ("Mn", "Me") and _is_heaped(letters, place) else letter


def _joins(letters: str, place: int) -> bool:
    """Whether a joiner stands between two characters of a script, or of a picture, that uses it."""
    around = letters[place - 1 : place] + letters[place + 1 : place + 2]
    return len(around) == 2 and all(letter > "\u02ff" and letter not in _JOINERS for letter in around)


def _is_heaped(letters: str, place: int) -> bool:
    """Whether MOST_MARKS accents stand between this one and its letter."""
    before = letters[max(0, place - MOST_MARKS) : place]
    return len(before) == MOST_MARKS and all(unicodedata.category(mark) in ("Mn", "Me") for mark in before)
