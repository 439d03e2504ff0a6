import numpy as np
import pytest

from core.quiz.symptoms import DOES, SUSPECTS, faulty_weights, printout
from core.setup import Setup, allowed, run

SETUP = Setup(mask="causal")
STEPS = run(SETUP).heads.head(0)


def weights(fault):
    return faulty_weights(fault, STEPS.q, STEPS.k, allowed(SETUP))


def test_without_a_fault_it_is_the_core():
    np.testing.assert_allclose(weights("none"), STEPS.weights, atol=1e-15)


@pytest.mark.parametrize("fault", SUSPECTS)
def test_every_fault_makes_other_weights(fault):
    assert fault in DOES
    assert not np.allclose(weights(fault), STEPS.weights)


def test_what_each_fault_is_said_to_do():
    assert printout(weights("mask")).future > 0.1
    assert printout(weights("none")).future == 0
    np.testing.assert_allclose(printout(weights("axis")).column_sums, 1)
    np.testing.assert_allclose(printout(weights("late scale")).row_sums, 0.5)
    late = printout(weights("late mask")).row_sums
    assert (late[:-1] < 1).all()
    assert late[-1] == pytest.approx(1)
    assert (printout(weights("no softmax")).row_sums < 0).any()
    np.testing.assert_allclose(printout(weights("scale")).row_sums, 1)
    assert printout(weights("scale")).typical_max > printout(weights("none")).typical_max
