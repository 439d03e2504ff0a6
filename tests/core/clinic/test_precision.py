"""How coarse an arithmetic must have been: by the whole row, and by its worst entry."""

import numpy as np

from core.clinic.precision import Target, allowance, implied_roundoff, is_short, kept_bits, relative_error
from core.faults.pipeline import run
from core.faults.problem import problem_of

RANDOM = np.random.default_rng(31)
PROBLEM = problem_of(*(RANDOM.standard_normal((1, 2, 50, 40)) for _ in range(3)))
STATE = run(PROBLEM)
UNIT = 2.0**-53


def implied(out: np.ndarray, limit: float = np.inf) -> float:
    return implied_roundoff(PROBLEM, (), STATE, [Target("output", out)], limit)


def test_one_entry_that_is_off_is_not_lost_among_the_others():
    out = STATE.output.copy()
    assert implied(out) == 0
    out[0, 1, 3, 5] += 2e-14
    off = implied(out)
    assert off > allowance(PROBLEM, UNIT) * UNIT
    assert off < 1e-12


def test_noise_of_one_rounding_implies_one_rounding():
    noisy = STATE.output * (1 + 1e-9 * RANDOM.uniform(-1, 1, STATE.output.shape))
    assert 1e-10 < implied(noisy) < 1e-8


def test_an_answer_near_the_limit_is_measured_again():
    noisy = STATE.output * (1 + 1e-9 * RANDOM.uniform(-1, 1, STATE.output.shape))
    once = implied(noisy)
    again = implied(noisy, limit=once / 2)
    assert again != once
    assert 0.5 < again / once < 2
    assert implied(noisy, limit=2 * once) == once


def test_infinities_must_lie_in_the_same_places():
    out = STATE.output.copy()
    out[0, 0, 0, 0] = np.nan
    assert implied(out) == np.inf
    assert relative_error(STATE, [Target("output", out)]) == np.inf


def test_a_difference_that_overflows_is_not_zero():
    out = STATE.output.copy()
    out[0, 0, 0, 0] = -1.7e308
    far = run(problem_of(PROBLEM.q, PROBLEM.k, np.full_like(PROBLEM.v, 1.7e308)))
    assert relative_error(far, [Target("output", out)]) == np.inf


def test_sizes_are_relative():
    for size in (1e-300, 1.0, 1e300):
        problem = problem_of(PROBLEM.q, PROBLEM.k, PROBLEM.v * size)
        state = run(problem)
        error = relative_error(state, [Target("output", 1.5 * state.output)])
        assert abs(error - 1 / 3) < 1e-9


def test_short_numbers_and_kept_bits():
    assert is_short(np.array([0.0, 1.0, -3.0, 0.125, np.inf]))
    assert not is_short(np.array([1.0, 1 / 3]))
    assert not is_short(np.array([1.0], np.float16))
    x = RANDOM.standard_normal(500)
    np.testing.assert_array_equal(kept_bits(x, 11), x.astype(np.float16).astype(float))
    cut = kept_bits(x, 11, cut_off=True)
    assert (np.abs(cut) <= np.abs(x)).all()
    assert (np.abs(cut) > np.abs(x) * (1 - 2.0**-10)).all()
