"""What the clinic says about what it found."""

from collections.abc import Sequence

import numpy as np

from core.clinic.code_lines import lines_of
from core.clinic.meant import OFTEN_MEANT, if_meant
from core.clinic.report import Explanation
from core.faults.catalogue import fault_named
from core.faults.pipeline import Choice
from core.faults.problem import Problem

FEW_PAIRS = (
    "Large input: of two faults together only the commonest were tried. Hand in a shorter piece for all."
)
OUTPUT_ONLY = "the weights handed in are not the ones that made this output"
MEAN_WEIGHTS = "the weights handed in are the mean over the heads, as nn.MultiheadAttention returns them"
RIGHT = "This is scaled dot-product attention"
NOT_TOLD = "The numbers are right, but this data cannot tell whether the code is."
DEAD_ROWS = (
    "Some rows have nothing to attend to: the mask hides every key from them, and 0 / 0 gives NaN. "
    "The other rows are right. Change the mask (or what such rows give), not the maths."
)
NUMBER_FORMAT = {"score.fp16_overflow", "softmax.no_max_subtraction"}


def closeness(max_error: float, stored_finer: bool) -> str:
    """How near the right computation comes."""
    told = f"The right computation gives your numbers to within {max_error:.2g}."
    if stored_finer:
        return f"{told} They are stored finer than that, but half precision in between gives no more."
    return told


def condition(problem: Problem) -> str:
    """What the verdict rests on where nobody said whether it is causal; "" if it rests on nothing."""
    if problem.causal_known or problem.n_q == 1 or problem.allowed is not None:
        return ""
    if problem.causal:
        return ", if no position may see a later one"
    other = "every other" if problem.key_keep is None else "every other that is no padding"
    return f", if every position may see {other}"


def nearly_right(roundoff: float, closeness: str) -> str:
    """Right, in a coarser arithmetic than the numbers are stored in."""
    return (
        f"This is scaled dot-product attention, to {_digits(roundoff)} digits. The numbers are stored finer "
        "than that: somewhere inside a coarser format was used (half precision, or TF32 on a GPU). "
        f"{closeness}"
    )


def too_rough(roundoff: float, closeness: str) -> tuple[str, str]:
    """As near as half precision gives, but not by it -> the message, and what was not tested."""
    digits = _digits(roundoff)
    message = (
        f"This agrees with scaled dot-product attention to {digits} digits only, and the numbers are "
        f"stored finer than that. {closeness} A short number format inside may do that, or a "
        "small mistake that is not known here."
    )
    return message, f"anything smaller than the {digits} digits that agree"


def explanation(
    choices: Sequence[Choice], max_error: float, problem: Problem, layout: str, reading: str = ""
) -> Explanation:
    """What is told about these faults; `reading`: what else has to be assumed."""
    faults = [fault_named(str(choice.label)) for choice in choices]
    lines = [lines_of(choice, problem) for choice in choices]
    meant = if_meant(choices[0], problem, layout) if len(choices) == 1 else None
    return Explanation(
        faults=tuple(fault.label for fault in faults),
        details=tuple(choice.variant for choice in choices),
        titles=tuple(fault.title for fault in faults),
        faulty_lines=tuple(faulty for faulty, _ in lines),
        right_lines=tuple(right for _, right in lines),
        pages=tuple(fault.page for fault in faults),
        max_error=max_error,
        number_format=any(fault.label in NUMBER_FORMAT for fault in faults),
        reading=reading,
        if_meant=f"If you meant it: {meant.sentence}." if meant else "",
        often_meant=meant is not None and faults[0].label in OFTEN_MEANT,
        settings=meant.settings if meant else {},
    )


def fault_message(explanations: Sequence[Explanation], dead: bool) -> str:
    """What the faults are; `dead` where they leave rows with nothing to attend to."""
    message = _named([one for one in explanations if not one.reading])
    for other in (one for one in explanations if one.reading):
        message += f" Read in another way ({other.reading}), they also show this: {_joined(other)}."
    return f"{message} Rows that are left with nothing to attend to are NaN." if dead else message


def _named(explanations: Sequence[Explanation]) -> str:
    first = explanations[0]
    what = _joined(first)
    if len(explanations) > 1:
        every = " / ".join(" and ".join(e.titles) for e in explanations)
        return f"These {len(explanations)} explain your output equally well: {every}."
    if first.number_format and len(first.faults) == 1:
        return f"The maths is right; the number format is not wide enough: {what}."
    count = (
        "One fault reproduces" if len(first.faults) == 1 else f"{len(first.faults)} faults together reproduce"
    )
    return f"{count} your numbers: {what}."


def _joined(explanation: Explanation) -> str:
    return " and ".join(title[0].lower() + title[1:] for title in explanation.titles)


def unexplained(max_error: float) -> str:
    """Nothing that is known here gives these numbers."""
    distance = f" The right computation is off by up to {max_error:.2g}." if np.isfinite(max_error) else ""
    return (
        "This is not scaled dot-product attention as you describe it, and no single fault or pair of faults "
        f"that is known here gives these numbers.{distance} Check that the arrays belong "
        "together and that the settings are what you meant."
    )


def otherwise(advice: str, answer: str) -> str:
    """What would be found if the owner stated something else."""
    return f" But if you {advice}, this comes out: {answer[:1].lower()}{answer[1:]}"


def _digits(roundoff: float) -> int:
    return max(1, int(-np.log10(roundoff)))
