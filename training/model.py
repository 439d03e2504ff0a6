"""The tiny transformer in PyTorch: what is trained, and the second implementation that tests trust.

Attention only, pre-LayerNorm, no biases in attention, no MLP, untied unembedding. The token sits in
the first 48 coordinates of x, a fixed sinusoidal position in the last 16; x is still their sum.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.grammar import MAX_LEN, VOCABULARY

N_LAYERS, N_HEADS, D_K = 2, 4, 16
D_MODEL, D_POSITION = N_HEADS * D_K, 16
POSITION_BASE, POSITION_RATE, POSITION_AMPLITUDE = 100.0, 2.0, 0.6
EMBEDDING_STD = 0.3


class Layer(nn.Module):
    """x + MultiHead(LayerNorm(x))."""

    def __init__(self) -> None:
        """Random matrices that keep the size of what they take."""
        super().__init__()
        self.norm = nn.LayerNorm(D_MODEL)
        # Kept as (in, out) and used as x @ w, as the app does.
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Parameter(torch.randn(D_MODEL, D_MODEL) / math.sqrt(D_MODEL)) for _ in range(4)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, T, D_MODEL) -> the same shape, and the weights (B, h, T, T)."""
        rows = self.norm(x)
        q, k, v = (
            (rows @ w).unflatten(-1, (N_HEADS, D_K)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v)
        )
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(D_K)).masked_fill(future, -math.inf)
        weights = scores.softmax(-1)
        return x + (weights @ v).transpose(1, 2).flatten(-2) @ self.w_o, weights


class TinyTransformer(nn.Module):
    """Words in, a score for each word to come next out."""

    positions: Tensor  # fixed, not learned

    def __init__(self) -> None:
        """Random words; an unembedding so small that at first every word is about as probable."""
        super().__init__()
        self.embedding = nn.Parameter(EMBEDDING_STD * torch.randn(len(VOCABULARY), D_MODEL - D_POSITION))
        self.layers = nn.ModuleList(Layer() for _ in range(N_LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.unembedding = nn.Parameter(torch.randn(D_MODEL, len(VOCABULARY)) / D_MODEL)
        self.register_buffer("positions", sinusoids(MAX_LEN, D_POSITION))

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """ids (B, T) -> logits (B, T, V), and each layer's weights (B, h, T, T)."""
        tokens = functional.pad(self.embedding[ids], (0, D_POSITION))
        x = tokens + functional.pad(self.positions[: ids.shape[1]], (D_MODEL - D_POSITION, 0))
        maps = []
        for layer in self.layers:
            x, weights = layer(x)
            maps.append(weights)
        return self.norm(x) @ self.unembedding, maps


def sinusoids(n_positions: int, width: int) -> Tensor:
    """-> (n_positions, width): sines, then cosines, of positions / base^(i / (width / 2))."""
    rates = POSITION_RATE * POSITION_BASE ** (-torch.arange(width // 2) / (width // 2))
    angles = torch.arange(n_positions)[:, None] * rates
    return POSITION_AMPLITUDE * torch.cat([angles.sin(), angles.cos()], dim=-1)


def to_arrays(model: TinyTransformer) -> dict[str, np.ndarray]:
    """-> the learned arrays, float32, by the names that core.tiny_model reads."""
    return {name: value.detach().numpy() for name, value in model.named_parameters()}


def from_arrays(arrays: dict[str, np.ndarray]) -> TinyTransformer:
    """The inverse of to_arrays."""
    model = TinyTransformer()
    model.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()}, strict=False)
    return model.eval()
