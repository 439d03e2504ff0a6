"""core/model_faults.py: what each fault is known by."""

import numpy as np
import pytest

from core.attention import AttentionSteps, attention
from core.faults import pipeline
from core.faults.live import choices_of
from core.faults.problem import Problem
from core.heads import merge_heads
from core.model_faults import FAULTS

RNG = np.random.default_rng(5)
Q, K, V = RNG.normal(size=(3, 2, 4, 6, 8))  # (B, h, T, d) each
ALLOWED = np.tri(6, dtype=bool)
RIGHT = attention(Q, K, V, ALLOWED)


def run(name: str) -> AttentionSteps:
    return FAULTS[name](Q, K, V, ALLOWED)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_changes_the_output_and_keeps_the_shapes(name: str) -> None:
    steps = run(name)
    assert np.abs(steps.output - RIGHT.output).max() > 0.01
    for field in AttentionSteps.__slots__:
        assert getattr(steps, field).shape == getattr(RIGHT, field).shape


@pytest.mark.parametrize("name", FAULTS)
def test_the_output_is_made_of_the_weights_that_are_kept(name: str) -> None:
    steps = run(name)
    assert np.allclose(steps.output, steps.weights @ steps.v)


@pytest.mark.parametrize("name", FAULTS)
def test_the_chain_of_choices_gives_the_same(name: str) -> None:
    side_by_side = {
        "q": merge_heads(Q),
        "k": merge_heads(K),
        "v": merge_heads(V),
    }  # so that the split can fail
    problem = Problem(**side_by_side, n_heads=4, n_kv_heads=4, flat=True, causal=True)
    outputs = [pipeline.run(problem, [choice]).output for choice in choices_of(name, problem)]
    assert any(np.allclose(output, run(name).output) for output in outputs)


def test_the_scales() -> None:
    assert np.array_equal(run("scale.missing").scaled_scores, RIGHT.scores)
    assert np.array_equal(run("scale.by_d_k").scaled_scores, RIGHT.scores / 8)


def test_the_masks() -> None:
    assert (run("mask.filled_with_zero").masked_scores[..., ~ALLOWED] == 0).all()
    peeks = run("mask.peeks_one_ahead").weights
    assert (peeks[..., 0, 1] > 0).all()
    assert (peeks[..., 0, 2:] == 0).all()
    late = run("mask.after_softmax").weights
    assert (late[..., ~ALLOWED] == 0).all()
    assert (late[..., :-1, :].sum(-1) < 1).all()
    assert (run("mask.missing_causal").weights > 0).all()


def test_the_softmax_down_the_columns_sums_to_one_there() -> None:
    exps = np.exp(RIGHT.masked_scores)
    assert np.allclose(run("softmax.axis_query").weights, exps / exps.sum(axis=-2, keepdims=True))


def test_the_split_without_transpose_mixes_positions() -> None:
    flat = Q.swapaxes(1, 2).reshape(2, 6, 32)  # (B, T, h d), as the projection gives it
    assert np.array_equal(run("heads.split_without_transpose").q, flat.reshape(2, 4, 6, 8))


def test_swapped_scores_are_the_transpose() -> None:
    assert np.allclose(run("score.qk_swapped").scores, RIGHT.scores.swapaxes(-1, -2))
