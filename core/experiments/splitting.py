"""Heads labs: right and wrong ways to cut and join, one wide head against narrow ones, what it costs."""

from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, attention
from core.checks import ShapeError
from core.experiments.prose import Table, count, fixed, significant, weight
from core.heads import merge_heads, split_heads


def split_without_transpose(x: np.ndarray, n_heads: int) -> np.ndarray:
    """(..., T, d_model) -> (..., h, T, d_k) by one reshape: the right shape, the wrong content."""
    *leading, seq_len, d_model = x.shape
    return x.reshape(*leading, n_heads, seq_len, d_model // n_heads)


def merge_without_transpose(x: np.ndarray) -> np.ndarray:
    """(..., h, T, d_v) -> (..., T, h d_v) by one reshape: the right shape, the wrong content."""
    *leading, n_heads, seq_len, d_v = x.shape
    return x.reshape(*leading, seq_len, n_heads * d_v)


def origins(seq_len: int, width: int) -> np.ndarray:
    """-> (T, width) whole numbers: which word each element came from."""
    return np.repeat(np.arange(seq_len)[:, None], width, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class SplitLab:
    """q, k and v cut into heads the right way and by a bare reshape."""

    right: AttentionSteps  # (h, T, ...)
    wrong: AttentionSteps  # (h, T, ...), the same shapes
    right_origins: np.ndarray  # (h, T, d_k): the word each element of q came from
    wrong_origins: np.ndarray  # (h, T, d_k)

    @property
    def weights_error(self) -> float:
        """The largest difference of a weight."""
        return float(np.abs(self.right.weights - self.wrong.weights).max())

    @property
    def mixed_rows(self) -> int:
        """Rows of a head that hold another word's elements, or several words'."""
        own = np.arange(self.wrong_origins.shape[1])[None, :, None]
        return int((self.wrong_origins != own).any(axis=-1).sum())

    @property
    def caption(self) -> str:
        """What the colours and the error show."""
        h, seq_len, d_k = self.wrong_origins.shape
        inside = sorted({int(word) for word in self.wrong_origins[0, 1]}) if seq_len > 1 else [0]
        words = " and ".join(f"word {word}" for word in inside)
        return (
            f"Both have shape ({h}, {seq_len}, {d_k}) and neither raises an error. By the bare reshape "
            f"{self.mixed_rows} of {h * seq_len} rows hold elements of another word (head 0, row 1: "
            f"{words}); the weights are off by up to {significant(self.weights_error)}."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "reshape never moves an element: it cuts the same flat order anew. Words and heads have to "
            "change places, and that is a transpose. With one head, or one word, both are the same."
        )


def split_lab(q: np.ndarray, k: np.ndarray, v: np.ndarray, n_heads: int) -> SplitLab:
    """q, k (T, d_model), v (T, h d_v), all heads side by side -> cut the right and the wrong way."""
    right, wrong = (
        attention(*(cut(x, n_heads) for x in (q, k, v))) for cut in (split_heads, split_without_transpose)
    )
    origin = origins(*q.shape)
    return SplitLab(right, wrong, split_heads(origin, n_heads), split_without_transpose(origin, n_heads))


@dataclass(frozen=True, slots=True, eq=False)
class MergeLab:
    """The heads' outputs joined the right way and by a bare reshape."""

    right: np.ndarray  # (T, h d_v)
    wrong: np.ndarray  # (T, h d_v)
    right_origins: np.ndarray  # (T, h d_v): the word each element belongs to
    wrong_origins: np.ndarray  # (T, h d_v)

    @property
    def error(self) -> float:
        """The largest difference of an element."""
        return float(np.abs(self.right - self.wrong).max())

    @property
    def misplaced(self) -> float:
        """Share of the elements that stand in another word's row."""
        return float((self.wrong_origins != self.right_origins).mean())

    @property
    def caption(self) -> str:
        """What the colours and the error show."""
        misplaced = round(self.misplaced * self.right.size)
        return (
            f"Both have shape {self.right.shape} and neither raises an error. Without the transpose "
            f"{misplaced} of {self.right.size} elements stand in another word's row; the output is off by "
            f"up to {significant(self.error)}."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "In PyTorch .transpose(...).view(...) does raise an error here, because a view cannot follow "
            "the new order; leaving the transpose out, or writing .reshape without it, raises none."
        )


def merge_lab(heads_output: np.ndarray) -> MergeLab:
    """heads_output (h, T, d_v) -> joined the right and the wrong way."""
    if heads_output.ndim != 3:
        raise ShapeError(
            f"the heads' output needs the axes (h, T, d_v), but its shape is {heads_output.shape}"
        )
    h, seq_len, d_v = heads_output.shape
    origin = np.broadcast_to(origins(seq_len, d_v), (h, seq_len, d_v))
    return MergeLab(
        merge_heads(heads_output),
        merge_without_transpose(heads_output),
        merge_heads(origin),
        merge_without_transpose(np.ascontiguousarray(origin)),
    )


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
class LoopLab:
    """Heads one after the other, all at once, and with the head axis left behind the time axis."""

    loop: np.ndarray  # (h, T, d_v)
    batched: np.ndarray  # (h, T, d_v)
    between_heads: np.ndarray  # (T, h, h): the weights when the transpose is left out

    @property
    def difference(self) -> float:
        """Largest |loop - batched|."""
        return float(np.abs(self.loop - self.batched).max())

    @property
    def caption(self) -> str:
        """What was compared."""
        h, seq_len, _ = self.loop.shape
        return (
            f"A loop over {h} heads and one batched product give the same output: the largest difference is "
            f"{significant(self.difference)}. Without the transpose the product runs over the wrong axes: "
            f"the weights have shape {self.between_heads.shape}, {seq_len} maps of {h} × {h}, in which the "
            "heads of one word attend to each other and no word sees another."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "The head axis has to stand before the time axis for a plain batched product, which multiplies "
            "over the last two axes. einsum can name the axes instead."
        )


def loop_lab(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> LoopLab:
    """q, k (h, T, d_k), v (h, T, d_v) -> one head at a time, all heads at once, and untransposed."""
    loop = np.stack([attention(q[i], k[i], v[i]).output for i in range(len(q))])
    if q.shape[1] != k.shape[1]:
        raise ShapeError(f"as many queries as keys are needed, but q is {q.shape} and k is {k.shape}")
    untransposed = attention(*(x.swapaxes(0, 1) for x in (q, k, v)))
    return LoopLab(loop, attention(q, k, v).output, untransposed.weights)


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
