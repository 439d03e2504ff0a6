"""Make the outputs of libraries that the tests do not depend on.

    pip install jax==0.10.2 onnx==1.23.2 onnxruntime==1.32.0
    python make.py

Each .npz holds the inputs, the library's output and the settings a user of it would state.
"""

import json
from pathlib import Path

import jax
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(42)


def tensors(batch, heads, kv_heads, n_q, n_k, d, layout):
    shapes = {"q": (heads, n_q), "k": (kv_heads, n_k), "v": (kv_heads, n_k)}
    made = {}
    for name, (h, t) in shapes.items():
        shape = (batch, h, t, d) if layout == "BHTD" else (batch, t, h, d)
        made[name] = RANDOM.standard_normal(shape).astype(np.float32)
    return made


def save(name, arrays, out, **meta):
    np.savez(HERE / f"{name}.npz", **arrays, out=np.asarray(out), meta=np.array(json.dumps(meta)))


def make_jax():
    plain = tensors(2, 4, 4, 9, 9, 12, "BTHD")
    call = jax.nn.dot_product_attention
    save("jax_plain", plain, call(plain["q"], plain["k"], plain["v"]), layout="BTHD", causal=False)
    save(
        "jax_causal",
        plain,
        call(plain["q"], plain["k"], plain["v"], is_causal=True),
        layout="BTHD",
        causal=True,
    )
    save(
        "jax_scale",
        plain,
        call(plain["q"], plain["k"], plain["v"], scale=0.2),
        layout="BTHD",
        causal=False,
        scale=0.2,
    )
    half = {name: array.astype(jax.numpy.bfloat16) for name, array in plain.items()}
    out = np.asarray(call(half["q"], half["k"], half["v"], is_causal=True)).astype(np.float32)
    save(
        "jax_bfloat16",
        {n: np.asarray(a).astype(np.float32) for n, a in half.items()},
        out,
        layout="BTHD",
        causal=True,
    )
    grouped = tensors(2, 6, 2, 9, 9, 12, "BTHD")
    save("jax_grouped", grouped, call(grouped["q"], grouped["k"], grouped["v"]), layout="BTHD", causal=False)
    mask = RANDOM.random((2, 4, 9, 9)) > 0.4
    mask[..., 0] = True
    save(
        "jax_mask",
        {**plain, "mask": mask},
        call(plain["q"], plain["k"], plain["v"], mask=mask),
        layout="BTHD",
        causal=False,
        mask_true="keep",
    )
    save(
        "jax_mask_inverted",
        {**plain, "mask": mask},
        call(plain["q"], plain["k"], plain["v"], mask=~mask),
        layout="BTHD",
        causal=False,
        mask_true="keep",
    )
    bias = RANDOM.standard_normal((1, 4, 9, 9)).astype(np.float32)
    save(
        "jax_bias",
        {**plain, "bias": bias},
        call(plain["q"], plain["k"], plain["v"], bias=bias),
        layout="BTHD",
        causal=False,
    )
    lengths = np.array([6, 9])
    out = call(plain["q"], plain["k"], plain["v"], key_value_seq_lengths=lengths)
    keep = np.arange(9) < lengths[:, None]
    save("jax_padding", {**plain, "key_keep": keep}, out, layout="BTHD", causal=False, has_padding=True)
    chunk = tensors(2, 4, 4, 4, 9, 12, "BTHD")
    save(
        "jax_chunk",
        chunk,
        call(chunk["q"], chunk["k"], chunk["v"], is_causal=True),
        layout="BTHD",
        causal=True,
    )
    swapped = {name: np.ascontiguousarray(array.swapaxes(1, 2)) for name, array in plain.items()}
    out = call(
        swapped["q"], swapped["k"], swapped["v"]
    )  # (B, h, T, d) handed to a function that wants (B, T, h, d)
    save("jax_wrong_layout", swapped, out, layout="BHTD", causal=False)


def onnx_attention(arrays, mask=None, **attributes):
    inputs = {"Q": arrays["q"], "K": arrays["k"], "V": arrays["v"]}
    kinds = dict.fromkeys(inputs, TensorProto.FLOAT)
    if mask is not None:
        inputs["mask"], kinds["mask"] = mask, TensorProto.BOOL if mask.dtype == bool else TensorProto.FLOAT
    node = helper.make_node("Attention", list(inputs), ["Y"], **attributes)
    infos = [helper.make_tensor_value_info(name, kinds[name], inputs[name].shape) for name in inputs]
    graph = helper.make_graph(
        [node],
        "attention",
        infos,
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, list("abcd")[: arrays["q"].ndim])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def make_onnx():
    plain = tensors(2, 4, 4, 9, 9, 12, "BHTD")
    save("onnx_plain", plain, onnx_attention(plain), layout="BHTD", causal=False)
    save("onnx_causal", plain, onnx_attention(plain, is_causal=1), layout="BHTD", causal=True)
    save("onnx_scale", plain, onnx_attention(plain, scale=0.5), layout="BHTD", causal=False, scale=0.5)
    grouped = tensors(2, 6, 2, 9, 9, 12, "BHTD")
    save("onnx_grouped", grouped, onnx_attention(grouped), layout="BHTD", causal=False)
    mask = RANDOM.random((9, 9)) > 0.4
    mask[:, 0] = True
    save(
        "onnx_mask",
        {**plain, "mask": mask},
        onnx_attention(plain, mask),
        layout="BHTD",
        causal=False,
        mask_true="keep",
    )
    save(
        "onnx_mask_inverted",
        {**plain, "mask": mask},
        onnx_attention(plain, ~mask),
        layout="BHTD",
        causal=False,
        mask_true="keep",
    )
    chunk = tensors(2, 4, 4, 4, 9, 12, "BHTD")
    save("onnx_chunk", chunk, onnx_attention(chunk, is_causal=1), layout="BHTD", causal=True)
    flat = {
        name: np.ascontiguousarray(array.swapaxes(1, 2).reshape(2, 9, 48)) for name, array in plain.items()
    }
    out = onnx_attention(flat, q_num_heads=4, kv_num_heads=4)
    save("onnx_flat", flat, out, layout="BTD", causal=False, num_heads=4)


if __name__ == "__main__":
    make_jax()
    make_onnx()
