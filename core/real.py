"""One head of a trained model as an example for the walk: its own q, k, v, mask and tokens.

It comes from the tiny model (any sentence, any head), from a capture that is shipped with the tutor,
or from a capture that the reader brought. A shorter sequence is a prefix of the whole one.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from core import masks
from core.attention import attention
from core.captures import EXAMPLES as CAPTURES
from core.captures import Capture, example_capture
from core.examples import MAX_SEQ_LEN
from core.tiny_model import D_K, N_HEADS, N_LAYERS, ModelSteps, load_weights, read_sentence, run_model

MODEL = "model"
UPLOADS = ("yours", "yours_before")  # the file that was uploaded last, and the one before it
REAL = (MODEL, *CAPTURES, *UPLOADS)
FIRST_HEAD = "L1H0"


@dataclass(frozen=True, slots=True, eq=False)
class RealHeads:
    """What attention starts from in a trained model, float64; h is 1, or all heads of a layer."""

    q: np.ndarray  # (h, n_q, d_k)
    k: np.ndarray  # (h, n_k, d_k)
    v: np.ndarray  # (h, n_k, d_v)
    w_o: np.ndarray  # (h d_v, d_model); the identity for a capture, which holds no W_O
    allowed: np.ndarray | None  # (n_q, n_k) bool, as in the model
    tokens: tuple[str, ...]  # n_k; the queries are the last n_q of them
    scaled_by: float  # q was multiplied by this, so that the division by √d_k gives the model's own scaling

    @property
    def query_tokens(self) -> tuple[str, ...]:
        """The tokens of the queries."""
        return self.tokens[len(self.tokens) - self.q.shape[1] :]

    @property
    def mask(self) -> str:
        """The name of the model's own mask; "given" where it has no simpler name."""
        if self.allowed is None or self.allowed.all():
            return "none"
        return "causal" if (self.allowed == masks.causal(*self.allowed.shape)).all() else "given"

    @property
    def most(self) -> int:
        """How many positions the walk can show."""
        return min(len(self.tokens), MAX_SEQ_LEN)

    def first_position(self, seq_len: int) -> int:
        """Where a window of seq_len positions begins: at 0, unless no query would be in it."""
        n_q, n_k = self.q.shape[1], self.k.shape[1]
        return max(0, n_k - n_q + 1 - seq_len)

    def window(self, seq_len: int) -> "RealHeads":
        """The first seq_len positions."""
        n_q, n_k = self.q.shape[1], self.k.shape[1]
        start = self.first_position(seq_len)
        keys, queries = slice(start, start + seq_len), slice(0, start + seq_len - (n_k - n_q))
        return replace(
            self,
            q=self.q[:, queries],
            k=self.k[:, keys],
            v=self.v[:, keys],
            allowed=None if self.allowed is None else self.allowed[queries, keys],
            tokens=self.tokens[keys],
        )


@dataclass(frozen=True, slots=True)
class Natural:
    """The size that a real head has by itself, and a cell to start with."""

    seq_len: int
    d_k: int
    mask: str
    row: int
    col: int


def head_names(name: str, capture: Capture | None = None) -> tuple[str, ...]:
    """The heads on offer: L0H0, L0H1, ... of the model, 0, 1, ... of a capture."""
    if name == MODEL:
        return tuple(f"L{layer}H{head}" for layer in range(N_LAYERS) for head in range(N_HEADS))
    return tuple(str(head) for head in range(_capture(name, capture).n_heads))


def real_heads(
    name: str, sentence: str, head: str, capture: Capture | None = None, whole_layer: bool = False
) -> RealHeads:
    """One of REAL -> the head of that name (see head_names), or all heads of its layer of the model.

    Raises ValueError, in a sentence, for words the model does not know and heads that are not there.
    """
    names = head_names(name, capture)
    if head not in names:
        raise ValueError(f"there is no head {head!r}: the heads are {names[0]} to {names[-1]}")
    index = names.index(head)
    if name == MODEL:
        return _of_model(read_sentence(sentence), *divmod(index, N_HEADS), whole_layer)
    return _of_capture(_capture(name, capture), index)


def natural(heads: RealHeads) -> Natural:
    """The whole sequence up to 64 positions, the model's own mask, and the cell that stands out most.

    That is the farthest key, other than the first, which gets more than half of a query's weight; where
    there is none, the largest weight.
    """
    shown = heads.window(heads.most)
    weights = attention(shown.q[0], shown.k[0], shown.v[0], shown.allowed).weights
    n_q, n_k = weights.shape
    distance = np.abs(np.arange(n_k) - np.arange(n_k - n_q, n_k)[:, None])
    distance[:, 0] = 0
    far = np.where(weights > 0.5, distance, 0)
    best = far if far.any() else np.nan_to_num(weights) * (distance > 0)
    row, col = np.unravel_index(best.argmax(), weights.shape)
    return Natural(heads.most, heads.q.shape[-1], heads.mask, int(row), int(col))


def notes(heads: RealHeads, seq_len: int, mask: str) -> list[str]:
    """Sentences: in what the walk departs from what the model did, if in anything."""
    n_k, start, told = len(heads.tokens), heads.first_position(seq_len), []
    if n_k > MAX_SEQ_LEN:
        told.append(f"The walk shows at most {MAX_SEQ_LEN} of the {n_k} positions.")
    if start:
        told.append(f"Positions {start} to {start + seq_len - 1} are shown, so that a query is among them.")
    if mask != heads.mask:
        told.append(f"The model itself used the mask “{heads.mask}”.")
    elif seq_len < n_k and mask != "causal":
        told.append("The sequence was cut, so each row shares its weight among fewer keys than in the model.")
    if heads.scaled_by != 1:
        told.append(
            f"The model does not divide by √d_k. Q was multiplied by {heads.scaled_by:.6g} here, "
            "so that the division by √d_k gives the model's own scaled scores."
        )
    return told


def _of_model(words: tuple[str, ...], layer: int, head: int, whole_layer: bool) -> RealHeads:
    run = _run(words)
    multi_head = run.layers[layer].multi_head
    chosen = slice(None) if whole_layer else slice(head, head + 1)
    q, k, v = (getattr(multi_head.heads, name)[chosen].astype(float) for name in "qkv")
    w_o = load_weights().layers[layer].w_o.astype(float)
    rows = slice(None) if whole_layer else slice(head * D_K, (head + 1) * D_K)
    return RealHeads(q, k, v, w_o[rows], masks.causal(len(run.words)), run.words, 1.0)


@lru_cache(maxsize=8)
def _run(words: tuple[str, ...]) -> ModelSteps:
    return run_model(words)


def _of_capture(capture: Capture, index: int) -> RealHeads:
    group = index * capture.n_kv_heads // capture.n_heads
    d_k, d_v = capture.q.shape[-1], capture.v.shape[-1]
    scaled_by = capture.scaling * math.sqrt(d_k)
    scaled_by = 1.0 if math.isclose(scaled_by, 1, rel_tol=1e-6) else scaled_by
    allowed = capture.allowed
    return RealHeads(
        q=capture.q[index][None].astype(float) * scaled_by,
        k=capture.k[group][None].astype(float),
        v=capture.v[group][None].astype(float),
        w_o=np.eye(d_v),
        allowed=None if allowed is None else allowed[min(index, len(allowed) - 1)],
        tokens=capture.tokens,
        scaled_by=scaled_by,
    )


def _capture(name: str, capture: Capture | None) -> Capture:
    if name in CAPTURES:
        return example_capture(name)
    if capture is None:
        raise ValueError("an uploaded capture is not here: it is kept for the visit in which it came")
    return capture
