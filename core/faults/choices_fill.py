"""How what is not allowed is hidden: the right way and the wrong ways."""

import numpy as np

from core.faults.choices_mask import Compute, anything
from core.faults.pipeline import State, Updates, faulty, right
from core.faults.problem import Problem

# --- hiding ---------------------------------------------------------------------------------------


def hide(s: State, value: np.ndarray | float, shift: float = 0.0) -> Updates:
    """The scaled scores where allowed (plus `shift`), `value` elsewhere."""
    if s.allowed is None:
        return {"masked": s.scaled}
    return {"masked": np.where(s.allowed, s.scaled + shift, value)}


@right("fill")
def fill(p: Problem, s: State) -> Updates:
    return hide(s, -np.inf)


def added_outside(amount: float) -> Compute:
    return lambda p, s: hide(s, s.scaled + amount)


def before_scale(p: Problem, s: State) -> float:
    return 1 / np.sqrt(s.d_k) if p.scale is None else p.scale


faulty("fill", "mask.filled_with_zero", when=anything)(lambda p, s: hide(s, 0.0))
for number in (-1, -2, -5, -10, -20, -50, -100):
    variant = f"{number}"
    faulty("fill", "mask.filled_with_small_negative", variant, when=anything)(
        lambda p, s, number=number: hide(s, float(number))
    )
    faulty("fill", "mask.filled_with_small_negative", variant + " before the scale", when=anything)(
        lambda p, s, number=number: hide(s, number * before_scale(p, s))
    )
    if number < -1:  # adding -1 outside equals adding 1 inside: a 0/1 mask added
        faulty("fill", "mask.filled_with_small_negative", variant + " added", when=anything)(
            added_outside(number)
        )
for number in (1, -1):
    faulty(
        "fill",
        "mask.filled_with_one" if number > 0 else "mask.zero_one_added",
        "" if number > 0 else "1 = may attend",
        when=anything,
    )((lambda p, s: hide(s, 1.0)) if number > 0 else added_outside(-1.0))
faulty("fill", "mask.zero_one_added", "1 = hidden", when=anything)(added_outside(+1.0))
faulty("fill", "mask.zero_one_added", "before the scale", when=anything)(
    lambda p, s: hide(s, s.scaled - before_scale(p, s))
)
faulty("fill", "mask.zero_one_added", "1 = hidden, before the scale", when=anything)(
    lambda p, s: hide(s, s.scaled + before_scale(p, s))
)
faulty("fill", "mask.positive_fill", "added", when=anything)(added_outside(+1e9))
faulty("fill", "mask.positive_fill", "filled", when=anything)(lambda p, s: hide(s, 1e9))
faulty("fill", "mask.positive_fill", "infinity", when=anything)(lambda p, s: hide(s, np.inf))


@faulty("fill", "mask.zero_times_infinity", when=anything)
def zero_times_infinity(p: Problem, s: State) -> Updates:
    return {"masked": np.full_like(s.scaled, np.nan)} if s.allowed is not None else hide(s, 0.0)


@faulty("fill", "mask.after_softmax", when=anything)
def after_softmax(p: Problem, s: State) -> Updates:
    return {"masked": s.scaled, "late_mask": s.allowed}


@faulty("fill", "mask.after_softmax", "as -1e9", when=anything)
def late_fill(p: Problem, s: State) -> Updates:
    return {"masked": s.scaled, "late_mask": s.allowed, "late_fill": -1e9}
