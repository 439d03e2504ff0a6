"""The task of the training lab: look a label up.

Of 32 symbols, 16 stand in the sequence, each with a label out of 8 drawn at random; the query names
one of the 16, and the answer is its label. Each symbol has a query row and a key row, which are all
that is learned. A value is the label as a one-hot row, so the output is the share of the weight on
each label.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, blend, mask, score, softmax
from core.gradients import AttentionGradients

N_SYMBOLS, SEQ_LEN, N_LABELS = 32, 16, 8
READOUT = 3.0  # logits = READOUT × output: fixed, not learned
BEST_LOSS = math.log1p((N_LABELS - 1) * math.exp(-READOUT))  # all weight on the right key leaves this much
DEAD_ROW = 1e-3  # a row whose own gradient is below this hardly learns


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sequences, one a row, as attention takes them: every symbol is a key, the absent ones are hidden."""

    asked: np.ndarray  # (B,) the symbol that the query names
    answer: np.ndarray  # (B,) its label
    v: np.ndarray  # (B, N_SYMBOLS, N_LABELS) one-hot labels
    allowed: np.ndarray  # (B, 1, N_SYMBOLS) True where the symbol stands in the sequence


def draw_batch(rng: np.random.Generator, size: int) -> Batch:
    """-> `size` random sequences."""
    order = rng.random((size, N_SYMBOLS)).argsort(axis=-1)
    allowed = np.zeros((size, 1, N_SYMBOLS), dtype=bool)
    np.put_along_axis(allowed[:, 0], order[:, :SEQ_LEN], True, axis=-1)
    labels = rng.integers(N_LABELS, size=(size, N_SYMBOLS))
    asked = order[:, 0]
    return Batch(asked, labels[np.arange(size), asked], np.eye(N_LABELS)[labels], allowed)


def forward(queries: np.ndarray, keys: np.ndarray, batch: Batch, divisor: float) -> AttentionSteps:
    """The four steps, with a divisor to choose; one query a sequence, the keys shared by all."""
    q = queries[batch.asked][:, None, :]
    scores = score(q, keys)
    scaled_scores = scores / divisor
    masked_scores = mask(scaled_scores, batch.allowed)
    weights = softmax(masked_scores)
    return AttentionSteps(
        q, keys, batch.v, scores, scaled_scores, masked_scores, weights, blend(weights, batch.v)
    )


def cross_entropy(output: np.ndarray, answer: np.ndarray) -> tuple[float, float, np.ndarray]:
    """output (B, 1, N_LABELS), answer (B,) -> loss above the best, share right, ∂loss/∂output."""
    logits, rows = READOUT * output[:, 0], np.arange(len(answer))
    chances = softmax(logits)
    loss = -np.log(chances[rows, answer]).mean() - BEST_LOSS
    right = (logits.argmax(axis=-1) == answer).mean()
    chances[rows, answer] -= 1
    return float(loss), float(right), READOUT * chances[:, None, :] / len(answer)


def table_gradients(
    gradients: AttentionGradients, batch: Batch, queries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the batch -> of the two tables: a symbol asked for twice collects both."""
    d_queries = np.zeros_like(queries)
    np.add.at(d_queries, batch.asked, gradients.q[:, 0])
    return d_queries, gradients.k


def dead_share(gradients: AttentionGradients, steps: AttentionSteps, answer: np.ndarray) -> float:
    """Of the rows answered wrong, the share whose own gradient by the scores softmax took is below 1e-3.

    0 when no row is wrong.
    """
    wrong = steps.output[:, 0].argmax(axis=-1) != answer
    norms = np.linalg.norm(gradients.masked_scores[:, 0], axis=-1) * len(answer)  # of one row's own loss
    return float((norms[wrong] < DEAD_ROW).mean()) if wrong.any() else 0.0
