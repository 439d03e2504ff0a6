"""What the reader chose, and the attention that follows from it."""

import math
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from core import examples, masks
from core.attention import attention
from core.captures import Capture
from core.edits import fits, parse_edits, within_limit, written_edits
from core.examples import Example
from core.grammar import SENTENCES
from core.heads import MultiHeadSteps, join_heads
from core.offered import D_KS, GIVEN, HEADS, MASKS, PADS, SEEDS, SEQ_LENS, WINDOWS, check_choice, check_range
from core.real import FIRST_HEAD, MODEL, REAL, RealHeads, natural, real_heads
from core.tiny_model import N_HEADS as MODEL_HEADS


@dataclass(frozen=True, slots=True)
class Setup:
    """The reader's choices: ints and strings, so that a URL can hold all but an uploaded capture.

    A real head (example is one of core.real.REAL) has its own d_k and length; the setup must name them.
    """

    example: str = "kite"
    seq_len: int = 7
    d_k: int = 4
    mask: str = "none"
    n_heads: int = 1
    seed: int = 0
    n_pad: int = 2  # padded positions at the end, for the padding masks
    window: int = 2  # for the window mask: keys fewer than this many positions away
    edits: str = ""  # "q.0.4.0=3;v.0.1.0=-2": tensor.head.row.channel=value
    sentence: str = SENTENCES["keys"]  # what the tiny model reads, for example "model"
    real_head: str = FIRST_HEAD  # which of core.real.head_names, for a real example
    capture: Capture | None = None  # what was uploaded, for the examples core.real.UPLOADS

    def __post_init__(self) -> None:
        """Raise ValueError, in a sentence, for a choice that is not on offer."""
        check_choice("example", self.example, (*examples.EXAMPLES, *REAL))
        for name, offered in (("seed", SEEDS), ("n_pad", PADS), ("window", WINDOWS)):
            check_range(name, getattr(self, name), offered)
        for name in ("edits", "sentence", "real_head"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be text, but it is a {type(getattr(self, name)).__name__}")
        if self.is_real:
            _check_real(self, whole(self))
        else:
            check_choice("mask", self.mask, MASKS)
            check_choice("n_heads", self.n_heads, HEADS)
            check_choice("d_k", self.d_k, D_KS)
            check_range("seq_len", self.seq_len, SEQ_LENS)

    @property
    def is_real(self) -> bool:
        """Whether the numbers come from a trained model."""
        return self.example in REAL

    @property
    def d_model(self) -> int:
        """The width of all heads side by side."""
        return self.n_heads * self.d_k


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What attention starts from, float64, with the names of rows and channels."""

    q: np.ndarray  # (h, n_q, d_k)
    k: np.ndarray  # (h, n_k, d_k)
    v: np.ndarray  # (h, n_k, d_v)
    w_o: np.ndarray  # (h d_v, d_model)
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    channels: tuple[str, ...]
    value_channels: tuple[str, ...]


def choices(setup: Setup) -> dict[str, int | str]:
    """Every choice by name, except an uploaded capture: what a link or a file can hold."""
    return {field.name: getattr(setup, field.name) for field in fields(setup) if field.name != "capture"}


def inputs(setup: Setup) -> Inputs:
    """-> q (h, n_q, d_k), k (h, n_k, d_k), v (h, n_k, d_v), w_o, cut from the example, edits applied.

    The arrays are read-only, since all who ask for the same setup share them.
    """
    return _cut_once(setup) if setup.capture is None else _cut(setup)  # of an upload nothing is kept


def _cut(setup: Setup) -> Inputs:
    given = _real_inputs(setup) if setup.is_real else _example_inputs(setup)
    for (tensor, *index), value in parse_edits(setup.edits).items():
        array = getattr(given, tensor)
        if fits(tuple(index), array.shape):
            array[tuple(index)] = value
    for array in (given.q, given.k, given.v, given.w_o):
        array.flags.writeable = False
    return given


_cut_once = lru_cache(maxsize=4)(_cut)  # one run of a page asks for the same setup several times


def example_of(setup: Setup) -> Example:
    """What the example of this setup is called and shows; of a real head too."""
    if not setup.is_real:
        return examples.EXAMPLES[setup.example]
    size = natural(whole(setup))
    what = f"“{setup.sentence}”" if setup.example == MODEL else f"capture {setup.example}"
    return Example(
        setup.example, f"Head {setup.real_head} of a trained model", f"A head of a trained model: {what}.",
        size.seq_len, size.d_k, setup.n_heads, size.row, size.col,
    )  # fmt: skip


def whole(setup: Setup) -> RealHeads:
    """The real head of this setup at its full length, or the heads of its layer when all are asked for."""
    return real_heads(setup.example, setup.sentence, setup.real_head, setup.capture, setup.n_heads > 1)


def allowed(setup: Setup) -> np.ndarray | None:
    """-> (n_q, n_k) bool, True = may attend; None without a mask.

    At least one key stays real under padding, however large n_pad is.
    """
    if setup.mask == "none":
        return None
    if setup.mask == GIVEN:
        return whole(setup).window(setup.seq_len).allowed
    n_q, n_k = _n_queries(setup), setup.seq_len
    if setup.mask == "window":
        return masks.sliding_window(n_q, n_k, width=setup.window)
    every = np.ones((n_q, n_k), dtype=bool)
    causal = masks.causal(n_q, n_k) if "causal" in setup.mask else every
    return causal & masks.padding(key_is_real(setup)) if "padding" in setup.mask else causal


def key_is_real(setup: Setup) -> np.ndarray:
    """-> (n_k,) bool, True = a real token: all but the last n_pad, and at least one."""
    return np.arange(setup.seq_len) < max(1, setup.seq_len - setup.n_pad)


def run(setup: Setup) -> MultiHeadSteps:
    """-> every tensor of the chosen attention; the heads' tensors are (h, n_q, ...) even for h = 1."""
    given = inputs(setup)
    return join_heads(attention(given.q, given.k, given.v, allowed(setup)), given.w_o)


def changed(setup: Setup) -> dict[str, np.ndarray]:
    """-> for each tensor's name a bool array of its shape: True where the edits changed the number.

    Names: those of AttentionSteps, then "concat" and "projected" (the output after w_o).
    """
    edited, original = _named(run(setup)), _named(run(replace(setup, edits="")))
    return {name: edited[name] != original[name] for name in edited}


def with_edit(setup: Setup, tensor: str, head: int, row: int, channel: int, value: float) -> str:
    """-> the text for `edits` in which one more cell of q, k or v has been set.

    A value equal to the example's own removes the edit. Raises ValueError for a cell
    that the setup does not have and for a value that is not finite.
    """
    original = inputs(replace(setup, edits=""))
    if tensor not in ("q", "k", "v") or not fits((head, row, channel), getattr(original, tensor).shape):
        raise ValueError(f"there is no cell {tensor}[{head}, {row}, {channel}] to edit in this setup")
    if not math.isfinite(value):
        raise ValueError(f"a cell takes a finite number, but it was given {value}")
    edits = parse_edits(setup.edits)
    edits[tensor, head, row, channel] = within_limit(float(value))
    if edits[tensor, head, row, channel] == getattr(original, tensor)[head, row, channel]:
        del edits[tensor, head, row, channel]
    return written_edits(edits)


def _example_inputs(setup: Setup) -> Inputs:
    name, seq_len = setup.example, setup.seq_len
    blocks = [examples.head_block(name, setup.seed, head, setup.d_k) for head in range(setup.n_heads)]
    query_tokens, key_tokens = examples.tokens(name)
    return Inputs(
        q=np.stack([block.q[:seq_len] for block in blocks]),
        k=np.stack([block.k[:seq_len] for block in blocks]),
        v=np.stack([block.v[:seq_len] for block in blocks]),
        w_o=examples.output_projection(name, setup.seed, setup.n_heads, setup.d_k),
        query_tokens=query_tokens[:seq_len],
        key_tokens=key_tokens[:seq_len],
        channels=examples.channels(name, setup.d_k),
        value_channels=examples.value_channels(name),
    )


def _real_inputs(setup: Setup) -> Inputs:
    heads = whole(setup).window(setup.seq_len)
    return Inputs(
        q=heads.q.copy(),
        k=heads.k.copy(),
        v=heads.v.copy(),
        w_o=heads.w_o,
        query_tokens=heads.query_tokens,
        key_tokens=heads.tokens,
        channels=examples.numbered("c", setup.d_k),
        value_channels=examples.numbered("v", heads.v.shape[-1]),
    )


def _n_queries(setup: Setup) -> int:
    if setup.is_real:
        return whole(setup).window(setup.seq_len).q.shape[1]
    return min(len(examples.tokens(setup.example)[0]), setup.seq_len)


def _named(steps: MultiHeadSteps) -> dict[str, np.ndarray]:
    heads = {field.name: getattr(steps.heads, field.name) for field in fields(steps.heads)}
    return heads | {"concat": steps.concat, "projected": steps.output}


def _check_real(setup: Setup, heads: RealHeads) -> None:
    """Raise ValueError where the setup asks a real head for what it does not have."""
    check_choice("mask", setup.mask, MASKS if heads.allowed is None else (*MASKS, GIVEN))
    check_choice("n_heads", setup.n_heads, (1, MODEL_HEADS) if setup.example == MODEL else (1,))
    check_range("seq_len", setup.seq_len, range(1, heads.most + 1))
    if setup.d_k != heads.q.shape[-1]:
        raise ValueError(
            f"d_k is {setup.d_k}, but this head's queries and keys have {heads.q.shape[-1]} channels"
        )
