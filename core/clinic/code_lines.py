"""The faulty line of code and the right one, for the very variant that was found."""

import re

from core.faults.catalogue import fault_named
from core.faults.pipeline import Choice
from core.faults.problem import Problem

Lines = tuple[str, str]
#: the faults that befall some of q, k and v ("only k"), whose line names one of them
BY_TENSOR = {"heads.split_without_transpose", "heads.gqa_tiled", "score.normalised", "score.rope_on_one_side"}
#: ... and whose right line is about all of them
RIGHT_FOR_ALL = {"score.normalised", "score.rope_on_one_side"}


def lines_of(choice: Choice, problem: Problem) -> Lines:
    """-> faulty, right."""
    fault = fault_named(str(choice.label))
    if choice.label == "mask.window_not_wanted":
        return _window(choice.variant, problem.causal)
    if choice.label not in BY_TENSOR or not choice.variant.startswith("only "):
        return fault.faulty_line, fault.right_line
    names = choice.variant.removeprefix("only ").split(" and ")
    right = fault.right_line
    if choice.label not in RIGHT_FOR_ALL:
        right = _for_each(names, right, problem)
    return _for_each(names, fault.faulty_line, problem), right


def _for_each(names: list[str], line: str, problem: Problem) -> str:
    return "; ".join(_for_tensor(name, line, problem) for name in names)


def _for_tensor(name: str, line: str, problem: Problem) -> str:
    """The line about q or k, told about another tensor."""
    told = re.sub(r"\b([qk])\b", name, line)
    told = re.sub(r"position_[qk]\b", f"position_{name}", told)
    if name != "q" and problem.n_kv_heads < problem.n_heads and "reshape" in told:
        told = re.sub(r"\bh\b", "h_kv", told)
    return told.replace("d_k", "d_v") if name == "v" else told


def _window(variant: str, causal: bool) -> Lines:
    """`variant` is "3 back, 0 ahead"."""
    back, ahead = (int(number) for number in re.findall(r"\d+", variant))
    right = "allowed = causal" if causal else "allowed = np.ones((n_q, n_k), dtype=bool)"
    if ahead:
        return f"allowed = np.abs(i - j) <= {back}", right
    return f"allowed = {'causal' if causal else '(j <= i)'} & (i - j <= {back})", right
