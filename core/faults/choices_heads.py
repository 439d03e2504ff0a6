"""Projection, heads and their joining: the right way and the wrong ways."""

from collections.abc import Callable

import numpy as np

from core.faults.pipeline import State, Updates, faulty, right
from core.faults.problem import Problem
from core.heads import merge_heads, repeat_key_value_heads, split_heads


def has_x(p: Problem) -> bool:
    return p.x is not None


def is_flat(p: Problem) -> bool:
    return (p.flat or has_x(p)) and p.n_heads > 1


def is_merged(p: Problem) -> bool:
    return p.merged and p.n_heads > 1


def is_grouped(p: Problem) -> bool:
    return 1 < p.n_kv_heads < p.n_heads


# --- projection -------------------------------------------------------------------------------


def linear(p: Problem, which: str, weight: np.ndarray | None = None) -> np.ndarray:
    """x @ w + b for which = q, k or v."""
    projected = p.x @ (p.projections["w" + which] if weight is None else weight)
    bias = p.projections.get("b" + which)
    return projected if bias is None else projected + bias


@right("project")
def project(p: Problem, s: State) -> Updates:
    if not has_x(p):
        return {"q": p.q, "k": p.k, "v": p.v}
    return {which: linear(p, which) for which in "qkv"}


def square_weights(*names: str) -> Callable[[Problem], bool]:
    """Whether these weights are square and not symmetric: only then x @ w.T runs and differs."""

    def test(p: Problem) -> bool:
        weights = [p.projections.get(name) for name in names]
        return has_x(p) and all(w is not None and w.shape[0] == w.shape[1] for w in weights)

    return test


def transposed(p: Problem, s: State, names: str) -> Updates:
    return {w: linear(p, w, p.projections["w" + w].T if w in names else None) for w in "qkv"}


for names in ("qkv", "q", "k", "v", "qk"):
    faulty(
        "project", "projection.w_transposed", " and ".join("W_" + n.upper() for n in names),
        when=square_weights(*("w" + n for n in names)),
    )(lambda p, s, names=names: transposed(p, s, names))  # fmt: skip


@faulty("project", "projection.w_transposed", "all four", when=square_weights("wq", "wk", "wv", "wo"))
def all_transposed(p: Problem, s: State) -> Updates:
    return {**transposed(p, s, "qkv"), "wo": p.projections["wo"].T}


def equal_widths(p: Problem) -> bool:
    shapes = {p.projections[name].shape for name in ("wq", "wk", "wv")} if has_x(p) else {1, 2}
    return len(shapes) == 1


for source in "qkv":
    faulty("project", "projection.one_matrix_for_all", f"W_{source.upper()}", when=equal_widths)(
        lambda p, s, source=source: {which: linear(p, source) for which in "qkv"}
    )


@faulty("project", "projection.one_matrix_for_all", "W_Q for q and k", when=equal_widths)
def shared_query_key(p: Problem, s: State) -> Updates:
    return {"q": linear(p, "q"), "k": linear(p, "q"), "v": linear(p, "v")}


@faulty("project", "projection.one_matrix_for_all", "W_V for k and v", when=equal_widths)
def shared_key_value(p: Problem, s: State) -> Updates:
    return {"q": linear(p, "q"), "k": linear(p, "v"), "v": linear(p, "v")}


def fits_unprojected(p: Problem) -> bool:
    return equal_widths(p) and p.projections["wq"].shape[1] == p.x.shape[-1]


for missing in ("qkv", "q", "k", "v", "qk"):
    faulty("project", "projection.missing", ", ".join(missing), when=fits_unprojected)(
        lambda p, s, missing=missing: {w: p.x if w in missing else linear(p, w) for w in "qkv"}
    )


@faulty(
    "project",
    "projection.bias_missing",
    when=lambda p: has_x(p) and any("b" + w in p.projections for w in "qkv"),
)
def no_bias(p: Problem, s: State) -> Updates:
    return {w: p.x @ p.projections["w" + w] for w in "qkv"}


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


# --- the output projection --------------------------------------------------------------------


def has_wo(p: Problem) -> bool:
    return "wo" in p.projections


def project_out(p: Problem, s: State, joined: np.ndarray, wo: np.ndarray | None = None) -> np.ndarray:
    if not has_wo(p):
        return joined
    out = joined @ (getattr(s, "wo", p.projections["wo"]) if wo is None else wo)
    return out + p.projections["bo"] if "bo" in p.projections else out


@right("output")
def output(p: Problem, s: State) -> Updates:
    return {"output": project_out(p, s, s.output)}


def wo_is_square(p: Problem) -> bool:
    return has_wo(p) and p.projections["wo"].shape[0] == p.projections["wo"].shape[1]


@faulty("output", "projection.wo_missing", when=wo_is_square)
def without_wo(p: Problem, s: State) -> Updates:
    return {"output": s.output}


@faulty("output", "projection.wo_transposed", when=wo_is_square)
def with_transposed_wo(p: Problem, s: State) -> Updates:
    return {"output": project_out(p, s, s.output, p.projections["wo"].T)}


@faulty("output", "projection.wo_twice", when=wo_is_square)
def with_wo_twice(p: Problem, s: State) -> Updates:
    return {"output": project_out(p, s, project_out(p, s, s.output))}


@faulty("output", "projection.bias_missing", "output", when=lambda p: has_wo(p) and "bo" in p.projections)
def without_output_bias(p: Problem, s: State) -> Updates:
    return {"output": s.output @ p.projections["wo"]}


def x_fits_output(p: Problem) -> bool:
    width = p.projections["wo"].shape[1] if has_wo(p) else p.n_heads * p.d_v
    return has_x(p) and width == p.x.shape[-1]


@faulty("output", "blend.residual_added", "x", when=x_fits_output)
def with_residual(p: Problem, s: State) -> Updates:
    return {"output": project_out(p, s, s.output) + p.x}
