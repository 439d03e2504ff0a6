"""Heads labs: right and wrong ways to cut the width into heads and to join them again."""

from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, attention
from core.checks import ShapeError
from core.experiments.prose import listed, significant
from core.heads import merge_heads, split_heads

ONE_HEAD = "With one head, or one word, there is nothing to mix up: choose two heads or more."


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
    right_origins: np.ndarray  # (h, T, d_k): the word each element of k came from
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
        if not self.mixed_rows:
            return f"Both have shape ({h}, {seq_len}, {d_k}) and are the same. {ONE_HEAD}"
        words = listed([f"word {word}" for word in sorted({int(word) for word in self.wrong_origins[0, 1]})])
        return (
            f"Both have shape ({h}, {seq_len}, {d_k}) and neither raises an error. By the bare reshape "
            f"{self.mixed_rows} of {h * seq_len} rows hold elements of another word (head 0, row 1: "
            f"{words}); the weights are off by up to {significant(self.weights_error)}."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "A reshape never moves an element: it cuts the same flat order anew. Words and heads have to "
            "change places, and that is a transpose. With one head, or one word, both are the same."
        )


def split_lab(q: np.ndarray, k: np.ndarray, v: np.ndarray, n_heads: int) -> SplitLab:
    """q, k (T, d_model), v (T, h d_v), all heads side by side -> cut the right and the wrong way."""
    right, wrong = (
        attention(*(cut(x, n_heads) for x in (q, k, v))) for cut in (split_heads, split_without_transpose)
    )
    origin = origins(*k.shape)
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
        if not misplaced:
            return f"Both have shape {self.right.shape} and are the same. {ONE_HEAD}"
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
        if h == 1:
            return f"One head: a loop of one turn (difference {significant(self.difference)}). {ONE_HEAD}"
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
