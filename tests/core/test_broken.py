"""core/faults/broken.py, checks.py, false_alarms.py: right beside wrong on the reader's own example."""

from dataclasses import replace

import numpy as np
import pytest

from core.attention import attention
from core.faults.broken import SHOWN, STEPS, broken, hidden_fault, setup_for
from core.faults.catalogue import fault_named
from core.faults.checks import Check, six_checks
from core.faults.false_alarms import false_alarms
from core.leak import with_other_word
from core.setup import Setup, allowed, inputs, key_is_real, run

KITE = Setup()
NAMES = ("Row sums", "Column sums", "Future weight", "Largest weight", "Leak test", "Shapes")
FAILS = {  # which checks notice which fault, on the kite under a causal mask
    "scale.missing": {"Largest weight"},
    "scale.by_d_k": {"Largest weight"},
    "scale.after_softmax": {"Row sums", "Largest weight"},
    "mask.missing_causal": {"Future weight", "Largest weight", "Leak test"},
    "mask.filled_with_zero": {"Future weight", "Largest weight", "Leak test"},
    "mask.after_softmax": {"Row sums", "Largest weight", "Leak test"},
    "mask.peeks_one_ahead": {"Future weight", "Leak test"},
    "mask.strict_lower": {"Row sums", "Leak test"},
    "mask.inverted": {"Row sums", "Future weight", "Largest weight", "Leak test"},
    "softmax.axis_query": {"Row sums", "Column sums", "Largest weight", "Leak test"},
    "softmax.missing": {"Row sums", "Largest weight"},
    "softmax.hard": {"Largest weight"},
    "score.qk_swapped": {"Largest weight"},
    "score.same_tensor_twice": set(),
    "blend.weights_transposed": {"Leak test"},
    "blend.k_used_as_v": {"Shapes"},
    "heads.merge_without_transpose": {"Leak test"},
}


def checks(label: str, setup: Setup = KITE) -> dict[str, Check]:
    made = broken(setup, label)
    given = inputs(made.setup)
    return {check.name: check for check in six_checks(made, 0, given.query_tokens, given.key_tokens)}


@pytest.mark.parametrize("label", SHOWN)
def test_a_shown_fault_is_in_the_catalogue_and_has_a_step(label):
    assert fault_named(label).step in STEPS


@pytest.mark.parametrize(
    "setup",
    [KITE, Setup(mask="padding"), Setup(mask="causal+padding", n_heads=4), Setup(mask="window"),
     Setup(example="needle", seq_len=8), Setup(example="random", seq_len=12, d_k=64, n_heads=2)],
    ids=lambda setup: f"{setup.example}-{setup.mask}-{setup.n_heads}",
)  # fmt: skip
def test_the_right_side_is_attention_itself(setup):
    made = broken(setup, "scale.missing")
    steps = run(setup_for(setup, None)).heads
    for name in ("scores", "scaled_scores", "masked_scores", "weights", "output"):
        np.testing.assert_allclose(getattr(made.right, name), getattr(steps, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("label", FAILS)
def test_which_checks_notice_it(label):
    found = checks(label)
    assert tuple(found) == NAMES
    assert {name for name, check in found.items() if not check.passed} == FAILS[label]


def test_the_failing_cell_is_the_worst_one():
    check = checks("mask.peeks_one_ahead")["Future weight"]
    assert check.cell == (0, 1)
    assert "“The” gives 0.88 to “kite”" in check.finding
    rows = checks("mask.inverted")["Row sums"]
    assert rows.cell[0] == 6
    assert "NaN" in rows.finding
    assert "“The” has 0.07" in checks("mask.after_softmax")["Row sums"].finding


def test_the_mask_is_missed_silently():
    """Claim 53: shapes are right and rows sum to 1; only what looks at hidden keys can tell."""
    found = checks("mask.missing_causal")
    assert found["Row sums"].passed
    assert found["Shapes"].passed
    assert not found["Leak test"].passed
    assert "6 moved" in found["Leak test"].finding


def test_a_right_computation_passes_all_six():
    made = broken(KITE, "scale.missing")
    same = replace(made, wrong=made.right, moved=np.where(np.arange(7) == 6, 1.0, 0.0)[None])
    given = inputs(made.setup)
    assert all(c.passed for c in six_checks(same, 0, given.query_tokens, given.key_tokens))


def test_what_cannot_be_made_is_told():
    for setup, label, why in (
        (KITE, "mask.missing_padding", "choose another mask"),
        (KITE, "score.k_not_transposed", "stops with a shape error"),
        (Setup(example="needle", seq_len=8), "score.qk_swapped", "as many queries as keys"),
    ):
        with pytest.raises(ValueError, match=why):
            broken(setup, label)


def test_q_at_k_is_silent_where_t_is_d_k():
    made = broken(Setup(seq_len=4), "score.k_not_transposed")
    given = inputs(made.setup)
    np.testing.assert_allclose(made.wrong.scores[0], given.q[0] @ given.k[0])


def test_a_mystery_is_the_same_for_everybody_and_shows():
    hidden = [hidden_fault(KITE, seed) for seed in range(1, 25)]
    assert hidden == [hidden_fault(KITE, seed) for seed in range(1, 25)]
    assert len({label.split(".")[0] for label in hidden}) >= 4
    for label in set(hidden):
        made = broken(KITE, label)
        assert made.wrong.output.shape != made.right.output.shape or not np.allclose(
            made.wrong.output, made.right.output
        )


def test_an_output_of_another_width_shows():
    """The kite's values are one number wide and its keys four: the keys, blended, are seen at once."""
    assert "blend.k_used_as_v" in {hidden_fault(KITE, seed) for seed in range(1, 200)}


def test_how_far_each_row_moves_with_the_last_word():
    made = broken(KITE, "mask.missing_causal")
    given = inputs(made.setup)
    q, k, v = with_other_word(given, made.setup.seed, 6)
    moved = np.abs(attention(q[0], k[0], v[0]).output - attention(given.q[0], given.k[0], given.v[0]).output)
    np.testing.assert_allclose(made.moved[0], moved.max(-1))
    assert (made.moved > 0).all()


@pytest.mark.parametrize(
    "setup", [Setup(mask="causal"), Setup(mask="causal+padding"), Setup("random", 12, 64, "window")]
)
def test_what_looks_wrong_is_right(setup):
    given = inputs(setup)
    alarms = false_alarms(given.q[0], given.k[0], given.v[0], allowed(setup), key_is_real(setup))
    assert len(alarms) == 5
    assert all(alarm.difference < 1e-13 for alarm in alarms)
    assert alarms[2].difference == 0


def test_padded_queries_change_no_real_row_where_there_are_fewer_queries_than_keys():
    """Three queries beside five keys, the last one padding: only the last query is padding too."""
    random = np.random.default_rng(4)
    q, k, v = (random.standard_normal((n, 4)) for n in (3, 5, 5))
    real = np.array([True, True, True, True, False])
    alarms = false_alarms(q, k, v, np.ones((3, 5), bool), real)
    assert alarms[3].title == "Queries at padding are not masked"
    assert alarms[3].difference == 0


def test_a_late_mask_that_leaves_nothing_is_told_as_nan():
    q, k = np.array([[0.0], [1.0]]), np.array([[0.0], [2000.0]])
    alarms = false_alarms(q * 1e3 + 1, k, np.eye(2), np.tri(2, dtype=bool), np.ones(2, bool))
    assert np.isnan(alarms[4].difference)
    assert all(np.isfinite(alarm.difference) for alarm in alarms[:4])


def test_a_mystery_without_a_visible_fault_is_refused():
    zeros = ";".join(f"{t}.0.{row}.{c}=0" for t in "kv" for row in range(2) for c in range(3))
    dull = Setup(seq_len=2, d_k=3, mask="window", window=1, edits=zeros)
    with pytest.raises(ValueError, match="no fault changes a number"):
        hidden_fault(dull, 1)
