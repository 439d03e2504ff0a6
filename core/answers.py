"""Numbers that a reader types: reading them, and judging whether they are right."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.numbers import number

LONGEST = 40  # characters; what is longer is no number that anybody types

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?", re.ASCII)
_WORDS = {"nan": math.nan, "inf": math.inf, "∞": math.inf, "infinity": math.inf}


@dataclass(frozen=True, slots=True)
class Slip:
    """A wrong number that has a known cause."""

    value: float
    meaning: str  # what giving it would have meant


def slips_of(answer: float, named: Mapping[str, float]) -> tuple[Slip, ...]:
    """meaning -> wrong number; those that happen to be the right number are left out."""
    return tuple(Slip(float(value), meaning) for meaning, value in named.items() if value != answer)


def meaning_of(given: float, slips: Iterable[Slip], decimals: int, otherwise: str) -> str:
    """A wrong number -> what it would have meant; `otherwise` where no slip is known that leads to it."""
    known = (slip.meaning for slip in slips if is_right(given, slip.value, decimals or 3))
    return next(known, otherwise)


def read_number(text: str) -> float | None:
    """What a reader typed -> the number, or None if it is none.

    Takes a comma for a point, a true minus sign, a fraction ("1/7"), a percentage ("85.4 %"), "−∞" and "NaN".
    """
    text = text.strip().lower().replace("−", "-").replace(" ", "")
    if not text or len(text) > LONGEST:
        return None
    if text.endswith("%"):
        value = _plain(text[:-1])
        return None if value is None else value / 100
    numerator, slash, denominator = text.partition("/")
    if not slash:
        return _plain(text)
    above, below = _plain(numerator), _plain(denominator)
    return None if above is None or not below else above / below


def tolerance(answer: float, decimals: int) -> float:
    """How far from `answer` a right number may be when it is asked for to so many decimals.

    One unit of the last decimal, so that a pocket calculator's rounding on the way is forgiven, and a
    thousandth of a large answer. Whole numbers (decimals = 0) are asked for exactly.
    """
    if decimals == 0:
        return 1e-9 * max(1.0, abs(answer))
    return max(1.0001 * 10**-decimals, 1e-3 * abs(answer))


def is_right(given: float, answer: float, decimals: int) -> bool:
    """Whether a given number is the answer. NaN and the infinities are right only as themselves."""
    if not math.isfinite(answer) or not math.isfinite(given):
        return given == answer or (math.isnan(given) and math.isnan(answer))
    return abs(given - answer) <= tolerance(answer, decimals)


def rounded(value: float, decimals: int) -> str:
    """0.8544, 3 -> "0.854"; 8.0, 3 -> "8"; −0.25, 2 -> "−0.25"; a tiny number keeps its power of ten."""
    if not math.isfinite(value) or value == round(value) or abs(value) < 0.5 * 10**-decimals:
        return number(value)
    return f"{value:.{decimals}f}".replace("-", "−")


def _plain(text: str) -> float | None:
    """One number without a slash or a percent sign."""
    sign = -1.0 if text.startswith("-") else 1.0
    if (word := text.lstrip("+-")) in _WORDS:
        return sign * _WORDS[word]
    text = text.replace(",", ".")
    return float(text) if _NUMBER.fullmatch(text) else None
