"""Cutting into heads, sharing keys and values among them, joining them: the right way and the wrong ways."""

from collections.abc import Callable

import numpy as np

from core.faults.choices_projection import has_x
from core.faults.pipeline import State, Updates, faulty, right
from core.faults.problem import Problem
from core.heads import merge_heads, repeat_key_value_heads, split_heads


def is_flat(p: Problem) -> bool:
    return (p.flat or has_x(p)) and p.n_heads > 1


def is_merged(p: Problem) -> bool:
    return p.merged and p.n_heads > 1


def is_grouped(p: Problem) -> bool:
    return 1 < p.n_kv_heads < p.n_heads


# --- cutting into heads -----------------------------------------------------------------------


def cut(p: Problem, s: State, how: Callable[[np.ndarray, int], np.ndarray]) -> Updates:
    return {"q": how(s.q, p.n_heads), "k": how(s.k, p.n_kv_heads), "v": how(s.v, p.n_kv_heads)}


@right("split")
def split(p: Problem, s: State) -> Updates:
    if not (p.flat or has_x(p)):
        return {}
    return cut(p, s, split_heads)


def reshaped(x: np.ndarray, n_heads: int) -> np.ndarray:
    batch, seq_len, width = x.shape
    return x.reshape(batch, n_heads, seq_len, width // n_heads)


def interleaved(x: np.ndarray, n_heads: int) -> np.ndarray:
    batch, seq_len, width = x.shape
    return x.reshape(batch, seq_len, width // n_heads, n_heads).transpose(0, 3, 1, 2)


@faulty("split", "heads.split_without_transpose", when=is_flat)
def split_by_reshape(p: Problem, s: State) -> Updates:
    return cut(p, s, reshaped)


@faulty(
    "split",
    "heads.split_without_transpose",
    "and merged the same way",
    when=lambda p: is_flat(p) and p.merged,
)
def split_and_merge_by_reshape(p: Problem, s: State) -> Updates:
    return {**cut(p, s, reshaped), "merge_by_reshape": True}


for names in ("q", "k", "v", "qk", "kv"):
    faulty("split", "heads.split_without_transpose", "only " + " and ".join(names), when=is_flat)(
        lambda p, s, names=names: (
            {n: array for n, array in cut(p, s, reshaped).items() if n in names}
            | {n: array for n, array in cut(p, s, split_heads).items() if n not in names}
        )
    )


@faulty("split", "heads.split_interleaved", when=is_flat)
def split_interleaved(p: Problem, s: State) -> Updates:
    return cut(p, s, interleaved)


@faulty("split", "heads.split_interleaved", "and merged the same way", when=lambda p: is_flat(p) and p.merged)
def split_and_merge_interleaved(p: Problem, s: State) -> Updates:
    return {**cut(p, s, interleaved), "merge_interleaved": True}


def can_stay_whole(p: Problem) -> bool:
    return is_flat(p) and p.merged and p.n_kv_heads == p.n_heads


@faulty("split", "heads.not_split", "divided by sqrt(d_model)", when=can_stay_whole)
def one_wide_head(p: Problem, s: State) -> Updates:
    return {**cut(p, s, lambda x, n: split_heads(x, 1)), "d_k": s.q.shape[-1], "group_whole": True}


@faulty("split", "heads.not_split", "divided by sqrt(d_k)", when=can_stay_whole)
def one_wide_head_scaled_as_small(p: Problem, s: State) -> Updates:
    return {**cut(p, s, lambda x, n: split_heads(x, 1)), "group_whole": True}


# --- grouped heads ----------------------------------------------------------------------------


@right("group")
def group(p: Problem, s: State) -> Updates:
    if s.k.shape[1] == s.q.shape[1]:
        return {}
    return {"k": repeat_key_value_heads(s.k, p.n_heads), "v": repeat_key_value_heads(s.v, p.n_heads)}


def tiled(x: np.ndarray, n_heads: int) -> np.ndarray:
    return np.tile(x, (1, n_heads // x.shape[1], 1, 1))


@faulty("group", "heads.gqa_tiled", when=is_grouped, mixes="heads")
def group_tiled(p: Problem, s: State) -> Updates:
    return {"k": tiled(s.k, p.n_heads), "v": tiled(s.v, p.n_heads)}


@faulty("group", "heads.gqa_tiled", "only k", when=is_grouped, mixes="heads")
def group_tiled_key(p: Problem, s: State) -> Updates:
    return {"k": tiled(s.k, p.n_heads), "v": repeat_key_value_heads(s.v, p.n_heads)}


@faulty("group", "heads.gqa_tiled", "only v", when=is_grouped, mixes="heads")
def group_tiled_value(p: Problem, s: State) -> Updates:
    return {"k": repeat_key_value_heads(s.k, p.n_heads), "v": tiled(s.v, p.n_heads)}


@faulty("group", "heads.gqa_first_head_only", when=is_grouped, mixes="heads")
def group_first(p: Problem, s: State) -> Updates:
    return {"k": tiled(s.k[:, :1], p.n_heads), "v": tiled(s.v[:, :1], p.n_heads)}


@faulty("group", "heads.gqa_averaged", when=lambda p: p.n_kv_heads > 1, mixes="heads")
def group_averaged(p: Problem, s: State) -> Updates:
    return {n: tiled(getattr(s, n).mean(1, keepdims=True), s.q.shape[1]) for n in "kv"}


# --- which axis is the sequence ---------------------------------------------------------------


@right("axes")
def axes(p: Problem, s: State) -> Updates:
    return {}


def swap(s: State, first: int, second: int, causal: bool = False) -> Updates:
    """Let another axis play the sequence; a mask over positions no longer fits, a triangle may."""
    swapped = {name: getattr(s, name).swapaxes(first, second) for name in "qkv"}
    return {**swapped, "swapped": (first, second), "mask_fits": False, "causal_elsewhere": causal}


def several_heads(p: Problem) -> bool:
    return p.n_heads > 1 and p.square


def several_entries(p: Problem) -> bool:
    return p.batch > 1 and p.square


@faulty("axes", "heads.attends_over_heads", when=several_heads, mixes="heads")
def over_heads(p: Problem, s: State) -> Updates:
    return swap(s, 1, 2)


@faulty(
    "axes",
    "heads.attends_over_heads",
    "with the causal mask over heads",
    when=lambda p: p.causal and several_heads(p),
    mixes="heads",
)
def over_heads_causal(p: Problem, s: State) -> Updates:
    return swap(s, 1, 2, causal=True)


@faulty("axes", "heads.batch_first", when=several_entries, mixes="batch")
def over_batch(p: Problem, s: State) -> Updates:
    return swap(s, 0, 2)


@faulty(
    "axes",
    "heads.batch_first",
    "with the causal mask over the batch",
    when=lambda p: p.causal and several_entries(p),
    mixes="batch",
)
def over_batch_causal(p: Problem, s: State) -> Updates:
    return swap(s, 0, 2, causal=True)


# --- joining the heads ------------------------------------------------------------------------


@right("merge")
def merge(p: Problem, s: State) -> Updates:
    out = s.heads_out
    if getattr(s, "swapped", None):
        out = out.swapaxes(*s.swapped)
    if not p.merged:
        return {"output": out}
    if getattr(s, "merge_by_reshape", False):
        return {"output": merged_by_reshape(out)}
    if getattr(s, "merge_interleaved", False):
        return {"output": merged_interleaved(out)}
    return {"output": merge_heads(out)}


def merged_by_reshape(out: np.ndarray) -> np.ndarray:
    batch, n_heads, seq_len, d_v = out.shape
    return out.reshape(batch, seq_len, n_heads * d_v)


def merged_interleaved(out: np.ndarray) -> np.ndarray:
    batch, n_heads, seq_len, d_v = out.shape
    return out.transpose(0, 2, 3, 1).reshape(batch, seq_len, d_v * n_heads)


def unswapped(s: State) -> np.ndarray:
    return s.heads_out.swapaxes(*s.swapped) if getattr(s, "swapped", None) else s.heads_out


@faulty("merge", "heads.merge_without_transpose", when=is_merged)
def merge_by_reshape(p: Problem, s: State) -> Updates:
    return {"output": merged_by_reshape(unswapped(s))}


@faulty("merge", "heads.merge_interleaved", when=is_merged)
def merge_interleaved(p: Problem, s: State) -> Updates:
    return {"output": merged_interleaved(unswapped(s))}


@faulty("merge", "heads.order_reversed", when=lambda p: p.n_heads > 1, mixes="heads")
def merge_reversed(p: Problem, s: State) -> Updates:
    out = unswapped(s)[:, ::-1]
    return {"output": merge_heads(out) if p.merged else out}
