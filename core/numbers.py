"""Numbers as a calculation shows them: short where they are exact, rounded to see where they are not."""

import math

DECIMALS = 3
_SUPERSCRIPT = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def number(value: float) -> str:
    """3.0 -> "3", 1.5 -> "1.5", -0.8544 -> "−0.854", -0.0 -> "0", 2.1e-8 -> "2.1×10⁻⁸", -inf -> "−∞".

    At most 3 decimals. Ending zeros ("1.000") tell that the number was rounded. What would
    round to 0, and what is too long to read, is written with a power of ten.
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    size = abs(value)
    if math.isinf(value):
        text = "∞"
    elif size != 0 and (size < 0.5 * 10**-DECIMALS or size >= 1e15):
        text = _power_of_ten(size)
    elif is_short(size):
        text = f"{size:.{DECIMALS}f}".rstrip("0").rstrip(".")
    else:
        text = f"{size:.{DECIMALS}f}"
    return f"−{text}" if value < 0 else text


def factor(value: float) -> str:
    """A number that stands in a product: in parentheses when it has a sign or a power of ten."""
    text = number(value)
    return f"({text})" if text.startswith("−") or "×" in text else text


def power(exponent: float) -> str:
    """4 -> "e⁴", 1.5 -> "e^1.5", -0.5 -> "e^(−0.5)"."""
    text = number(exponent)
    return f"e{text.translate(_SUPERSCRIPT)}" if text.strip("−").isdigit() else f"e^{factor(exponent)}"


def _power_of_ten(size: float) -> str:
    digits, exponent = f"{size:.2e}".split("e")
    raised = str(int(exponent)).replace("-", "−").translate(_SUPERSCRIPT)
    return f"{digits.rstrip('0').rstrip('.')}×10{raised}"


def is_short(value: float) -> bool:
    """Whether three decimals hold the number, up to the last bits of its float."""
    return math.isclose(value, round(value, DECIMALS), rel_tol=2e-15)
