"""Train the tiny model: `make weights`, about two minutes of one core.

One thread and fixed seeds: the same machine and the same PyTorch give the same weights, bit for bit.
"""

import argparse
import math
import time
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.batches import batch
from training.model import TinyTransformer, to_arrays

WEIGHTS = Path(__file__).parent.parent / "assets" / "weights" / "tiny_model.npz"
SEED = 4
STEPS, ROWS = 2500, 96
LEARNING_RATE, WARM_UP, LAST_SHARE = 3e-3, 100, 0.03
WEIGHT_DECAY, BETAS, CLIP = 0.05, (0.9, 0.98), 1.0
ENTROPY_PENALTY, PENALTY_RAMP = 0.05, 800


def train(seed: int = SEED, steps: int = STEPS, entropy_penalty: float = ENTROPY_PENALTY) -> TinyTransformer:
    """-> the trained model. Sets PyTorch's thread count and seed."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    rng = Random(seed)
    model = TinyTransformer()
    optimizer = _optimizer(model)
    started = time.perf_counter()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * schedule(step, steps)
        ids = batch(rng, ROWS)
        loss, entropy = losses(model, ids)
        optimizer.zero_grad()
        (loss + entropy_penalty * min(1.0, step / PENALTY_RAMP) * entropy).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        if step % 250 == 0 or step == steps - 1:
            spent = time.perf_counter() - started
            print(f"step {step:5d}  loss {loss:.3f}  entropy {entropy:.3f} nats  {spent:.0f} s", flush=True)
    return model.eval()


def losses(model: TinyTransformer, ids: Tensor) -> tuple[Tensor, Tensor]:
    """ids (B, T) -> mean next-word loss over all tokens, and mean entropy of all attention rows (nats)."""
    logits, maps = model(ids)
    loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    # xlogy is 0 where a weight is 0, but its gradient there is -inf: hence the floor.
    entropy = torch.stack([-(w * w.clamp_min(1e-9).log()).sum(-1).mean() for w in maps]).mean()
    return loss, entropy


def schedule(step: int, steps: int) -> float:
    """The share of the learning rate at a step: a warm-up, then a cosine down to LAST_SHARE."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    progress = (step - WARM_UP) / max(1, steps - WARM_UP)
    return LAST_SHARE + (1 - LAST_SHARE) * (1 + math.cos(math.pi * progress)) / 2


def _optimizer(model: TinyTransformer) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=BETAS)


def main() -> None:
    """Train with the options of the command line, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--entropy-penalty", type=float, default=ENTROPY_PENALTY)
    options = parser.parse_args()
    model = train(options.seed, options.steps, options.entropy_penalty)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out, allow_pickle=False, **to_arrays(model))
    print(f"{options.out}: {options.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
