"""Numbers as the captions print them: true minus signs, no -0, no 1e-05."""

import math
from collections.abc import Sequence

import numpy as np

Table = tuple[tuple[str, ...], ...]  # rows of texts, the header first
MINUS, NARROW_SPACE, NO_BREAK = "\u2212", "\u202f", "\u00a0"
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def significant(value: float, digits: int = 2) -> str:
    """A number to `digits` significant digits: 0.064, 64.2, 1 027, 1.9×10⁻⁶.

    Digits before the decimal point are never rounded away. Exact zero alone prints 0, and an
    exact whole number prints no decimals.
    """
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else MINUS + "∞")
    if value == 0:
        return "0"
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    exponent = int(power)
    if exponent < -4 or exponent > 5:
        text = f"{mantissa}×10{str(exponent).translate(_SUPERSCRIPTS)}"
    else:
        decimals = 0 if value.is_integer() else max(0, digits - 1 - exponent)
        text = f"{value:,.{decimals}f}".replace(",", NARROW_SPACE)
    return text.replace("-", MINUS)


def fixed(value: float, decimals: int = 2) -> str:
    """A number with so many decimals, never −0.00."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def percent(share: float) -> str:
    """A share 0 to 1 as a percentage; 0 % and 100 % only when it is exactly so."""
    if share in (0, 1):
        return f"{share * 100:.0f}{NO_BREAK}%"
    if share < 0.001:
        return f"<0.1{NO_BREAK}%"
    if share > 0.999:
        return f">99.9{NO_BREAK}%"
    decimals = 1 if share < 0.1 or share > 0.99 else 0
    return f"{share * 100:.{decimals}f}{NO_BREAK}%"


def sizes(array: np.ndarray) -> str:
    """A shape as it is read out: 7 × 4."""
    return " × ".join(map(str, array.shape))


def count(value: int) -> str:
    """A whole number, its thousands set apart."""
    return f"{value:,}".replace(",", NARROW_SPACE)


def counted(n: int, noun: str) -> str:
    """1 row, 2 rows."""
    return f"{count(n)} {noun}{'' if n == 1 else 's'}"


def times(ratio: float) -> str:
    """How many times as much, as a learner says it: 13 times, 1.5 times."""
    return f"{significant(ratio, 2)} times"


def weight(value: float) -> str:
    """An attention weight to three decimals; 0 and 1 only when it is exactly so."""
    if value in (0, 1):
        return f"{value:.0f}"
    if value < 0.0005:
        return "<0.001"
    return ">0.999" if value >= 0.9995 else fixed(value, 3)


def listed(names: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
