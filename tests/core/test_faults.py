"""The faults: catalogue and computation agree, each fault differs from the right way, and a few by hand."""

import re

import numpy as np
import pytest

from core import masks
from core.attention import attention
from core.clinic.fits import add_outside, fill_with, scale_by, times_output
from core.faults import FAULTS, fault_named, faults_for, faulty_attention
from core.faults.pipeline import FAULTY, RIGHT, STAGES, Jitter, run, walk
from core.faults.problem import Problem, problem_of
from core.heads import multi_head
from tests.core.softmax import soft

RANDOM = np.random.default_rng(5)
Q, K, V = (RANDOM.standard_normal((2, 4, 9, 12)) for _ in range(3))
KEEP = np.arange(9) < np.array([[6], [8]])
#: found by a fit or told by the data, so no stage computes them
FITTED = {
    "scale.wrong_constant",
    "blend.output_scaled",
    "blend.dropout_active",
    "mask.fully_masked_row",
    "mask.filled_with_positive",
    "mask.window_not_wanted",
    "mask.other_cells",
    "scale.softcapped",
    "softmax.constant_added",
}


def projected(**settings):
    width = 12
    weights = {name: RANDOM.standard_normal((width, width)) for name in ("wq", "wk", "wv", "wo")}
    biases = {name: RANDOM.standard_normal(width) for name in ("bq", "bk", "bv", "bo")}
    x = RANDOM.standard_normal((2, 7, width))
    return Problem(None, None, None, 3, 3, x=x, projections=weights | biases, merged=True, **settings)


def problems():
    """Problems that between them make every fault possible."""
    small = problem_of(
        *(RANDOM.standard_normal((5, 5)) for _ in range(3)), causal=True, dtype=np.dtype(np.float32)
    )
    allowed = RANDOM.random((2, 4, 9, 9)) > 0.4
    allowed[..., 0] = True
    return [
        problem_of(Q, K, V, causal=True, key_keep=KEEP, dtype=np.dtype(np.float32)),
        problem_of(Q, K, V),
        problem_of(Q[:, :, :4], K, V),
        problem_of(150 * Q, K, V, causal=True),
        problem_of(Q, K, V, allowed, bias=RANDOM.standard_normal((1, 4, 9, 9)), causal=True),
        problem_of(Q, K[:, :2], V[:, :2, :, :7], key_keep=KEEP),
        problem_of(Q[:, :, :4], K, V, causal=True, rope=True, alibi=True),
        problem_of(Q[:, :, :4], K, V, causal=True, top_left=True, alibi=True),
        problem_of(
            RANDOM.standard_normal((1, 1, 9, 8)),
            RANDOM.standard_normal((1, 1, 9, 8)),
            RANDOM.standard_normal((1, 1, 9, 9)),
        ),
        problem_of(Q, K, V, alibi=True),
        problem_of(Q, K, V, softcap=2.0, sink=0.5),
        projected(causal=True),
        projected(),
        small,
    ]


PROBLEMS = problems()


def test_every_stage_has_a_right_way():
    assert set(RIGHT) == set(STAGES)


def test_catalogue_and_choices_have_the_same_labels():
    computed = {choice.label for choices in FAULTY.values() for choice in choices}
    assert computed | FITTED == {fault.label for fault in FAULTS}
    assert len({fault.label for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.label)
def test_catalogue_entry(fault):
    assert re.fullmatch(r"(score|scale|mask|softmax|blend|heads|projection)\.[a-z0-9_]+", fault.label)
    assert fault.title
    assert fault.faulty_line
    assert fault.faulty_line != fault.right_line
    for line in (fault.faulty_line, fault.right_line):
        compile(line, fault.label, "exec")
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", story) for story in fault.stories)
    assert fault_named(fault.label) is fault


@pytest.mark.parametrize(
    "label",
    sorted(
        {c.label for cs in FAULTY.values() for c in cs}
        - {"softmax.no_max_subtraction", "score.fp16_overflow"}
    ),
)
def test_every_way_of_a_fault_changes_some_output(label):
    ways = [c for choices in FAULTY.values() for c in choices if c.label == label]
    for way in ways:
        changed = False
        for problem in PROBLEMS:
            if way.when(problem):
                right, wrong = run(problem).output, run(problem, [way]).output
                changed |= right.shape != wrong.shape or not np.allclose(
                    right, wrong, atol=1e-9, equal_nan=True
                )
        assert changed, way.name


def test_number_formats_show_on_large_numbers():
    problem = problem_of(100 * Q, 100 * K, V, dtype=np.dtype(np.float32))
    right = run(problem).output
    by_label = {c.label: c for choices in FAULTY.values() for c in choices}
    assert np.isnan(run(problem, [by_label["softmax.no_max_subtraction"]]).output).any()
    larger = problem_of(1000 * Q, 1000 * K, V, dtype=np.dtype(np.float16))
    assert np.isnan(run(larger, [by_label["score.fp16_overflow"]]).output).any()
    assert np.isfinite(right).all()


def test_the_right_way_is_attention():
    allowed = masks.causal(9) & masks.padding(KEEP)[:, None]
    steps = attention(Q, K, V, allowed)
    state = run(problem_of(Q, K, V, causal=True, key_keep=KEEP))
    np.testing.assert_allclose(state.weights, steps.weights, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(state.output, steps.output, rtol=1e-13, atol=1e-15)


def test_the_right_way_is_multi_head():
    problem = projected(causal=True)
    p = {name: array for name, array in problem.projections.items() if name[0] == "w"}
    bare = Problem(None, None, None, 3, 3, x=problem.x, projections=p, merged=True, causal=True)
    expected = multi_head(problem.x, p["wq"], p["wk"], p["wv"], p["wo"], 3, masks.causal(7)).output
    np.testing.assert_allclose(run(bare).output, expected, rtol=1e-14, atol=1e-14)


def test_walk_finds_what_run_gives():
    problem = PROBLEMS[0]
    chosen = {
        stage: [c for c in FAULTY[stage] if c.when(problem)][:2] for stage in ("scale", "causal", "blend")
    }
    seen = dict(walk(problem, chosen, 2))
    assert len(seen) == 1 + 6 + 12  # none, each single one, each pair of different stages
    for combination, state in seen.items():
        np.testing.assert_array_equal(state.output, run(problem, combination).output)


def test_walk_with_a_given_fault():
    problem = PROBLEMS[0]
    given = FAULTY["scale"][0]
    chosen = {stage: [c for c in FAULTY[stage] if c.when(problem)][:2] for stage in ("scale", "causal")}
    found = [combination for combination, _ in walk(problem, chosen, 1, given)]
    assert found == [(given,), (given, chosen["causal"][0]), (given, chosen["causal"][1])]


def test_jitter_is_as_large_as_it_says():
    noisy = Jitter(1e-3)(np.ones(1000))
    assert 0.9e-3 < np.abs(noisy - 1).max() <= 1e-3


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("scale.missing", lambda s, v: soft(s) @ v),
        ("scale.by_d_k", lambda s, v: soft(s / 12) @ v),
        ("blend.weights_transposed", lambda s, v: soft(s / 12**0.5).swapaxes(-1, -2) @ v),
        ("softmax.axis_query", lambda s, v: soft((s / 12**0.5).swapaxes(-1, -2)).swapaxes(-1, -2) @ v),
        ("score.qk_swapped", lambda s, v: soft(s.swapaxes(-1, -2) / 12**0.5) @ v),
    ],
)
def test_live_faults_by_hand(label, expected):
    steps = faulty_attention(label, Q[0], K[0], V[0])
    assert steps.output.shape == (4, 9, 12)
    assert steps.weights.shape == (4, 9, 9)
    np.testing.assert_allclose(steps.output, expected(Q[0] @ K[0].swapaxes(-1, -2), V[0]), rtol=1e-12)


def test_live_right_way_and_single_head():
    steps = faulty_attention(None, Q[0, 0], K[0, 0], V[0, 0], causal=True)
    right = attention(Q[0, 0], K[0, 0], V[0, 0], masks.causal(9)).output
    np.testing.assert_allclose(steps.output, right, rtol=1e-13, atol=1e-15)


def test_faults_for_names_what_can_be_made():
    labels = {fault.label for fault in faults_for(problem_of(Q, K, V))}
    assert "scale.missing" in labels
    assert "mask.missing_causal" not in labels
    with pytest.raises(KeyError, match="cannot be made"):
        faulty_attention("mask.missing_causal", Q[0], K[0], V[0])


def test_fitted_choices_compute_what_they_say():
    problem = problem_of(Q, K, V, causal=True)
    right = run(problem)
    np.testing.assert_allclose(run(problem, [times_output(2.0)]).output, 2 * right.output)
    np.testing.assert_allclose(run(problem, [scale_by(12**-0.5)]).output, right.output)
    np.testing.assert_allclose(run(problem, [fill_with(-1e6)]).output, right.output)
    np.testing.assert_allclose(run(problem, [add_outside(-1e6)]).output, right.output)


def test_a_part_keeps_the_whole_ones_sizes():
    part = problem_of(Q, K[:, :2], V[:, :2]).first_groups(1)
    assert (part.n_heads, part.n_kv_heads, part.total_heads, part.d_k, part.d_model) == (2, 1, 4, 12, 48)
    alone = run(problem_of(Q[:, :2], K[:, :1], V[:, :1], alibi=False)).output
    np.testing.assert_allclose(run(part).output, alone, rtol=1e-13)
