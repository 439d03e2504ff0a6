"""attention() with every intermediate kept, beside what others do, and beside the least it could cost.

All run in turn in one process, float32, one thread each, without a mask; each time is CPU time of a
short batch of calls. What is told is the median over the rounds of the ratio within a round, so that
whatever else the machine does falls on both. Trust the ratios, not the microseconds.
"""

import math
import os
import statistics
import sys
import time
from collections.abc import Callable

# One thread each: set before the libraries are loaded, which read it then.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
# By the processor, as for users, not by what an environment says that was made for another.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import jax
import numpy as np
import onnxruntime
import torch
from onnx import TensorProto, helper

from benchmarks.report import Section, Table, ratio, write
from core.attention import attention

SHAPES = ((1, 8, 8), (8, 16, 64), (8, 64, 64), (8, 256, 64), (8, 512, 64), (8, 1024, 64))  # (heads, T, d_k)
TARGET = 1.0  # the most that the ratio to PyTorch eager may be, up to (8, 512, 64)
ROUNDS = 60
FEWEST_ROUNDS = 15
BATCH_SECONDS = 0.004  # of one contestant in one round
SHAPE_SECONDS = 10.0  # of all contestants at one shape, if that leaves the fewest rounds
AGREEMENT = 2e-5  # the most that outputs of N(0, 1) inputs may differ in float32

Call = Callable[[], object]
ABOUT = f"""\
`attention()` keeps all five intermediates. A figure is its CPU time divided by the other's: below 1 it
is the faster one. Float32, one thread each, in turn in one process. Only *eager* and the *limit* write
the scores, the scaled scores and the weights too; the others hand back the output alone.
*Eager*: the same steps in PyTorch, softmax by its one operation, or written out by hand.
*SDPA*: `F.scaled_dot_product_attention`. *JAX*: `jax.nn.dot_product_attention`, plain and under `jit`.
*ONNX*: ONNX Runtime's Attention (opset 23). *Limit*: the two matrix products into memory that is there
already, and three copies of an (h, T, T) array. Asked: {TARGET} of *eager* at most, up to (8, 512, 64)."""


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


def with_torch(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> dict[str, Call]:
    """PyTorch's calls by name; SDPA gets (1, h, T, d), for which alone it has its quick way."""
    tensors = [torch.from_numpy(array) for array in (q, k, v)]
    batch_q, batch_k, batch_v = (tensor[None] for tensor in tensors)
    return {
        "eager": lambda: eager(*tensors)[-1],
        "eager, by hand": lambda: eager_by_hand(*tensors)[-1],
        "SDPA": lambda: torch.nn.functional.scaled_dot_product_attention(batch_q, batch_k, batch_v),
    }


def with_jax(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> dict[str, Call]:
    """JAX's calls; it wants (T, h, d) where the others want (h, T, d), and gets it that way."""
    tensors = [jax.numpy.asarray(array.swapaxes(0, 1)) for array in (q, k, v)]
    plain, compiled = jax.nn.dot_product_attention, jax.jit(jax.nn.dot_product_attention)
    return {
        "JAX": lambda: plain(*tensors).block_until_ready(),
        "JAX, jit": lambda: compiled(*tensors).block_until_ready(),
    }


def with_onnx(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> dict[str, Call]:
    """One Attention node, as ONNX Runtime executes it."""
    inputs = {name: array[None] for name, array in (("Q", q), ("K", k), ("V", v))}
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name, x in inputs.items()]
    result = helper.make_tensor_value_info("Y", TensorProto.FLOAT, inputs["Q"].shape)
    graph = helper.make_graph([helper.make_node("Attention", list(inputs), ["Y"])], "one", kinds, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return {"ONNX": lambda: session.run(None, inputs)[0]}


def limit(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> Call:
    """Two products and three writes of what stands between them, into memory that is there already."""
    products, output = np.empty((*q.shape[:2], k.shape[1]), q.dtype), np.empty_like(v)
    copies = [np.empty_like(products) for _ in range(3)]

    def call() -> None:
        np.matmul(q, k.mT, out=products)
        for copy in copies:
            np.copyto(copy, products)
        np.matmul(products, v, out=output)

    return call


def contestants(shape: tuple[int, int, int]) -> dict[str, Call]:
    """Name -> one call on inputs of the shape, "attention" first. RuntimeError if two do not agree."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(shape, np.float32) for _ in range(3))
    others = with_torch(q, k, v) | with_jax(q, k, v) | with_onnx(q, k, v)
    ours = attention(q, k, v).output
    for name, call in others.items():
        theirs = np.asarray(call()).squeeze().reshape(-1)
        same = ours.swapaxes(0, 1) if name.startswith("JAX") else ours
        if (apart := np.abs(theirs - same.reshape(-1)).max()) > AGREEMENT:
            raise RuntimeError(f"{name} computes something else: its output is up to {apart:.1e} away")
    return {"attention": lambda: attention(q, k, v), **others, "limit": limit(q, k, v)}


def batch(call: Call, calls: int) -> float:
    """CPU seconds of one call, over a batch of them."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def measure(shape: tuple[int, int, int], seconds: float = SHAPE_SECONDS) -> dict[str, list[float]]:
    """Name -> seconds of each round; the order within a round turns around each time."""
    calls = contestants(shape)
    once = {name: batch(call, 3) for name, call in calls.items()}
    sizes = {name: max(1, round(BATCH_SECONDS / time_)) for name, time_ in once.items()}
    a_round = sum(once[name] * sizes[name] for name in calls)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(max(FEWEST_ROUNDS, min(ROUNDS, int(seconds / a_round)))):
        for name in list(calls)[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(batch(calls[name], sizes[name]))
    return times


def short(figure: float) -> str:
    """Two decimals, and two digits of what is smaller than they can show."""
    return f"{figure:.2f}" if figure >= 0.1 else f"{figure:.2g}"


def section() -> Section:
    """One row for each shape."""
    torch.set_num_threads(1)
    rows = []
    columns: list[str] = []
    for shape in SHAPES:
        times = measure(shape)
        ours = times.pop("attention")
        columns = ["(h, T, d_k)", "attention(), µs", *times]
        ratios = [short(ratio(ours, others)) for others in times.values()]
        rows.append([str(shape), f"{statistics.median(ours) * 1e6:.0f}", *ratios])
        print(dict(zip(columns, rows[-1], strict=True)), file=sys.stderr, flush=True)
    versions = ("numpy", "torch", "jax", "onnxruntime")
    return Section("Core: attention() beside others", ABOUT, versions, [Table(columns, rows)])


if __name__ == "__main__":
    write(section())
