"""A small trained transformer, run in NumPy, and every tensor of every head is kept.

Two layers of four heads, attention only: x = token + position; each layer adds
MultiHead(LayerNorm(x)) to x; the last LayerNorm times the unembedding gives a score (a logit)
for each word to come next. Its language is core.grammar, its training is in training/, and
assets/weights/README.md tells how the weights were made.

Axes: T positions, h heads, V words; ... any leading axes (a batch of sentences).
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.attention import AttentionSteps, attention, softmax
from core.checks import ShapeError
from core.grammar import MAX_LEN, START, VOCABULARY
from core.heads import MultiHeadSteps, join_heads, split_heads
from core.masks import causal
from core.model_faults import FAULTS, Attend
from core.tokens import displayable

N_LAYERS, N_HEADS, D_K = 2, 4, 16
D_MODEL, D_POSITION = N_HEADS * D_K, 16
POSITION_BASE, POSITION_RATE, POSITION_AMPLITUDE = 100.0, 2.0, 0.6

WEIGHTS = Path(__file__).parent.parent / "assets" / "weights" / "tiny_model.npz"
_TOKEN_ID = {word: i for i, word in enumerate(VOCABULARY)}
_SPELLING = {word.lower(): word for word in VOCABULARY if word != START}
_STRAIGHT_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"'})
_NORM_EPS = 1e-5  # added to the variance, as PyTorch's LayerNorm does


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """One layer's learned arrays; the matrices are used as rows @ w."""

    gain: np.ndarray  # (d_model,), of the LayerNorm
    bias: np.ndarray  # (d_model,)
    w_q: np.ndarray  # (d_model, h d_k)
    w_k: np.ndarray  # (d_model, h d_k)
    w_v: np.ndarray  # (d_model, h d_k)
    w_o: np.ndarray  # (h d_k, d_model)


@dataclass(frozen=True, slots=True, eq=False)
class ModelWeights:
    """Everything that was learned, and the positions, which were not."""

    tokens: np.ndarray  # (V, d_model): the last D_POSITION coordinates are 0
    positions: np.ndarray  # (MAX_LEN, d_model): all but the last D_POSITION coordinates are 0
    layers: tuple[LayerWeights, ...]
    gain: np.ndarray  # (d_model,), of the last LayerNorm
    bias: np.ndarray  # (d_model,)
    unembedding: np.ndarray  # (d_model, V)


@dataclass(frozen=True, slots=True)
class Cut:
    """One cell of one head's map: this query may no longer attend to this key."""

    layer: int
    head: int
    query: int
    key: int


@dataclass(frozen=True, slots=True)
class Change:
    """What to change in the model while it runs. Hashable; Change() changes nothing."""

    off: frozenset[tuple[int, int]] = frozenset()  # (layer, head): this head's output is set to 0
    cuts: tuple[Cut, ...] = ()  # masked; the softmax shares the weight among the cells that are left
    fault: str = ""  # a name from core.model_faults.FAULTS, in every layer

    def __post_init__(self) -> None:
        """Raise ValueError for a head or a fault that is not there."""
        for layer, head in (*self.off, *((cut.layer, cut.head) for cut in self.cuts)):
            if not (0 <= layer < N_LAYERS and 0 <= head < N_HEADS):
                raise ValueError(
                    f"there is no head {head} in layer {layer}: layers are 0 to {N_LAYERS - 1}, "
                    f"heads 0 to {N_HEADS - 1}"
                )
        if self.fault and self.fault not in FAULTS:
            raise ValueError(f"{self.fault!r} is not a known fault; known are {', '.join(FAULTS)}")


@dataclass(frozen=True, slots=True, eq=False)
class LayerSteps:
    """One layer: x goes in, multi_head.output is added to it."""

    x: np.ndarray  # (..., T, d_model)
    normed: np.ndarray  # (..., T, d_model): LayerNorm(x), which the projections take
    multi_head: MultiHeadSteps  # heads.q (..., h, T, d_k) and so on


@dataclass(frozen=True, slots=True, eq=False)
class ModelSteps:
    """Every tensor of one run of the model."""

    words: tuple[str, ...]  # START first; empty for a batch
    layers: tuple[LayerSteps, ...]
    logits: np.ndarray  # (..., T, V)
    probabilities: np.ndarray  # (..., T, V): row i is about the word after position i

    def head(self, layer: int, head: int) -> AttentionSteps:
        """One head of a single sentence: q, k, v (T, d_k), scores (T, T) and so on, as views."""
        return self.layers[layer].multi_head.heads.head(head)


class UnknownWordsError(ValueError):
    """Words that the model does not know; `unknown` maps each to the nearest words that it knows."""

    def __init__(self, unknown: dict[str, tuple[str, ...]]) -> None:
        """`unknown`: each word -> the nearest known ones, maybe none."""
        self.unknown = unknown
        super().__init__(" ".join(_unknown_sentence(word, nearest) for word, nearest in unknown.items()))


def read_sentence(text: str) -> tuple[str, ...]:
    """A typed sentence -> words as the model spells them, START not included.

    Upper and lower case do not matter; brackets, straight or curly quotes and full stops
    may touch a word. Raises UnknownWordsError, or ValueError for none or too many words.
    """
    found = re.findall(r'[()\[\]".]|[^\s()\[\]".]+', text.translate(_STRAIGHT_QUOTES))
    _check_length(len(found))
    unknown = {word: nearest_words(word) for word in found if word.lower() not in _SPELLING}
    if unknown:
        raise UnknownWordsError(unknown)
    return tuple(_SPELLING[word.lower()] for word in found)


def nearest_words(word: str, n: int = 3) -> tuple[str, ...]:
    """The known words that are spelled most like this one, the most similar first; may be empty."""
    return tuple(_SPELLING[near] for near in difflib.get_close_matches(word.lower(), _SPELLING, n, 0.5))


def run_model(words: Sequence[str], change: Change = Change()) -> ModelSteps:
    """Words (without START) -> every step of the model, with T = len(words) + 1.

    Raises UnknownWordsError, ValueError for none or too many words, or for a cut outside the sentence.
    """
    _check_length(len(words))
    unknown = {word: nearest_words(word) for word in words if word not in _TOKEN_ID}
    if unknown:
        raise UnknownWordsError(unknown)
    words = (START, *words)
    ids = np.array([_TOKEN_ID[word] for word in words])
    return replace(forward(ids, change), words=words)


def forward(
    ids: np.ndarray,
    change: Change = Change(),
    *,
    allowed: np.ndarray | None = None,
    attend: Attend | None = None,
) -> ModelSteps:
    """Token ids (..., T) -> every step of the model, float32.

    `allowed` (N_LAYERS, ..., h, T, T) is combined with the causal mask and with the change's cuts.
    `attend` takes the place of core.attention.attention in every layer; it overrides the change's fault.
    """
    weights = load_weights()
    seq_len = ids.shape[-1]
    if not 1 <= seq_len <= MAX_LEN:
        raise ShapeError(f"the model takes 1 to {MAX_LEN} positions, but ids has shape {ids.shape}")
    attend = attend or (FAULTS[change.fault] if change.fault else attention)
    x = weights.tokens[ids] + weights.positions[:seq_len]
    layers = []
    for index, layer in enumerate(weights.layers):
        may = _allowed(seq_len, index, change.cuts)
        may = may if allowed is None else may & allowed[index]
        steps = _run_layer(x, layer, may, attend, [head for at, head in change.off if at == index])
        layers.append(steps)
        x = x + steps.multi_head.output
    logits = layer_norm(x, weights.gain, weights.bias) @ weights.unembedding
    return ModelSteps((), tuple(layers), logits, softmax(logits))


def next_words(steps: ModelSteps, position: int, n: int = 5) -> tuple[tuple[str, float], ...]:
    """The n most probable words after `position`, with their probabilities, the most probable first."""
    row = steps.probabilities[position]
    best = np.argsort(-row, kind="stable")[:n]
    return tuple((VOCABULARY[i], float(row[i])) for i in best)


def layer_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """(..., d_model) -> the same shape: each row to mean 0 and variance 1, then times gain plus bias."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + _NORM_EPS) * gain + bias


def position_codes() -> np.ndarray:
    """-> (MAX_LEN, d_model) float32: a sine and a cosine for each of eight rates, in the last coordinates."""
    n_rates = D_POSITION // 2
    rates = POSITION_RATE * POSITION_BASE ** (-np.arange(n_rates) / n_rates)
    angles = np.arange(MAX_LEN)[:, None] * rates
    waves = POSITION_AMPLITUDE * np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    return np.pad(waves, ((0, 0), (D_MODEL - D_POSITION, 0))).astype(np.float32)


@lru_cache(maxsize=1)
def load_weights() -> ModelWeights:
    """The frozen weights from assets/weights, read once; the arrays cannot be written to."""
    with np.load(WEIGHTS, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    tokens = np.pad(arrays["embedding"], ((0, 0), (0, D_POSITION)))
    weights = ModelWeights(
        tokens=tokens,
        positions=position_codes(),
        layers=tuple(_layer_weights(arrays, index) for index in range(N_LAYERS)),
        gain=arrays["norm.weight"],
        bias=arrays["norm.bias"],
        unembedding=arrays["unembedding"],
    )
    for record in (weights, *weights.layers):
        for field in fields(record):
            if isinstance(array := getattr(record, field.name), np.ndarray):
                array.flags.writeable = False
    return weights


def _run_layer(
    x: np.ndarray, layer: LayerWeights, allowed: np.ndarray, attend: Attend, off: Sequence[int]
) -> LayerSteps:
    normed = layer_norm(x, layer.gain, layer.bias)
    q, k, v = (split_heads(normed @ w, N_HEADS) for w in (layer.w_q, layer.w_k, layer.w_v))
    heads = attend(q, k, v, allowed)
    if off:
        output = heads.output.copy()
        output[..., off, :, :] = 0
        heads = replace(heads, output=output)
    return LayerSteps(x, normed, join_heads(heads, layer.w_o))


def _allowed(seq_len: int, layer: int, cuts: Sequence[Cut]) -> np.ndarray:
    """-> (T, T), or (h, T, T) where this layer has cuts."""
    allowed = causal(seq_len)
    here = [cut for cut in cuts if cut.layer == layer]
    if here:
        allowed = np.repeat(allowed[None], N_HEADS, axis=0)
    for cut in here:
        if not 0 <= cut.key <= cut.query < seq_len:
            raise ValueError(
                f"query {cut.query} and key {cut.key} are not a cell of the map: "
                f"a query sees keys up to itself, and there are {seq_len} positions"
            )
        allowed[cut.head, cut.query, cut.key] = False
        if not allowed[cut.head, cut.query].any():
            raise ValueError(f"the cuts leave query {cut.query} nothing to attend to: its row would be 0/0")
    return allowed


def _layer_weights(arrays: dict[str, np.ndarray], index: int) -> LayerWeights:
    prefix = f"layers.{index}."
    return LayerWeights(
        arrays[prefix + "norm.weight"],
        arrays[prefix + "norm.bias"],
        *(arrays[prefix + name] for name in ("w_q", "w_k", "w_v", "w_o")),
    )


def _check_length(n_words: int) -> None:
    if n_words == 0:
        raise ValueError("there is no word in the sentence: write at least one")
    if n_words >= MAX_LEN:
        raise ValueError(f"the sentence has {n_words} words, and the model takes {MAX_LEN - 1} at most")


def _unknown_sentence(word: str, nearest: tuple[str, ...]) -> str:
    shown = displayable(word, 30) + "…" * (len(word) > 30)
    if not nearest:
        return f"“{shown}” is not a word of this model, and no word of it is close."
    return f"“{shown}” is not a word of this model; the nearest are {', '.join(nearest)}."
