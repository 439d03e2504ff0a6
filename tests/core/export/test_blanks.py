"""Accepted answers really are right, and known slips really are wrong: here, and only here, they are run."""

import numpy as np
import pytest

from core.export.blanks import GAP, LONGEST, NUMPY_BLANKS, check_code, normalised
from core.export.sources import NUMPY_FUNCTIONS
from core.setup import Setup, allowed, inputs, run

SETUP = Setup("kite", 6, 4, "causal", 2)  # d_v = 3: no two sizes are equal
GIVEN, STEPS = inputs(SETUP), run(SETUP)
CASES = [(blank, answer) for blank in NUMPY_BLANKS for answer in blank.accepted]
SLIPS = [(blank, answer) for blank in NUMPY_BLANKS for answers, _ in blank.slips for answer in answers]
WORKS_HERE = ("-1e9", "-1e10", "np.finfo(float).min", "-1e4")  # what their sentence says of them too


def results(blank, answer):
    """The exported functions with one blank filled in -> output after merging, or the error."""
    source = NUMPY_FUNCTIONS.replace(blank.written, blank.open.replace(GAP, answer))
    names = {"np": np, "math": __import__("math"), "d_k": 4}
    names |= {"T": 6, "n_q": 6, "n_k": 6, "d_model": 8, "d_v": GIVEN.v.shape[-1], "n_heads": 2, "h": 2}
    exec(source, names)
    with np.errstate(all="ignore"):
        output, weights, _ = names["attention"](GIVEN.q, GIVEN.k, GIVEN.v, allowed(SETUP))
        return weights, names["merge_heads"](output)


def is_correct(blank, answer):
    try:
        weights, merged = results(blank, answer)
    except (ValueError, IndexError, TypeError, NameError, SyntaxError):
        return False
    if weights.shape != STEPS.heads.weights.shape or merged.shape != STEPS.concat.shape:
        return False
    return np.allclose(weights, STEPS.heads.weights) and np.allclose(merged, STEPS.concat)


def test_the_sources_hold_every_line_once():
    for blank in NUMPY_BLANKS:
        assert NUMPY_FUNCTIONS.count(blank.written) == 1, blank.id
        assert blank.open.count(GAP) == 1
        assert blank.open.replace(GAP, blank.accepted[0]).replace(" ", "") == blank.written.replace(" ", "")


@pytest.mark.parametrize(("blank", "answer"), CASES, ids=lambda part: getattr(part, "id", part))
def test_accepted_answers_are_right(blank, answer):
    assert check_code(blank, answer).state == "right"
    assert is_correct(blank, answer)


@pytest.mark.parametrize(("blank", "answer"), SLIPS, ids=lambda part: getattr(part, "id", part))
def test_known_slips_are_wrong_and_told_why(blank, answer):
    checked = check_code(blank, answer)
    assert checked.state == "wrong"
    assert checked.sentence != blank.hint
    assert is_correct(blank, answer) == (answer in WORKS_HERE)


def test_spelling_does_not_matter():
    by_id = {blank.id: blank for blank in NUMPY_BLANKS}
    assert check_code(by_id["transpose"], " -1 ,  −2 ").state == "right"
    assert check_code(by_id["fill"], 'float("-inf")').state == "right"
    assert check_code(by_id["fill"], "-numpy.inf").state == "right"
    assert "capital" in check_code(by_id["keepdims"], "true").sentence


def test_anything_else_gets_the_hint_and_is_never_run(tmp_path):
    target = tmp_path / "made"
    attack = f"__import__('pathlib').Path({str(target)!r}).touch()"
    for blank in NUMPY_BLANKS:
        assert check_code(blank, attack).sentence == blank.hint
        assert check_code(blank, "  ").state == "empty"
        assert check_code(blank, blank.accepted[0] + "x" * 10_000).state == "wrong"
    assert not target.exists()
    assert len(normalised("x" * 10_000)) == LONGEST
