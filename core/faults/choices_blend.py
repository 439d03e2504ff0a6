"""Softmax and the blend of the values: the right way and the wrong ways."""

from collections.abc import Callable

import numpy as np

from core.attention import softmax as right_softmax
from core.faults.pipeline import State, Updates, always, convention, faulty, right
from core.faults.problem import Problem

Test = Callable[[Problem], bool]
Decorator = Callable[[Callable], Callable]


# --- softmax --------------------------------------------------------------------------------------


def over(z: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """Softmax over any axes; a slice with nothing but -inf gives NaN."""
    exps = np.exp(z - z.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def finished(s: State, weights: np.ndarray) -> Updates:
    """The weights, with a scale or a mask that came too late, and the rows with nothing allowed."""
    late_mask, late_factor = getattr(s, "late_mask", None), getattr(s, "after_softmax", None)
    if late_mask is not None:
        weights = np.where(late_mask, weights, getattr(s, "late_fill", 0.0))
    if late_factor is not None:
        weights = weights * late_factor
    dead = np.isneginf(s.masked).all(axis=-1, keepdims=True)
    return {"weights": weights, "dead": dead}


@right("softmax")
def softmax(p: Problem, s: State) -> Updates:
    return finished(s, right_softmax(s.masked) if p.sink is None else with_constant(s.masked, p.sink))


def with_constant(z: np.ndarray, constant: float) -> np.ndarray:
    """exp(z) / (constant + sum): an extra key with score log(constant) and value 0."""
    top = np.maximum(z.max(axis=-1, keepdims=True), 0)
    exps = np.exp(z - top)
    return exps / (constant * np.exp(-top) + exps.sum(axis=-1, keepdims=True))


def wrong_softmax(label: str, variant: str = "", when: Test = always, mixes: str = "") -> Decorator:
    """Decorator: masked scores -> weights, registered as a fault of the softmax stage."""

    def register(compute: Callable) -> Callable:
        faulty("softmax", label, variant, when, mixes)(lambda p, s: finished(s, compute(p, s.masked)))
        return compute

    return register


wrong_softmax("softmax.axis_query", when=lambda p: p.n_q * p.n_k > 1)(lambda p, z: over(z, -2))
wrong_softmax("softmax.axis_heads", when=lambda p: p.n_heads > 1, mixes="heads")(lambda p, z: over(z, 1))
for (
    name,
    axis,
    exists,
    mixes,
) in (  # a slice that is hidden throughout: -inf gives NaN, a finite fill equal shares
    ("softmax.axis_query", -2, lambda p: p.masks and p.n_q * p.n_k > 1, ""),
    ("softmax.axis_heads", 1, lambda p: p.masks and p.n_heads > 1, "heads"),
    ("softmax.axis_batch", 0, lambda p: p.masks and p.batch > 1, "batch"),
):
    wrong_softmax(name, "finite fill", when=exists, mixes=mixes)(
        lambda p, z, axis=axis: over(np.where(np.isneginf(z), -1e30, z), axis)
    )
wrong_softmax("softmax.axis_batch", when=lambda p: p.batch > 1, mixes="batch")(lambda p, z: over(z, 0))
wrong_softmax("softmax.flattened", when=lambda p: p.n_q > 1)(lambda p, z: over(z, (-2, -1)))
wrong_softmax("softmax.flattened", "heads too", when=lambda p: p.n_heads > 1, mixes="heads")(
    lambda p, z: over(z, (1, 2, 3))
)
wrong_softmax("softmax.flattened", "everything", when=lambda p: p.batch > 1, mixes="batch")(
    lambda p, z: over(z, (0, 1, 2, 3))
)
wrong_softmax("softmax.flattened", "heads and keys", when=lambda p: p.n_heads > 1, mixes="heads")(
    lambda p, z: over(z, (1, 3))
)


def hidden_as_zero(z: np.ndarray) -> np.ndarray:
    return np.where(np.isneginf(z), 0.0, z)


wrong_softmax("softmax.missing")(lambda p, z: hidden_as_zero(z))


@wrong_softmax("softmax.sum_of_scores")
def divided_by_sum(p: Problem, z: np.ndarray) -> np.ndarray:
    shown = hidden_as_zero(z)
    return shown / shown.sum(axis=-1, keepdims=True)


wrong_softmax("softmax.not_normalised", "exp(z)")(lambda p, z: np.exp(z))
wrong_softmax("softmax.not_normalised", "exp(z - max)")(lambda p, z: np.exp(z - z.max(-1, keepdims=True)))
wrong_softmax("softmax.twice")(lambda p, z: right_softmax(right_softmax(z)))
wrong_softmax("softmax.sigmoid")(lambda p, z: 1 / (1 + np.exp(-z)))
wrong_softmax("softmax.relu")(lambda p, z: np.maximum(z, 0))
wrong_softmax("softmax.log_softmax")(lambda p, z: hidden_as_zero(np.log(right_softmax(z))))
wrong_softmax("softmax.hard")(lambda p, z: np.where(z == z.max(-1, keepdims=True), 1.0, 0.0))
wrong_softmax("softmax.negated")(lambda p, z: right_softmax(np.where(np.isneginf(z), z, -z)))


faulty("softmax", "softmax.sink_missing", when=lambda p: p.sink is not None)(
    lambda p, s: finished(s, right_softmax(s.masked))
)


@faulty("softmax", "softmax.plus_one", when=lambda p: p.sink is None, number=1.0)
def plus_one(p: Problem, s: State) -> Updates:
    return finished(s, with_constant(s.masked, 1.0))


wrong_softmax("softmax.plus_one", "after the shift")(
    lambda p, z: (
        np.exp(z - z.max(-1, keepdims=True))
        / (1 + np.exp(z - z.max(-1, keepdims=True)).sum(-1, keepdims=True))
    )
)


def one_square_matrix(p: Problem) -> bool:
    return p.square and p.batch == p.n_heads == 1


def as_rows(column: np.ndarray) -> np.ndarray:
    """What broadcasting makes of a row statistic without keepdims: it lies along the keys."""
    return column.swapaxes(-1, -2)


@wrong_softmax("softmax.no_keepdims", "sum", when=one_square_matrix)
def sum_without_keepdims(p: Problem, z: np.ndarray) -> np.ndarray:
    exps = np.exp(z - z.max(axis=-1, keepdims=True))
    return exps / as_rows(exps.sum(axis=-1, keepdims=True))


@wrong_softmax("softmax.no_keepdims", "max", when=one_square_matrix)
def max_without_keepdims(p: Problem, z: np.ndarray) -> np.ndarray:
    exps = np.exp(z - as_rows(z.max(axis=-1, keepdims=True)))
    return exps / exps.sum(axis=-1, keepdims=True)


@wrong_softmax("softmax.no_keepdims", "both", when=one_square_matrix)
def neither_keepdims(p: Problem, z: np.ndarray) -> np.ndarray:
    exps = np.exp(z - as_rows(z.max(axis=-1, keepdims=True)))
    return exps / as_rows(exps.sum(axis=-1, keepdims=True))


@wrong_softmax("softmax.sum_over_queries", when=lambda p: p.n_q > 1)
def exp_rows_sum_columns(p: Problem, z: np.ndarray) -> np.ndarray:
    """The maximum over the keys, the sum over the queries."""
    exps = np.exp(z - z.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-2, keepdims=True)


def without_max(z: np.ndarray, dtype: str) -> np.ndarray:
    """exp of the scores as they are, in a number format in which it overflows: inf / inf is NaN."""
    exps = np.exp(z.astype(dtype))
    return (exps / exps.sum(axis=-1, keepdims=True, dtype=dtype)).astype(z.dtype)


for dtype in ("float32", "float64", "float16"):
    wrong_softmax("softmax.no_max_subtraction", dtype, lambda p: p.sink is None)(
        lambda p, z, dtype=dtype: without_max(z, dtype)
    )


# --- rows with nothing allowed ----------------------------------------------------------------------


@right("dead")
def dead(p: Problem, s: State) -> Updates:
    return {"dead_rows": "NaN" if s.dead.any() else ""}


def dead_rows_become(s: State, how: str, weights: np.ndarray | float) -> Updates:
    return {"weights": np.where(s.dead, weights, s.weights), "dead_rows": how}


convention("dead", "rows with nothing allowed are 0")(lambda p, s: dead_rows_become(s, "0", 0.0))
convention("dead", "rows with nothing allowed are the mean of all values")(
    lambda p, s: dead_rows_become(s, "mean", 1 / s.weights.shape[-1])
)
convention("dead", "rows with nothing allowed are not masked")(
    lambda p, s: dead_rows_become(s, "unmasked", right_softmax(s.scaled))
)


# --- the weights ------------------------------------------------------------------------------------


@right("weights")
def weights(p: Problem, s: State) -> Updates:
    return {}


faulty("weights", "heads.weights_averaged", when=lambda p: p.n_heads > 1, mixes="heads")(
    lambda p, s: {"weights": np.broadcast_to(s.weights.mean(1, keepdims=True), s.weights.shape)}
)
faulty("weights", "softmax.weights_squared")(lambda p, s: {"weights": s.weights**2})


# --- blend --------------------------------------------------------------------------------------------


@right("blend")
def blend(p: Problem, s: State) -> Updates:
    return {"heads_out": s.weights @ s.v}


def square(p: Problem) -> bool:
    return p.square


def equal_widths(p: Problem) -> bool:
    return p.d_k == p.d_v


def square_and_equal(p: Problem) -> bool:
    return p.square and p.d_k == p.d_v


def plain(s: State) -> np.ndarray:
    return s.weights @ s.v


def blended(label: str, variant: str = "", when: Test = always, mixes: str = "") -> Decorator:
    """Decorator: state -> the output of each head, registered as a fault of the blend stage."""

    def register(compute: Callable) -> Callable:
        faulty("blend", label, variant, when, mixes)(lambda p, s: {"heads_out": compute(s)})
        return compute

    return register


blended("blend.weights_transposed", when=square)(lambda s: s.weights.swapaxes(-1, -2) @ s.v)
blended("blend.k_used_as_v", when=equal_widths)(lambda s: s.weights @ s.k)
blended("blend.q_used_as_v", when=square_and_equal)(lambda s: s.weights @ s.q)
blended("blend.returns_v", when=square)(lambda s: s.v + 0.0)
blended("blend.residual_added", "q", when=equal_widths)(lambda s: plain(s) + s.q)
blended("blend.residual_added", "v", when=square)(lambda s: plain(s) + s.v)
blended("blend.residual_added", "k", when=square_and_equal)(lambda s: plain(s) + s.k)
blended("blend.residual_subtracted", when=equal_widths)(lambda s: plain(s) - s.q)
blended("blend.mean_of_v")(
    lambda s: np.broadcast_to(s.v.mean(-2, keepdims=True), plain(s).shape) + 0 * plain(s)
)
blended("blend.sum_of_v")(
    lambda s: np.broadcast_to(s.v.sum(-2, keepdims=True), plain(s).shape) + 0 * plain(s)
)
blended("blend.v_reversed")(lambda s: s.weights @ s.v[..., ::-1, :])
blended("blend.v_shifted", "one back")(lambda s: s.weights @ np.roll(s.v, 1, axis=-2))
blended("blend.v_shifted", "one ahead")(lambda s: s.weights @ np.roll(s.v, -1, axis=-2))
blended("blend.v_wrong_entry", when=lambda p: p.batch > 1, mixes="batch")(lambda s: s.weights @ s.v[::-1])
blended("blend.v_wrong_head", when=lambda p: p.n_heads > 1, mixes="heads")(lambda s: s.weights @ s.v[:, ::-1])
blended("blend.negated")(lambda s: -plain(s))


def v_is_square(p: Problem) -> bool:
    return p.n_k == p.d_v


@blended("blend.v_transposed", when=v_is_square)
def v_transposed(s: State) -> np.ndarray:
    fits = s.v.shape[-1] == s.v.shape[-2]
    return s.weights @ s.v.swapaxes(-1, -2) if fits else plain(s)


@blended("blend.v_reshaped", when=lambda p: p.n_k != p.d_v)
def v_reshaped(s: State) -> np.ndarray:
    """The values re-cut from their transpose: the right shape, the wrong numbers."""
    return s.weights @ s.v.swapaxes(-1, -2).reshape(s.v.shape)


@blended("blend.divided_by_n_keys", when=lambda p: p.n_k > 1)
def divided(s: State) -> np.ndarray:
    return plain(s) / s.weights.shape[-1]
