"""Make tests/golden/labs.npz: what PyTorch gives where the labs have code of their own.

    python -m tests.golden.make_labs

Needs requirements-torch.txt. float64 throughout, but for the short formats. `cases()` is compared with
the committed file by tests/torch/test_labs.py.
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from core.experiments.lookup import BEST_LOSS, READOUT, draw_batch
from core.experiments.training import BATCH, TEST_BATCH, Training

FILE = Path(__file__).with_name("labs.npz")
STEPS = 5


def cases() -> dict[str, np.ndarray]:
    """Every golden array by name."""
    torch.manual_seed(0)
    found = jacobian() | short_formats() | boolean_masks() | dead_rows()
    for name, allowed in masks_to_try().items():
        found |= backward(name, allowed)
    for optimiser, rate in (("sgd", 10.0), ("adam", 0.05)):
        for scaled in (True, False):
            found |= training(Training(16, scaled, rate, optimiser, n_steps=STEPS))
    return found


def jacobian() -> dict[str, np.ndarray]:
    """Softmax Jacobians, by automatic differentiation, of even rows, peaked rows and a tie."""
    rows = torch.randn(6, 7, dtype=torch.float64) * torch.tensor([0.1, 1, 3, 10, 30, 60])[:, None]
    rows[1, :2] = rows[1].max() + 1
    matrices = torch.stack(
        [torch.autograd.functional.jacobian(lambda z: torch.softmax(z, -1), row) for row in rows]
    )
    return {"jacobian_rows": rows.numpy(), "jacobian": matrices.numpy()}


def masks_to_try() -> dict[str, torch.Tensor | None]:
    """No mask, causal, padding, and one with a row in which nothing is allowed."""
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    dead = causal.clone()
    dead[2] = False
    padding = torch.tensor([True, True, True, False, False]).expand(5, 5)
    return {"none": None, "causal": causal, "padding": padding.clone(), "dead": dead}


def backward(name: str, allowed: torch.Tensor | None) -> dict[str, np.ndarray]:
    """The gradient of every tensor; k has one head that all three share, so its gradient is a sum."""
    shapes = {"q": (2, 3, 5, 4), "k": (2, 1, 5, 4), "v": (2, 3, 5, 6)}
    tensors = {
        key: torch.randn(shape, dtype=torch.float64, requires_grad=True) for key, shape in shapes.items()
    }
    scores = tensors["q"] @ tensors["k"].mT
    scaled = scores / 2
    masked = scaled if allowed is None else scaled.masked_fill(~allowed, -torch.inf)
    weights = torch.softmax(masked, -1)
    output = weights @ tensors["v"]
    steps = {"scores": scores, "scaled_scores": scaled, "weights": weights, "output": output}
    for step in steps.values():
        step.retain_grad()
    d_output = torch.randn(output.shape, dtype=torch.float64)
    output.backward(d_output)
    inputs = {f"backward_{name}_{key}": x.detach().numpy() for key, x in tensors.items()}
    gradients = {
        f"backward_{name}_d_{key}": x.grad.numpy()
        for key, x in (tensors | steps).items()
        if x.grad is not None
    }
    mask = {} if allowed is None else {f"backward_{name}_allowed": allowed.numpy()}
    return inputs | gradients | mask


def short_formats() -> dict[str, np.ndarray]:
    """Rounding to bfloat16, and a softmax in which PyTorch computes every operation in the short format."""
    numbers = torch.randn(2000) * 10 ** torch.randint(-8, 9, (2000,)).float()
    numbers[:4] = torch.tensor([torch.inf, -torch.inf, 3.4e38, 1.00390625])
    found = {"bfloat16_numbers": numbers.numpy(), "bfloat16_rounded": numbers.bfloat16().float().numpy()}
    rows = torch.randn(20, 7) * 4
    found["short_rows"] = rows.numpy()
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        short = rows.to(dtype)
        exps = torch.exp(short - short.max(-1, keepdim=True).values)
        total = torch.zeros(20, dtype=dtype)
        for j in range(7):
            total = total + exps[:, j]
        found[f"short_{name}"] = (exps / total[:, None]).float().numpy()
    return found


def boolean_masks() -> dict[str, np.ndarray]:
    """One boolean array handed to both functions; the projections of the module are the identity."""
    x, array = torch.randn(1, 5, 4, dtype=torch.float64), torch.ones(5, 5, dtype=torch.bool).tril()
    module = identity_attention()
    output, weights = module(x, x, x, attn_mask=array)
    sdpa = F.scaled_dot_product_attention(x, x, x, attn_mask=array)
    return {
        "boolean_x": x[0].numpy(),
        "boolean_array": array.numpy(),
        "boolean_sdpa_output": sdpa[0].numpy(),
        "boolean_mha_weights": weights[0].detach().numpy(),
        "boolean_mha_output": output[0].detach().numpy(),
    }


def dead_rows() -> dict[str, np.ndarray]:
    """The output of a row with nothing allowed, in the order of core.experiments.conventions.TORCH_FACTS."""
    x = torch.randn(1, 5, 4, dtype=torch.float64)
    allowed = torch.ones(5, 5, dtype=torch.bool).tril()
    allowed[0] = False
    module = identity_attention()
    outputs = (
        F.scaled_dot_product_attention(x, x, x, attn_mask=allowed),
        module(x, x, x, attn_mask=~allowed)[0],
        module(x, x, x, attn_mask=~allowed, need_weights=False)[0],
        module(x, x, x, key_padding_mask=torch.ones(1, 5, dtype=torch.bool))[0],
    )
    return {"dead_rows": torch.stack([output[0, 0] for output in outputs]).detach().numpy()}


def identity_attention() -> torch.nn.MultiheadAttention:
    """One head whose projections change nothing."""
    module = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(4))
    return module


def training(setup: Training) -> dict[str, np.ndarray]:
    """The first losses and the tables after them, by torch.optim, on the lab's own sequences."""
    rng = np.random.default_rng(setup.seed)
    start = rng.standard_normal((2, 32, setup.d_k))
    draw_batch(rng, TEST_BATCH)
    tables = [torch.tensor(table, requires_grad=True) for table in start]
    kind = torch.optim.Adam if setup.optimiser == "adam" else torch.optim.SGD
    optimiser, losses = kind(tables, lr=setup.learning_rate), []
    for _ in range(setup.n_steps):
        batch = draw_batch(rng, BATCH)
        scores = tables[0][batch.asked][:, None] @ tables[1].T / setup.divisor
        weights = torch.softmax(scores.masked_fill(~torch.tensor(batch.allowed), -torch.inf), -1)
        logits = READOUT * (weights @ torch.tensor(batch.v))[:, 0]
        loss = F.cross_entropy(logits, torch.tensor(batch.answer))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item() - BEST_LOSS)
    name = f"training_{setup.optimiser}_{'scaled' if setup.scaled else 'unscaled'}"
    return {name: np.array(losses)}


if __name__ == "__main__":
    np.savez_compressed(FILE, allow_pickle=False, **cases())
