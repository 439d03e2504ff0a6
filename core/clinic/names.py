"""The names that arrays are known by."""

from collections.abc import Mapping

import numpy as np

from core.files import InputError

#: the field of an array, and the names it is known by (lower case, "." and "-" read as "_")
ALIASES = {
    "q": ("q", "query", "queries", "q_heads"),
    "k": ("k", "key", "keys"),
    "v": ("v", "value", "values"),
    "out": (
        "out",
        "output",
        "o",
        "y",
        "result",
        "attn_output",
        "attention_output",
        "context",
        "context_layer",
    ),
    "weights": (
        "weights",
        "attn",
        "attn_weights",
        "attention",
        "attention_weights",
        "attentions",
        "probs",
        "attn_probs",
        "a",
    ),
    "mask": ("mask", "attn_mask", "allowed", "bias_mask"),
    "key_keep": ("key_keep", "key_is_real", "attention_mask", "keep", "key_mask"),
    "key_hide": ("key_padding_mask", "padding_mask", "pad_mask", "key_hide", "src_key_padding_mask"),
    "lengths": ("lengths", "length", "seq_lens", "seq_lengths", "key_lengths", "lens", "valid_lens"),
    "bias": ("bias", "attn_bias", "position_bias", "score_bias"),
    "x": ("x", "input", "inputs", "hidden_states", "embeddings"),
    "wq": ("wq", "w_q", "q_proj", "query_proj", "to_q", "wq_weight"),
    "wk": ("wk", "w_k", "k_proj", "key_proj", "to_k"),
    "wv": ("wv", "w_v", "v_proj", "value_proj", "to_v"),
    "wo": ("wo", "w_o", "o_proj", "out_proj", "to_out", "c_proj"),
    "bq": ("bq", "b_q", "q_proj_bias", "q_bias"),
    "bk": ("bk", "b_k", "k_proj_bias", "k_bias"),
    "bv": ("bv", "b_v", "v_proj_bias", "v_bias"),
    "bo": ("bo", "b_o", "o_proj_bias", "out_proj_bias", "o_bias"),
    "w_in": ("in_proj", "w_qkv", "wqkv", "qkv_proj", "c_attn"),
    "b_in": ("in_proj_bias", "b_qkv", "qkv_bias", "qkv_proj_bias"),
    "meta": ("meta", "metadata", "believed"),
}

FIELD_OF = {alias: name for name, aliases in ALIASES.items() for alias in aliases}

MASK_NAMES = ("mask", "key_keep", "key_hide", "lengths")


def field_of(name: str) -> str | None:
    """The field that an array's name stands for, as "q" for "attn.Query"; None if unknown."""
    plain = name.strip().lower().replace(".", "_").replace("-", "_").replace(" ", "_")
    for ending in ("", "_weight", "_tensor", "_states", "_layer"):
        if plain.endswith(ending) and plain.removesuffix(ending) in FIELD_OF:
            return FIELD_OF[plain.removesuffix(ending)]
    parts = plain.split("_")
    for start in range(1, len(parts)):  # a module's path in front: "layers_0_attn_q_proj_weight"
        rest = "_".join(parts[start:])
        if len(rest) > 1 and (found := FIELD_OF.get(rest) or FIELD_OF.get(rest.removesuffix("_weight"))):
            return found
    return None


def unknown(arrays: Mapping[str, np.ndarray]) -> list[str]:
    """The names that stand for nothing here."""
    return [name for name in arrays if field_of(name) is None]


def named(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays under their fields' names; unknown names are left out."""
    fields: dict[str, np.ndarray] = {}
    origin: dict[str, str] = {}
    for name, array in arrays.items():
        known = field_of(name)
        if known is None:
            continue
        if known in fields:
            raise InputError(
                "duplicate_array",
                f"two arrays, {origin[known]!r} and {name!r}, can both be {known}: keep one of them",
            )
        fields[known], origin[known] = array, name
    return fields
