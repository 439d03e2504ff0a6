"""The projections on both ends, x to q, k and v, and W_O: the right way and the wrong ways."""

from collections.abc import Callable

import numpy as np

from core.faults.pipeline import State, Updates, faulty, right
from core.faults.problem import Problem


def has_x(p: Problem) -> bool:
    return p.x is not None


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
