"""The 67 labelled cases: every one gets an accepted answer."""

import json
from pathlib import Path

import pytest

from core.clinic import diagnose_files

HERE = Path(__file__).parent
CASES = json.loads((HERE / "cases.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    diagnosis = diagnose_files([HERE / "cases" / case["file"]])
    assert diagnosis.verdict == case["expect"], diagnosis.as_text()
    if case["expect"] in ("fault", "bad_input"):
        accepted = [set(labels) for labels in case["acceptable"]]
        assert any(set(labels) in accepted for labels in diagnosis.labels), diagnosis.as_text()
    if case["expect"] == "correct":
        assert diagnosis.explanations == ()
    if case["expect"] == "undetermined":
        assert diagnosis.explanations == ()
        assert diagnosis.not_tested


def test_there_are_67():
    assert len(CASES) == 67 == len(list((HERE / "cases").glob("*.npz")))


def test_what_must_be_offered_together():
    """Dividing by d_k is scaling twice: both must be told."""
    for name in ("scale_by_dk_td", "scale_twice_opt"):
        labels = diagnose_files([HERE / "cases" / f"{name}.npz"]).labels
        assert ["scale.by_d_k"] in labels
        assert ["scale.twice"] in labels
        assert labels[0] == ["scale.twice"]  # the one of which there is a public report


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("amb_dk_one", "d_k is 1"),
        ("amb_one_token", "one key"),
        ("amb_constant_v", "value rows are equal"),
        ("amb_zero_q", "same score"),
        ("amb_seq_equals_dk", "T equals d_k"),
        ("amb_decode_step", "hides nothing"),
        ("scale_sqrt_heads_equals_dk", "number of heads equals d_k"),
    ],
)
def test_says_why_it_cannot_tell(name, why):
    diagnosis = diagnose_files([HERE / "cases" / f"{name}.npz"])
    assert any(why in reason for reason in diagnosis.not_tested), diagnosis.not_tested


def test_mean_weights_are_recognised():
    diagnosis = diagnose_files([HERE / "cases" / "heads_weights_averaged.npz"])
    assert any("mean over the heads" in note for note in diagnosis.notes)
