"""Make tiny_model.npz, what PyTorch gives for the shipped weights: python -m tests.golden.make_tiny_model

The attention's output is made by F.scaled_dot_product_attention, the LayerNorm and the softmax are
PyTorch's own: nothing of core's arithmetic is used, only its words and sentences.
"""

from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from core import grammar
from core.grammar import START, VOCABULARY
from training.model import D_K, N_HEADS, Layer, TinyTransformer, from_arrays
from training.train import WEIGHTS

GOLDEN = Path(__file__).parent / "tiny_model.npz"
KINDS = (grammar.agreement, grammar.coreference, grammar.brackets, grammar.simple)


def sentences() -> list[list[str]]:
    """One held-out sentence of each kind, and one row of repeated blocks; START comes first."""
    rng = Random(11)
    texts = [[START, *kind(rng, True).words] for kind in KINDS]
    return [*texts, list(grammar.repeated_blocks(rng).words)]


def run(model: TinyTransformer, ids: Tensor) -> dict[str, np.ndarray]:
    """One sentence -> logits, probabilities, each layer's weights and heads' output."""
    logits, maps = model(ids[None])
    arrays = {"logits": logits[0], "probabilities": logits[0].softmax(-1)}
    x = functional.pad(model.embedding[ids], (0, 16)) + functional.pad(model.positions[: len(ids)], (48, 0))
    for index, layer in enumerate(model.layers):
        assert isinstance(layer, Layer)
        rows = layer.norm(x)
        q, k, v = (
            (rows @ w).unflatten(-1, (N_HEADS, D_K)).transpose(0, 1)
            for w in (layer.w_q, layer.w_k, layer.w_v)
        )
        output = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        arrays |= {f"weights_{index}": maps[index][0], f"output_{index}": output}
        x = x + output.transpose(0, 1).flatten(-2) @ layer.w_o
    return {name: array.numpy() for name, array in arrays.items()}


def main() -> None:
    torch.set_num_threads(1)
    with np.load(WEIGHTS) as file:
        model = from_arrays(dict(file))
    arrays = {}
    with torch.no_grad():
        for number, words in enumerate(sentences()):
            ids = torch.tensor([VOCABULARY.index(word) for word in words])
            golden = run(model, ids)
            arrays |= {f"{number}_{name}": array for name, array in golden.items()}
            arrays[f"{number}_words"] = np.array(words)
    np.savez_compressed(GOLDEN, **arrays)


if __name__ == "__main__":
    main()
