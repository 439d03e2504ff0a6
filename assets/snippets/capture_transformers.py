"""Save q, k, v, mask and out of one attention layer of a Hugging Face model (transformers 5).

    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained("...").eval()
    tokenizer = AutoTokenizer.from_pretrained("...")
    inputs = tokenizer("The keys to the cabinet are on the table.", return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    save("capture.npz", capture(model, inputs, layer=0), tokens)

It works for every architecture that takes its attention from ALL_ATTENTION_FUNCTIONS, with
q and k as they enter the dot product (after rotary positions). Give it one sentence without padding.
"""

import numpy as np
import torch
from torch import Tensor
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, PreTrainedModel

Arrays = dict[str, np.ndarray]
NAME = "capture"
NOT_FOUR_STEPS = ("softcap", "s_aux", "position_bias", "head_mask")  # they change scores or weights
_seen: list[Arrays] = []


def capture(model: PreTrainedModel, inputs: dict, layer: int) -> Arrays:
    """Run the model once -> the arrays of its attention number `layer`, counted as they run, from 0."""
    before = model.config._attn_implementation
    _seen.clear()
    model.set_attn_implementation(NAME)
    try:
        with torch.no_grad():
            model(**inputs)
    finally:
        model.set_attn_implementation(before)
    if not 0 <= layer < len(_seen):
        raise IndexError(
            f"layer {layer} was asked for, but {len(_seen)} attention layers were seen; "
            f"with none, this architecture does not take its attention from ALL_ATTENTION_FUNCTIONS"
        )
    return {**_seen[layer], "layer": np.array(layer), "source": np.array(type(model).__name__)}


def save(path: str, arrays: Arrays, tokens: list[str]) -> None:
    """Write an .npz that the app's upload reads."""
    np.savez_compressed(path, allow_pickle=False, **arrays, tokens=np.array(list(tokens), dtype=str))


def _attend(
    module: torch.nn.Module,  # noqa: ARG001
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **kwargs: object,
) -> tuple[Tensor, Tensor]:
    """Attention in four steps, in the place of the model's own; (B, h, T, d) in, (B, T, h, d) out."""
    extra = [name for name in NOT_FOUR_STEPS if kwargs.get(name) is not None]
    if extra:
        raise NotImplementedError(f"this attention also uses {', '.join(extra)}: more than the four steps")
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    groups = query.shape[1] // key.shape[1]
    keys, values = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    scores = query @ keys.transpose(-1, -2) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
    output = weights @ values
    _seen.append(_arrays(query, key, value, attention_mask, scaling, output))
    return output.transpose(1, 2).contiguous(), weights


def _arrays(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, output: Tensor
) -> Arrays:
    """What is kept of one attention; q (h, T, d_k), k and v (h_kv, T, d), out (h, T, d_v), mask (1, T, T)."""
    if len(query) != 1:
        raise ValueError(f"capture one sentence at a time; this batch holds {len(query)}")
    arrays = {"q": query, "k": key, "v": value, "out": output}
    arrays = {name: x[0].detach().float().cpu().numpy() for name, x in arrays.items()}
    if mask is not None:
        arrays["mask"] = _allowed(mask[0])
    return {**arrays, "scaling": np.array(float(scaling))}


def _allowed(added: Tensor) -> np.ndarray:
    """A mask that is added to the scores -> True where a query may attend."""
    masked = added < torch.finfo(added.dtype).min / 2  # the library uses finfo.min for -inf
    if (added[~masked] != 0).any():
        raise NotImplementedError("the mask holds a bias (such as ALiBi): more than the four steps")
    return (~masked).cpu().numpy()


ALL_ATTENTION_FUNCTIONS.register(NAME, _attend)
ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, eager_mask)
