"""The search itself: what cancels out accuses nobody, dropout that is rescaled is no late mask."""

import numpy as np

from core.clinic import diagnose
from core.clinic.precision import ROUNDOFF, Target
from core.clinic.search import Search
from core.faults.pipeline import run
from core.faults.problem import problem_of

RANDOM = np.random.default_rng(21)
Q, K, V = (RANDOM.standard_normal((1, 1, 6, 8)) for _ in range(3))


def test_two_faults_that_cancel_each_other_accuse_nobody():
    """Scores negated twice are right: such a pair gives right numbers, and is not told."""
    problem = problem_of(Q, K, V)
    search = Search(problem, [Target("output", run(problem).output)], ROUNDOFF["float64"])
    visible = search.one_fault().visible
    assert {"score.negated", "softmax.negated"} <= {choice.label for choice in visible}
    assert search.two_faults(visible, lambda *_: None) == []


def test_rescaled_dropout_of_one_head_is_no_late_mask():
    weights = run(problem_of(Q, K, V)).weights
    dropped = np.where(RANDOM.random(weights.shape) < 0.8, weights / 0.8, 0.0)
    answer = diagnose(q=Q, k=K, v=V, out=dropped @ V, weights=dropped, layout="BHTD", causal=False)
    assert answer.labels == [["blend.dropout_active"]]
    assert answer.explanations[0].details == ("p = 0.20",)
