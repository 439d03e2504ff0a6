"""One attention as its owner believes it to be: the arrays and the settings a computation starts from."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

FLOAT64 = np.dtype(np.float64)
Optional = Any  # an array or None: which are there depends on the problem, and a choice's `when` asks


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The inputs of one attention in one fixed form, and what it is meant to do.

    Axes: B batch, h query heads, h_kv key/value heads, T positions (n_q, n_k where they differ).
    With `x` the tensors q, k, v are None and come from the projections, used as x @ w.
    """

    q: Optional  # (B, h, n_q, d_k); with `flat` (B, n_q, h d_k)
    k: Optional  # (B, h_kv, n_k, d_k); with `flat` (B, n_k, h_kv d_k)
    v: Optional  # (B, h_kv, n_k, d_v); with `flat` (B, n_k, h_kv d_v)
    n_heads: int
    n_kv_heads: int
    x: Optional = None  # (B, T, d_in)
    projections: dict[str, np.ndarray] = field(default_factory=dict)  # wq wk wv wo, bq bk bv bo
    flat: bool = False  # q, k, v still have to be cut into heads
    merged: bool = False  # the output has its heads side by side: (B, n_q, h d_v)
    causal: bool = False
    top_left: bool = False  # the causal triangle starts at the first key, as in PyTorch's is_causal
    key_keep: Optional = None  # (B, n_k) bool, True = a real token
    allowed: Optional = None  # an explicit mask, True = may attend, broadcasts to (B, h, n_q, n_k)
    bias: Optional = None  # added to the scaled scores, broadcasts to (B, h, n_q, n_k)
    rope: bool = False
    alibi: bool = False
    scale: float | None = None  # the factor meant for the scores; None means 1 / sqrt(d_k)
    softcap: float | None = None  # the scaled scores z are meant to become softcap · tanh(z / softcap)
    sink: float | None = None  # the constant that is meant to be added to softmax's sum of exponentials
    causal_known: bool = True  # False: nobody said whether it is causal
    all_heads: int | None = None  # of a part of a problem: how many heads the whole one has
    dtype: np.dtype = FLOAT64  # the number format of the file: where exp and q·k overflow

    @property
    def flat_width(self) -> int:
        """The width of all queries side by side, h d_k."""
        if self.x is not None:
            return self.projections["wq"].shape[1]
        return self.q.shape[-1] * (1 if self.flat else self.total_heads)

    @property
    def total_heads(self) -> int:
        """How many heads there are, also in those that a part leaves out."""
        return self.n_heads if self.all_heads is None else self.all_heads

    @property
    def d_k(self) -> int:
        """The width of a query and of a key."""
        return self.flat_width // self.total_heads

    @property
    def d_v(self) -> int:
        """The width of a value."""
        if self.x is not None:
            return self.projections["wv"].shape[1] // self.n_kv_heads
        return self.v.shape[-1] // (self.n_kv_heads if self.flat else 1)

    @property
    def d_model(self) -> int:
        """The width of the model: of x, or of all heads side by side."""
        return self.x.shape[-1] if self.x is not None else self.flat_width

    @property
    def batch(self) -> int:
        """How many sequences."""
        return (self.q if self.x is None else self.x).shape[0]

    @property
    def n_q(self) -> int:
        """How many queries."""
        return (self.q if self.x is None else self.x).shape[-2]

    @property
    def n_k(self) -> int:
        """How many keys."""
        return (self.k if self.x is None else self.x).shape[-2]

    @property
    def square(self) -> bool:
        """As many queries as keys."""
        return self.n_q == self.n_k

    @property
    def masks(self) -> bool:
        """Whether anything is meant to be hidden."""
        return self.causal or self.key_keep is not None or self.allowed is not None

    def batch_entries(self, entries: list[int]) -> "Problem":
        """The same problem for some entries of the batch."""
        whole = self.batch

        def cut(array: np.ndarray | None) -> np.ndarray | None:
            return array[entries] if array is not None and array.shape[0] == whole else array

        full_rank = {  # a mask or bias of rank 4 has a batch axis, a smaller one is shared
            name: cut(array) if array is not None and array.ndim == 4 else array
            for name, array in (("allowed", self.allowed), ("bias", self.bias))
        }
        arrays = {name: cut(getattr(self, name)) for name in ("q", "k", "v", "x", "key_keep")}
        return replace(self, **arrays, **full_rank)

    def first_groups(self, n_groups: int) -> "Problem":
        """The same problem for the first key/value heads and the query heads that they serve."""
        n_heads = n_groups * (self.n_heads // self.n_kv_heads)

        def cut(array: np.ndarray | None) -> np.ndarray | None:
            has_heads = array is not None and array.ndim == 4 and array.shape[1] == self.n_heads
            return array[:, :n_heads] if has_heads else array

        return replace(
            self,
            q=self.q[:, :n_heads],
            k=self.k[:, :n_groups],
            v=self.v[:, :n_groups],
            allowed=cut(self.allowed),
            bias=cut(self.bias),
            n_heads=n_heads,
            n_kv_heads=n_groups,
            all_heads=self.total_heads,
        )


def problem_of(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    allowed: np.ndarray | None = None,
    *,
    causal: bool = False,
    key_keep: np.ndarray | None = None,
    **settings: Any,
) -> Problem:
    """q (..., n_q, d_k), k (..., n_k, d_k), v (..., n_k, d_v) -> a Problem with axes (B, h, T, d).

    One leading axis is taken for heads. `settings` are other fields of Problem.
    """
    q, k, v = (as_four_axes(array) for array in (q, k, v))
    return Problem(
        q=q, k=k, v=v, n_heads=q.shape[1], n_kv_heads=k.shape[1], allowed=allowed, causal=causal,
        key_keep=key_keep, **settings,
    )  # fmt: skip


def as_four_axes(array: np.ndarray) -> np.ndarray:
    """(T, d) or (h, T, d) or (B, h, T, d) -> (B, h, T, d)."""
    return array.reshape((1,) * (4 - array.ndim) + array.shape)
