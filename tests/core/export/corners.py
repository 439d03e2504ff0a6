"""The corners of Setup: smallest and largest of everything, each mask, each example."""

from core.setup import Setup

CORNERS = (
    Setup(),
    Setup(mask="causal", n_heads=2),
    Setup("needle", 8, 4, "causal"),
    Setup("two_heads", 7, 4, "causal+padding", 2, n_pad=3),
    Setup("random", 2, 1, "window", 8, 9999, window=1),
    Setup("random", 64, 1, "causal+padding", 1, n_pad=63),
    Setup("random", 64, 128, "window", 4, 7, window=64),
    Setup("kite", 2, 1024, "padding", 1, n_pad=63),
    Setup("saturation", 64, 1024, "padding", 1, n_pad=5),
    Setup("needle", 2, 1, "window", 1, window=1),
    Setup("needle", 64, 2, "causal+padding", 8, n_pad=1),
    Setup("coref", 64, 3, "causal", 8, 5),
    Setup("equal_keys", 7, 4, "none", 4),
    Setup("kite", 7, 4, "causal", edits=";".join(f"q.0.{r}.{c}=99" for r in range(7) for c in range(4))),
    Setup("kite", 7, 4, edits="v.0.1.0=-99;k.0.2.3=0.1;q.0.0.0=1e-9"),
)
LARGEST = Setup("random", 64, 1024, "causal", 8, 1)
