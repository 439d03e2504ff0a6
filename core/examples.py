"""The examples: tokens and small numbers from assets/presets.json, and seeded numbers beyond them.

Growing never reshuffles. Every example is one block of 64 positions for each head, and a
setup cuts its rows and channels from it, so a larger seq_len, d_k or n_heads adds numbers
and changes none. Seeded numbers are therefore drawn channel by channel: the first channels
of a longer draw are the whole of a shorter one.
"""

import json
import zlib
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

MAX_SEQ_LEN = 64
PRESETS_FILE = Path(__file__).parent.parent / "assets" / "presets.json"


@dataclass(frozen=True, slots=True)
class Example:
    """What a reader chooses from: a name, what it shows, its natural size and the cell to start with."""

    name: str
    title: str
    about: str
    seq_len: int
    d_k: int
    n_heads: int
    row: int
    col: int


@dataclass(frozen=True, slots=True, eq=False)
class HeadBlock:
    """One head of an example at full length."""

    q: np.ndarray  # (64, d_k), or (1, d_k) in an example with one query
    k: np.ndarray  # (64, d_k)
    v: np.ndarray  # (64, d_v)


def head_block(name: str, seed: int, head: int, d_k: int) -> HeadBlock:
    """-> q, k (64, d_k) and v (64, d_v) of one head of the example, float64.

    Head 0 is the preset. Head 1 of the sentences attends to the previous word. Heads after
    that are seeded, and so are all heads of "random".
    """
    base = _base_block(name, seed, head)
    q = _widen(base.q, d_k, name, seed, head, "q")
    k = _widen(base.k, d_k, name, seed, head, "k")
    return HeadBlock(q, np.broadcast_to(k, (MAX_SEQ_LEN, d_k)), base.v)


def tokens(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """-> the names of the queries (64, or 1 in an example with one query) and of the 64 keys."""
    preset = _PRESETS[name]
    keys = tuple(word["token"] for word in _words(name)) or numbered("x", MAX_SEQ_LEN)
    return ((preset["query"]["token"],) if "query" in preset else keys), keys


def channels(name: str, d_k: int) -> tuple[str, ...]:
    """-> d_k names: the preset's own, then c5, c6, ... by their place."""
    return (*_PRESETS[name]["channels"], *numbered("c", d_k)[len(_PRESETS[name]["channels"]) :])[:d_k]


def value_channels(name: str) -> tuple[str, ...]:
    """-> d_v names; d_v belongs to the example and does not depend on d_k."""
    return tuple(_PRESETS[name]["value_channels"])


def numbered(letter: str, n: int) -> tuple[str, ...]:
    """-> n names: c1, c2, ..."""
    return tuple(f"{letter}{i + 1}" for i in range(n))


def output_projection(name: str, seed: int, n_heads: int, d_k: int) -> np.ndarray:
    """-> w_o (h d_v, h d_k), seeded -1, 0 and 1. No column is all 0, so no output is lost."""
    d_v, d_model = len(value_channels(name)), n_heads * d_k
    columns = np.arange(d_model)
    blocks = []
    for head in range(n_heads):
        block = _rng(name, seed, head, "w_o").integers(-1, 2, (d_model, d_v))
        if head == 0:  # one entry of every column is 1 where the draw gave 0
            block[columns, columns % d_v] += block[columns, columns % d_v] == 0
        blocks.append(block)
    return np.hstack(blocks).T.astype(float)


def _base_block(name: str, seed: int, head: int) -> HeadBlock:
    """The channels that come before the seeded ones (none in "random")."""
    preset, d_v = _PRESETS[name], len(value_channels(name))
    n_q = len(tokens(name)[0])
    if name == "random":
        nothing = np.empty((MAX_SEQ_LEN, 0))
        return HeadBlock(nothing, nothing, _draw("normal", MAX_SEQ_LEN, d_v, name, seed, head, "v"))
    if head == 0:
        return _preset_block(name)
    if head == 1 and preset.get("head_1") == "previous word":
        return _previous_word_block(d_v)
    width = len(preset["channels"])
    return HeadBlock(
        _draw("small", n_q, width, name, seed, head, "q"),
        _draw("small", MAX_SEQ_LEN, width, name, seed, head, "k"),
        _draw("digit", MAX_SEQ_LEN, d_v, name, seed, head, "v"),
    )


def _preset_block(name: str) -> HeadBlock:
    """The numbers of presets.json. Where every key is the same, k has one row."""
    preset, words = _PRESETS[name], _words(name)
    q = [preset["query"]["q"]] if "query" in preset else [word["q"] for word in words]
    k = [preset["every_key"]] if "every_key" in preset else [word["k"] for word in words]
    v = np.array([word["v"] for word in words], float)[:, : len(value_channels(name))]
    return HeadBlock(np.array(q, float), np.array(k, float), v)


def _previous_word_block(d_v: int) -> HeadBlock:
    """A head whose query is twice the code of the word before: score 8 there, at most 4 elsewhere.

    Four channels have room for 24 such codes, so from position 24 on they come again.
    The first word has none before it and looks for itself.
    """
    k = np.resize(_codes(), (MAX_SEQ_LEN, 4))
    q = 2 * np.vstack([k[:1], k[:-1]])
    return HeadBlock(q, k, k[:, :d_v])


def _codes() -> np.ndarray:
    """24 vectors (24, 4) of length 2 whose products with one another are at most 2.

    They are the corners of the 24-cell: the sixteen of +1 and -1, and ±2 on one channel.
    """
    signs = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], float)
    axes = 2 * np.eye(4)
    flipped = signs * [-1, 1, 1, 1]
    return np.vstack([signs, -signs, axes, -axes, flipped, -flipped])


def _widen(base: np.ndarray, d_k: int, name: str, seed: int, head: int, tensor: str) -> np.ndarray:
    """(n, c) -> (n, d_k): channels cut off, or seeded ones of variance 1 added."""
    n, width = base.shape
    if d_k <= width:
        return base[:, :d_k]
    further = _draw(_PRESETS[name]["further_channels"], n, d_k - width, name, seed, head, tensor + "+")
    return np.hstack([base, further])


def _draw(kind: str, n: int, width: int, name: str, seed: int, head: int, tensor: str) -> np.ndarray:
    """-> (n, width) seeded numbers, channel by channel."""
    rng, shape = _rng(name, seed, head, tensor), (width, n)
    if kind == "normal":
        drawn = rng.standard_normal(shape)
    elif kind == "sign":
        drawn = 2.0 * rng.integers(0, 2, shape) - 1
    elif kind == "small":
        drawn = rng.integers(-2, 3, shape)
    else:
        drawn = rng.integers(0, 10, shape)
    return drawn.T.astype(float)


def _rng(name: str, seed: int, head: int, tensor: str) -> np.random.Generator:
    """A stream of its own for every tensor of every head."""
    return np.random.default_rng([zlib.crc32(f"{name} {tensor}".encode()), seed, head])


def _words(name: str) -> list[dict]:
    return _PRESETS[_PRESETS[name].get("words_of", name)].get("words", [])


_PRESETS: dict[str, dict] = json.loads(PRESETS_FILE.read_text(encoding="utf-8"))

EXAMPLES: dict[str, Example] = {
    name: Example(name, **{field.name: preset[field.name] for field in fields(Example)[1:]})
    for name, preset in _PRESETS.items()
}
