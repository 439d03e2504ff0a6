"""Scale lab (d), the smallest training there is: one query learns to fetch one value.

Eight keys, eight one-hot values; the query starts at random and moves down the gradient of
½ |output - value 3|², through the blend and the softmax. The keys stay as they are. Many such
trainings run at once, each with its own random start; counted is how many get there.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, blend, score, softmax
from core.experiments.prose import percent
from core.experiments.rows import check_size
from core.gradients import attention_backward

N_KEYS, TARGET = 8, 3
LEARNED = 0.5  # the query has learned when more than half of its weight is on the target


@dataclass(frozen=True, slots=True, eq=False)
class FetchingLab:
    """Share of the runs that have learned, step by step, with and without the scale."""

    d_k: int
    learning_rate: float
    n_runs: int
    n_steps: int
    seed: int
    scaled: np.ndarray  # (steps so far,) share of runs with more than half the weight on the target
    unscaled: np.ndarray  # (steps so far,)

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return len(self.scaled) == self.n_steps

    @property
    def caption(self) -> str:
        """What the two curves show so far."""
        return (
            f"{self.n_runs} queries, each from its own random start at d_k = {self.d_k}, learn to fetch "
            f"value {TARGET} of {N_KEYS}. After {len(self.scaled)} steps of size {self.learning_rate:g}, "
            f"{percent(self.scaled[-1])} have learned it with the scale, {percent(self.unscaled[-1])} "
            f"without ({percent(self.unscaled[0])} had it by luck from the start)."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "Learned: more than half of the weight is on the right key. At d_k = 4 leaving the scale out "
            "does no harm here; at 256 none of the step sizes offered rescues it, because a query that "
            "starts sure of a wrong key has almost no slope to follow."
        )


def fetch(
    d_k: int = 256,
    learning_rate: float = 1.0,
    seed: int = 0,
    n_runs: int = 200,
    n_steps: int = 300,
    every: int = 20,
) -> Generator[FetchingLab, None, None]:
    """Train n_runs queries with and n_runs without the scale; yields every `every` steps and at the end."""
    check_size("d_k", d_k)
    check_size("n_steps", n_steps)
    rng = np.random.default_rng(seed)
    start, keys = rng.standard_normal((n_runs, 1, d_k)), rng.standard_normal((n_runs, N_KEYS, d_k))
    queries = [start.copy(), start.copy()]
    shares = np.empty((2, n_steps))
    for step in range(n_steps):
        for i, divisor in enumerate((math.sqrt(d_k), 1.0)):
            shares[i, step] = _step(queries[i], keys, divisor, learning_rate)
        if (step + 1) % every == 0 or step + 1 == n_steps:
            done = shares[:, : step + 1].copy()
            yield FetchingLab(d_k, learning_rate, n_runs, n_steps, seed, done[0], done[1])


def _step(queries: np.ndarray, keys: np.ndarray, divisor: float, learning_rate: float) -> float:
    """One step down the gradient, in place -> the share that had learned before it."""
    values = np.eye(N_KEYS)
    scores = score(queries, keys)
    scaled = scores / divisor
    weights = softmax(scaled)
    output = blend(weights, values)
    steps = AttentionSteps(queries, keys, values, scores, scaled, scaled, weights, output)
    gradients = attention_backward(steps, output - values[TARGET], divisor)
    queries -= learning_rate * gradients.q
    return float((weights[:, 0, TARGET] > LEARNED).mean())
