"""Heads labs: one wide head against several narrow ones, what they cost, where W_O lets them meet."""

from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, attention
from core.checks import ShapeError
from core.experiments.prose import Table, count, fixed, significant, weight
from core.experiments.splitting import ONE_HEAD
from core.heads import merge_heads


@dataclass(frozen=True, slots=True, eq=False)
class WidthLab:
    """One wide head and h narrow ones on the same vectors."""

    wide: AttentionSteps  # (T, ...)
    narrow: AttentionSteps  # (h, T, ...)
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]

    @property
    def score_difference(self) -> float:
        """Largest |wide score - sum of the heads' scores|."""
        return float(np.abs(self.wide.scores - self.narrow.scores.sum(axis=0)).max())

    def pairs_above(self, least: float = 0.3) -> tuple[int, int]:
        """How many (query, key) pairs have a weight above `least`: in the wide head, in any narrow head."""
        return int((self.wide.weights > least).sum()), int((self.narrow.weights > least).any(axis=0).sum())

    def row_caption(self, row: int) -> str:
        """Where one query looks, with one head and with several."""
        wide = self.wide.weights[row]
        first, second = (int(j) for j in np.argsort(-wide, kind="stable")[:2])
        heads = ", ".join(
            f"head {i} {self.key_tokens[int(a.argmax())]} {weight(a.max())}"
            for i, a in enumerate(self.narrow.weights[:, row])
        )
        return (
            f"{self.query_tokens[row]}: one head must mix all wishes before its one softmax: "
            f"{self.key_tokens[first]} {weight(wide[first])}, {self.key_tokens[second]} "
            f"{weight(wide[second])}. On their own: {heads}."
        )

    @property
    def caption(self) -> str:
        """What the maps show."""
        wide, narrow = self.pairs_above()
        difference = self.score_difference
        if len(self.narrow.scores) == 1:
            return (
                f"One head is the wide head itself (largest difference {significant(difference)}). {ONE_HEAD}"
            )
        return (
            f"The wide head's scores are the sum of the {len(self.narrow.scores)} heads' scores (largest "
            f"difference {significant(difference)}); the weights are not. Word pairs with a weight above "
            f"0.3: {wide} in the one wide head, {narrow} in the narrow ones together."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "A dot product over all channels is the sum of the dot products over their parts, so the "
            "scores add up; each head then has a softmax of its own. A pair that counts in two heads is "
            "counted once."
        )


def width_lab(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    query_tokens: tuple[str, ...],
    key_tokens: tuple[str, ...],
    allowed: np.ndarray | None = None,
) -> WidthLab:
    """q (h, n_q, d_k), k (h, n_k, d_k), v (h, n_k, d_v) -> one wide head, and h narrow ones."""
    wide = attention(merge_heads(q), merge_heads(k), merge_heads(v), allowed)
    return WidthLab(wide, attention(q, k, v, allowed), tuple(query_tokens), tuple(key_tokens))


@dataclass(frozen=True, slots=True)
class Cost:
    """Multiply-adds and softmax entries of one attention layer, for one sequence."""

    n_heads: int
    d_k: int
    scores: int  # multiply-adds of Q Kᵀ
    blend: int  # multiply-adds of A V
    projections: int  # multiply-adds of the four projections
    softmax_entries: int  # exponentials, and the numbers that the weights take up


def cost(seq_len: int, d_model: int, n_heads: int) -> Cost:
    """h products (T × d_k)(d_k × T), h products (T × T)(T × d_k), four of T rows by d_model × d_model."""
    if n_heads < 1 or d_model % n_heads:
        raise ShapeError(f"d_model = {d_model} cannot be cut into n_heads = {n_heads} equal heads")
    d_k = d_model // n_heads
    product = n_heads * seq_len * seq_len * d_k
    return Cost(n_heads, d_k, product, product, 4 * seq_len * d_model * d_model, n_heads * seq_len * seq_len)


@dataclass(frozen=True, slots=True)
class CostLab:
    """The cost for several numbers of heads at the same width."""

    seq_len: int
    d_model: int
    costs: tuple[Cost, ...]

    @property
    def caption(self) -> str:
        """What stays and what grows."""
        first, last = self.costs[0], self.costs[-1]
        constant = len({(one.scores, one.blend, one.projections) for one in self.costs}) == 1
        return (
            f"T = {self.seq_len}, d_model = {self.d_model}, {first.n_heads} to {last.n_heads} heads: Q Kᵀ "
            f"takes {count(first.scores)} multiply-adds and A V {count(first.blend)}, "
            f"{'the same for every number of heads' if constant else 'not the same for all'}. Softmax "
            f"entries grow from {count(first.softmax_entries)} to {count(last.softmax_entries)}, × "
            f"{last.softmax_entries // first.softmax_entries}."
        )

    @property
    def table(self) -> Table:
        """One row for each number of heads."""
        header = ("heads", "d_k", "Q Kᵀ", "A V", "projections", "softmax entries")
        fields = ("n_heads", "d_k", "scores", "blend", "projections", "softmax_entries")
        return (header, *(tuple(count(getattr(one, name)) for name in fields) for one in self.costs))

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "With d_k = d_model / h, the width divided among the heads. Then the matrix products cost the "
            "same; the softmax, and the memory for the weights, grow with h."
        )


def cost_lab(seq_len: int = 128, d_model: int = 512, n_heads: tuple[int, ...] = (1, 2, 4, 8)) -> CostLab:
    """The cost for each number of heads."""
    return CostLab(seq_len, d_model, tuple(cost(seq_len, d_model, h) for h in n_heads))


@dataclass(frozen=True, slots=True, eq=False)
class MixingLab:
    """The heads' outputs side by side, and after a W_O between "leave as it is" and a mixing one."""

    amount: float
    concat: np.ndarray  # (T, h d_v)
    w_o: np.ndarray  # (h d_v, d_model)
    output: np.ndarray  # (T, d_model)
    head_shares: np.ndarray  # (d_model, h): share of each head in the channel's weights, by size

    @property
    def caption(self) -> str:
        """What the matrix does."""
        mixed = int((self.head_shares > 0).all(axis=1).sum())
        return (
            f"W_O at {fixed(self.amount)} between identity and mixing: {mixed} of {self.output.shape[1]} "
            "output channels draw on every head; the output moves from the concatenation by up to "
            f"{significant(self.moved)}."
        )

    @property
    def moved(self) -> float:
        """Largest |output - concat| over the channels that both have."""
        width = min(self.concat.shape[1], self.output.shape[1])
        return float(np.abs(self.output[:, :width] - self.concat[:, :width]).max())

    @property
    def note(self) -> str:
        """When it holds."""
        return "Concatenation only puts the heads next to each other; W_O is where they meet."


def mixing_lab(heads_output: np.ndarray, w_o: np.ndarray, amount: float = 1.0) -> MixingLab:
    """heads_output (h, T, d_v), w_o (h d_v, d_model), amount 0 ... 1 -> by (1 - amount) I + amount W_O."""
    if not 0 <= amount <= 1:
        raise ValueError(f"amount must be between 0 and 1, but it is {amount}")
    n_heads, _, d_v = heads_output.shape
    concat = merge_heads(heads_output)
    between = (1 - amount) * np.eye(*w_o.shape) + amount * w_o
    sizes = np.abs(between).reshape(n_heads, d_v, -1).sum(axis=1).T
    totals = sizes.sum(axis=1, keepdims=True)
    shares = np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0)
    return MixingLab(amount, concat, between, concat @ between, shares)
