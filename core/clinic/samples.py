"""Ready files to try the clinic with: one of each kind of answer, made by running the attention itself."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from core.faults.live import choices_of
from core.faults.pipeline import run
from core.faults.problem import Problem
from core.heads import merge_heads

SHAPE = (2, 3, 9, 12)  # batch, heads, positions, width
SEED = 7


@dataclass(frozen=True, slots=True)
class Sample:
    """A file to try, and what is in it."""

    name: str  # of the file
    title: str  # what is in it: its name in SAMPLES and in a URL
    make: Callable[[], bytes]

    @property
    def file_name(self) -> str:
        """What it is called when it is downloaded."""
        return f"{self.name}.npz"


def sample_npz(*labels: str, shape: tuple[int, int, int, int] = SHAPE, flat: bool = False) -> bytes:
    """The bytes of an .npz: random q, k, v, and the out of a causal attention with these faults.

    `shape` is (B, h, T, d); with `flat` the arrays are (B, T, h d), the heads side by side.
    """
    random = np.random.default_rng(SEED)
    q, k, v = random.standard_normal((3, *shape)).astype(np.float32)
    if flat:
        q, k, v = merge_heads(q), merge_heads(k), merge_heads(v)
    problem = Problem(
        q.astype(float), k.astype(float), v.astype(float), n_heads=shape[1], n_kv_heads=shape[1],
        causal=True, flat=flat, merged=flat,
    )  # fmt: skip
    out = run(problem, [choices_of(label, problem)[0] for label in labels]).output
    meta = {"layout": "BTD" if flat else "BHTD", "causal": True, "num_heads": shape[1]}
    return _saved({"q": q, "k": k, "v": v, "out": out.astype(np.float32), "meta": np.array(json.dumps(meta))})


def _misfit() -> bytes:
    """k one position short."""
    q, k, v, out = np.random.default_rng(SEED).standard_normal((4, *SHAPE)).astype(np.float32)
    return _saved({"q": q, "k": k[:, :, :-1], "v": v, "out": out})


def _saved(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


_ALL = (
    Sample("right", "Nothing is wrong", sample_npz),
    Sample("no_scale", "The scale is missing", partial(sample_npz, "scale.missing")),
    Sample("mask_inverted", "The mask is inverted", partial(sample_npz, "mask.inverted")),
    Sample(
        "heads_reshaped",
        "Heads cut by a reshape alone",
        partial(sample_npz, "heads.split_without_transpose", flat=True),
    ),
    Sample("two_faults", "Two faults at once", partial(sample_npz, "scale.missing", "softmax.axis_query")),
    Sample("tie", "Two faults that fit equally", partial(sample_npz, "scale.by_d_k", shape=(2, 3, 8, 8))),
    Sample("cannot_tell", "Data that cannot tell", partial(sample_npz, shape=(2, 3, 9, 1))),
    Sample("misfit", "Shapes that do not fit", _misfit),
)
SAMPLES = {sample.title: sample for sample in _ALL}
