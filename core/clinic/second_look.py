"""Where nothing explains the whole file: what its parts show, and what other settings would."""

from dataclasses import replace

import numpy as np

from core.clinic import wording
from core.clinic.case import Case, Found
from core.clinic.otherwise import other_beliefs
from core.clinic.partly import ENTRIES, HEADS, Partly, partly_right, wrong_part
from core.clinic.readings import Reading, only_output
from core.clinic.report import Diagnosis
from core.files import InputError

FEW_SCORES = 1 << 14  # what other settings than the stated ones are tried on


def second_look(case: Case) -> Diagnosis:
    """The verdict on a case that had none: a fault in some heads or entries, or "unexplained"."""
    return _partly_right(case) or _unexplained(case)


def _unexplained(case: Case) -> Diagnosis:
    found = case.start(only_output(case.readings[0]), case.fine)
    message = wording.unexplained(found.right.max_error)
    if case.max_faults > 1:
        message = f"{message}{_if_stated_otherwise(case)}"
    return case.answer("unexplained", message, found, notes=case.readings[0].notes)


def _if_stated_otherwise(case: Case) -> str:
    """A setting under which the numbers are right, or one fault gives them; "" if there is none."""
    for believed, advice in other_beliefs(case.beliefs):
        case.progress(0.9, "other settings")
        try:
            other = Case(case.fields, believed, 1, None, FEW_SCORES)
        except InputError:  # these arrays do not go with that setting
            continue
        answer = other.at_a_glance() or _partly_right(other)
        if answer and answer.verdict in ("correct", "fault"):
            return wording.otherwise(advice, answer.message)
    return ""


def _partly_right(case: Case) -> Diagnosis | None:
    """Some heads or batch entries are right and others are not: what the others show by themselves."""
    best: tuple[Found, Partly] | None = None
    for reading in case.readings:
        one = case.start(reading, max(case.fine, case.coarse))
        axes = (HEADS,) if case.sample_note else (HEADS, ENTRIES)  # of entries left out nothing is known
        partly = partly_right(reading, one.search.limit, axes)
        if partly and (best is None or partly.share > best[1].share):
            best = one, partly
    if best is None:
        return None
    one, partly = best
    part = wrong_part(one.reading, partly)
    for tried in (part, only_output(part)) if part is not None else ():
        if answer := _fault_of_part(case, one, tried, partly):
            return answer
    message = f"{wording.unexplained(np.inf)} {partly.sentence}"
    return case.answer("unexplained", message, one, notes=one.reading.notes)


def _fault_of_part(case: Case, whole: Found, part: Reading, partly: Partly) -> Diagnosis | None:
    one = case.start(part, whole.search.roundoff)
    answer = case.one_fault([one])
    if answer is None:
        return None
    told = [
        replace(e, details=tuple(", ".join(filter(None, (d, partly.where))) for d in e.details))
        for e in answer.explanations
    ]
    message = f"{partly.right_sentence} The others: {answer.message[:1].lower()}{answer.message[1:]}"
    return case.answer("fault", message, whole, explanations=told, notes=answer.notes)
