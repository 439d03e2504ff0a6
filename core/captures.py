"""Somebody's own q, k and v, captured from any model, as attention steps.

A capture is an .npz or a .safetensors file with

    q (h, n_q, d_k)    k (h_kv, n_k, d_k)    v (h_kv, n_k, d_v)

after everything that the model does to them before the dot product (rotation and the like).
A leading batch axis of 1 is dropped, (T, d) is one head, and h may be a multiple of h_kv (grouped
heads). Optional: tokens, causal, mask, scaling, out, weights, source, layer.
Other usual names are accepted (capture_fields.NAMES). assets/snippets/capture_transformers.py writes
such files.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from core import capture_fields as fields
from core.attention import AttentionSteps, blend, mask, scale, score, softmax
from core.capture_fields import CaptureError
from core.files import read_arrays

EXAMPLES = {
    "minilm": "minilm_L1.npz",  # all-MiniLM-L6-v2
    "smollm2": "smollm2_L16.npz",  # SmolLM2-135M-Instruct
}
_FOLDER = Path(__file__).parent.parent / "assets" / "captures"


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """One layer's tensors. The maps are made head by head, since all of them may be large."""

    q: np.ndarray  # (h, n_q, d_k) float32 or float64
    k: np.ndarray  # (h_kv, n_k, d_k)
    v: np.ndarray  # (h_kv, n_k, d_v)
    allowed: np.ndarray | None  # (1 or h, n_q, n_k) bool, True = may attend
    scaling: float  # what the scores are multiplied by; usually 1/√d_k
    tokens: tuple[str, ...]  # n_k of them, one for each key; numbers where the file holds none
    out: np.ndarray | None  # (h, n_q, d_v), as the model gave it
    weights: np.ndarray | None  # (h, n_q, n_k), as the model gave them
    source: str  # the model, as the file names it; may be empty
    layer: str  # as the file names it; may be empty
    assumed: tuple[str, ...]  # sentences: what was taken for granted because the file does not say it

    @property
    def n_heads(self) -> int:
        """Query heads, h."""
        return self.q.shape[0]

    @property
    def n_kv_heads(self) -> int:
        """Key/value heads, h_kv."""
        return self.k.shape[0]

    @property
    def query_tokens(self) -> tuple[str, ...]:
        """The tokens of the queries: the last n_q, as in generation with a cache."""
        return self.tokens[len(self.tokens) - self.q.shape[1] :]

    def head(self, index: int) -> AttentionSteps:
        """The steps of one query head: q (n_q, d_k), scores (n_q, n_k), output (n_q, d_v) and so on."""
        if not 0 <= index < self.n_heads:
            raise IndexError(f"there is no head {index}: this capture has the heads 0 to {self.n_heads - 1}")
        # One head of the repeated ones is a view, so the copy of repeat is never made.
        group = index * self.n_kv_heads // self.n_heads
        q, k, v = self.q[index], self.k[group], self.v[group]
        scores = score(q, k)
        scaled_scores = scale(scores, q.shape[-1]) if self._is_usual_scale() else scores * self.scaling
        may = None if self.allowed is None else self.allowed[min(index, len(self.allowed) - 1)]
        masked_scores = mask(scaled_scores, may)
        weights = softmax(masked_scores)
        return AttentionSteps(q, k, v, scores, scaled_scores, masked_scores, weights, blend(weights, v))

    def _is_usual_scale(self) -> bool:
        return math.isclose(self.scaling, 1 / math.sqrt(self.q.shape[-1]), rel_tol=1e-6)


def read_capture(data: bytes, file_name: str = "the file") -> Capture:
    """An uploaded file's bytes -> a capture. Raises CaptureError with a sentence for its owner."""
    try:
        return to_capture(read_arrays(data, file_name))
    except CaptureError:
        raise
    except (ValueError, TypeError) as error:
        raise CaptureError(str(error)) from error


@lru_cache(maxsize=len(EXAMPLES))
def example_capture(name: str) -> Capture:
    """One of EXAMPLES, from assets/captures; read once."""
    file = EXAMPLES[name]
    return read_capture((_FOLDER / file).read_bytes(), file)


def to_capture(arrays: Mapping[str, np.ndarray]) -> Capture:
    """Arrays by name (see the module and capture_fields.NAMES) -> a capture. Raises CaptureError."""
    found = fields.find_all(arrays)
    named = ((name, found[name]) for name in ("q", "k", "v"))
    q, k, v = (fields.heads_first(name, array) for name, array in named if array is not None)
    fields.check_shapes(q, k, v)
    assumed: list[str] = []
    allowed = fields.allowed(found["mask"], found["causal"], len(q), q.shape[1], k.shape[1], assumed)
    return Capture(
        q=q,
        k=k,
        v=v,
        allowed=allowed,
        scaling=fields.scaling(found["scaling"], q.shape[-1], assumed),
        tokens=fields.tokens(found["tokens"], k.shape[1]),
        out=fields.out(found["out"], (len(q), q.shape[1], v.shape[-1])),
        weights=fields.weights(found["weights"], (len(q), q.shape[1], k.shape[1])),
        source=fields.text(found["source"]),
        layer=fields.text(found["layer"]),
        assumed=tuple(assumed),
    )
