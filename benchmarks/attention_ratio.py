"""attention() with every intermediate kept, against PyTorch eager writing the same steps, and against
the two matrix products alone, which no way of writing attention can do without.

All run in turn in one process, one thread each, float32, without a mask; each time is CPU time of
a short batch of calls. What is printed is the median over the rounds of the ratio within a round,
so that whatever else the machine does falls on both. Trust the ratios, not the microseconds.
"""

import math
import os
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from core.attention import attention

SHAPES = ((1, 8, 8), (8, 16, 64), (8, 64, 64), (8, 256, 64), (8, 512, 64))  # (heads, T, d_k)
LIMIT = 1.0  # the most that the ratio to PyTorch's fused softmax may be
ROUNDS = 60
BATCH_SECONDS = 0.004  # of one contestant in one round


def eager(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The four steps, softmax by PyTorch's one operation."""
    scores = q @ k.transpose(-1, -2)
    scaled_scores = scores / math.sqrt(q.shape[-1])
    weights = torch.softmax(scaled_scores, -1)
    return scores, scaled_scores, weights, weights @ v


def eager_by_hand(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The four steps, softmax written out, as in attention()."""
    scores = q @ k.transpose(-1, -2)
    scaled_scores = scores / math.sqrt(q.shape[-1])
    exps = (scaled_scores - scaled_scores.amax(-1, keepdim=True)).exp()
    weights = exps / exps.sum(-1, keepdim=True)
    return scores, scaled_scores, weights, weights @ v


def contestants(shape: tuple[int, int, int]) -> dict[str, Callable[[], object]]:
    """Name -> one call on inputs of the shape."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(shape, np.float32) for _ in range(3))
    tensors = [torch.from_numpy(array) for array in (q, k, v)]
    return {
        "attention": lambda: attention(q, k, v),
        "fused softmax": lambda: eager(*tensors),
        "softmax by hand": lambda: eager_by_hand(*tensors),
        "two products": lambda: (q @ k.mT) @ v,
    }


def batch(call: Callable[[], object], calls: int) -> float:
    """CPU seconds of one call, over a batch of them."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def measure(shape: tuple[int, int, int]) -> dict[str, list[float]]:
    """Name -> seconds of each round; the order within a round turns around each time."""
    calls = contestants(shape)
    sizes = {name: max(1, round(BATCH_SECONDS / batch(call, 3))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS):
        for name in list(calls)[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(batch(calls[name], sizes[name]))
    return times


def ratio(ours: list[float], others: list[float]) -> float:
    """Median over the rounds of ours / theirs."""
    return statistics.median(one / other for one, other in zip(ours, others, strict=True))


def main() -> None:
    """Print one line for each shape."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        sys.exit("Set OPENBLAS_NUM_THREADS=1 first: the comparison is of one thread each.")
    torch.set_num_threads(1)
    print(f"attention() to PyTorch {torch.__version__} eager with its fused softmax (at most {LIMIT}),")
    print("to PyTorch eager with softmax by hand, and to the two matrix products alone (NumPy):")
    for shape in SHAPES:
        times = measure(shape)
        ours = times.pop("attention")
        figures = ", ".join(f"{name} {ratio(ours, others):.2f}" for name, others in times.items())
        print(f"(h, T, d_k) = {shape!s:12}  {statistics.median(ours) * 1e6:8.1f} µs   {figures}", flush=True)


if __name__ == "__main__":
    main()
