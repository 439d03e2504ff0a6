"""Plain implementations, right and wrong, written apart from the clinic: each gets an acceptable answer."""

import pytest

from benchmarks.clinic_zoo import ZOO, draw
from core.clinic import diagnose
from core.faults import FAULTS


@pytest.mark.parametrize("one", ZOO, ids=lambda one: one.name)
def test_answer(one):
    answer = diagnose(draw(one, seed=0))
    assert one.accepts(answer.verdict, answer.labels), answer.as_text()


def test_names_differ_and_labels_exist():
    assert len({one.name for one in ZOO}) == len(ZOO)
    known = {fault.label for fault in FAULTS} | {"?"}
    assert {label for one in ZOO for labels in one.accepted for label in labels} <= known
