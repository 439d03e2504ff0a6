"""The scores and their scale: the right way and the wrong ways."""

import math
from collections.abc import Callable

import numpy as np

from core.faults.pipeline import State, Updates, faulty, right
from core.faults.problem import Problem

FLOAT16_MAX = 65504.0


# --- scores -------------------------------------------------------------------------------------


@right("score")
def score(p: Problem, s: State) -> Updates:
    return {"scores": s.q @ s.k.swapaxes(-1, -2)}


def square(p: Problem) -> bool:
    return p.square


@faulty("score", "score.qk_swapped", when=square)
def swapped(p: Problem, s: State) -> Updates:
    return {"scores": s.k @ s.q.swapaxes(-1, -2)}


@faulty("score", "score.k_not_transposed", when=lambda p: p.n_k == p.d_k)
def not_transposed(p: Problem, s: State) -> Updates:
    return {"scores": s.q @ s.k} if s.k.shape[-2] == s.k.shape[-1] == s.q.shape[-1] else score(p, s)


@faulty("score", "score.negated")
def negated(p: Problem, s: State) -> Updates:
    return {"scores": -score(p, s)["scores"]}


@faulty("score", "score.same_tensor_twice", "q with q", when=square)
def query_query(p: Problem, s: State) -> Updates:
    return {"scores": s.q @ s.q.swapaxes(-1, -2)}


@faulty("score", "score.same_tensor_twice", "k with k", when=square)
def key_key(p: Problem, s: State) -> Updates:
    return {"scores": s.k @ s.k.swapaxes(-1, -2)}


def fits_value(p: Problem) -> bool:
    return p.d_v == p.d_k


@faulty("score", "score.v_used_as_k", when=fits_value)
def query_value(p: Problem, s: State) -> Updates:
    return {"scores": s.q @ s.v.swapaxes(-1, -2)}


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


for names in ("qk", "q", "k"):
    faulty("score", "score.normalised", "cosine" if names == "qk" else f"only {names}")(
        lambda p, s, names=names: {
            "scores": (unit(s.q) if "q" in names else s.q)
            @ (unit(s.k) if "k" in names else s.k).swapaxes(-1, -2)
        }
    )


@faulty("score", "score.distance", "squared")
def distance(p: Problem, s: State) -> Updates:
    squares = (s.q**2).sum(-1)[..., :, None] + (s.k**2).sum(-1)[..., None, :]
    return {"scores": 2 * score(p, s)["scores"] - squares}


@faulty("score", "score.distance", "not squared")
def root_distance(p: Problem, s: State) -> Updates:
    return {"scores": -np.sqrt(np.maximum(-distance(p, s)["scores"], 0))}


@faulty("score", "score.absolute")
def absolute(p: Problem, s: State) -> Updates:
    return {"scores": np.abs(score(p, s)["scores"])}


@faulty("score", "heads.scores_summed", "sum", when=lambda p: p.n_heads > 1, mixes="heads")
def summed(p: Problem, s: State) -> Updates:
    scores = score(p, s)["scores"]
    return {"scores": np.broadcast_to(scores.sum(1, keepdims=True), scores.shape)}


@faulty("score", "heads.scores_summed", "mean", when=lambda p: p.n_heads > 1, mixes="heads")
def averaged(p: Problem, s: State) -> Updates:
    return {"scores": summed(p, s)["scores"] / p.n_heads}


@faulty("score", "score.fp16_overflow", when=lambda p: p.dtype.itemsize <= 4)
def overflow(p: Problem, s: State) -> Updates:
    scores = score(p, s)["scores"]
    return {"scores": np.where(np.abs(scores) > FLOAT16_MAX, np.copysign(np.inf, scores), scores)}


# --- scale --------------------------------------------------------------------------------------


def right_factor(p: Problem, s: State) -> float:
    return 1 / math.sqrt(s.d_k) if p.scale is None else p.scale


@right("scale")
def scale(p: Problem, s: State) -> Updates:
    return {"scaled": capped(p, s.scores * right_factor(p, s))}


def capped(p: Problem, scaled: np.ndarray) -> np.ndarray:
    return scaled if p.softcap is None else p.softcap * np.tanh(scaled / p.softcap)


faulty("scale", "scale.softcap_missing", when=lambda p: p.softcap is not None)(
    lambda p, s: {"scaled": s.scores * right_factor(p, s)}
)


def scaled_by(factor: Callable[[Problem, State], float]) -> Callable[[Problem, State], Updates]:
    return lambda p, s: {"scaled": capped(p, s.scores * factor(p, s))}


def several_heads(p: Problem) -> bool:
    return p.total_heads > 1


#: label, variant, the factor put in place of 1 / sqrt(d_k), when it can differ
WRONG_FACTORS = (
    ("scale.missing", "", lambda p, s: 1.0, lambda p: True),
    ("scale.by_d_k", "", lambda p, s: 1 / s.d_k, lambda p: True),
    ("scale.twice", "", lambda p, s: right_factor(p, s) ** 2, lambda p: True),
    ("scale.three_times", "", lambda p, s: right_factor(p, s) ** 3, lambda p: True),
    ("scale.multiplied", "", lambda p, s: 1 / right_factor(p, s), lambda p: True),
    ("scale.multiplied_by_d_k", "", lambda p, s: float(s.d_k), lambda p: True),
    ("scale.by_sqrt_d_model", "", lambda p, s: p.d_model**-0.5, lambda p: p.d_model != p.d_k),
    ("scale.by_d_model", "", lambda p, s: 1 / p.d_model, lambda p: p.d_model != p.d_k),
    ("scale.by_sqrt_seq", "keys", lambda p, s: p.n_k**-0.5, lambda p: True),
    ("scale.by_sqrt_seq", "queries", lambda p, s: p.n_q**-0.5, lambda p: not p.square and p.n_q > 1),
    ("scale.by_seq", "keys", lambda p, s: 1 / p.n_k, lambda p: True),
    ("scale.by_seq", "queries", lambda p, s: 1 / p.n_q, lambda p: not p.square and p.n_q > 1),
    ("scale.by_sqrt_heads", "", lambda p, s: p.total_heads**-0.5, several_heads),
    ("scale.by_heads", "", lambda p, s: 1 / p.total_heads, several_heads),
    ("scale.by_sqrt_batch", "", lambda p, s: p.batch**-0.5, lambda p: p.batch > 1),
    ("scale.by_sqrt_d_v", "", lambda p, s: p.d_v**-0.5, lambda p: p.d_v != p.d_k),
    ("scale.quarter_root", "", lambda p, s: s.d_k**-0.25, lambda p: True),
    ("scale.by_d_k_squared", "", lambda p, s: s.d_k**-2.0, lambda p: True),
    ("scale.precedence", "scores / (d_k ** 1 / 2)", lambda p, s: 2 / s.d_k, lambda p: True),
    ("scale.precedence", "scores / d_k ** 1 / 2", lambda p, s: 0.5 / s.d_k, lambda p: True),
    ("scale.precedence", "1 / np.sqrt(d_k) ** 0.5", lambda p, s: s.d_k**-0.25, lambda p: True),
    ("scale.by_sqrt_half_d_k", "", lambda p, s: (s.d_k / 2) ** -0.5, lambda p: True),
    ("scale.by_sqrt_twice_d_k", "", lambda p, s: (s.d_k * 2) ** -0.5, lambda p: True),
    ("scale.by_log_d_k", "", lambda p, s: 1 / math.log(s.d_k), lambda p: p.d_k > 1),
    ("softmax.base_two", "", lambda p, s: right_factor(p, s) * math.log(2), lambda p: True),
)  # fmt: skip


def wrong_here(factor: Callable, when: Callable[[Problem], bool]) -> Callable[[Problem], bool]:
    """A factor that the owner says is meant is not wrong."""

    def test(p: Problem) -> bool:
        return when(p) and (p.scale is None or not math.isclose(factor(p, State(d_k=p.d_k)), p.scale))

    return test


for label, variant, factor, when in WRONG_FACTORS:
    when = wrong_here(factor, when)
    faulty("scale", label, variant, when, mixes="batch" if "batch" in label else "")(scaled_by(factor))


@faulty("scale", "scale.after_softmax")
def after_softmax(p: Problem, s: State) -> Updates:
    return {"scaled": s.scores, "after_softmax": right_factor(p, s)}


@faulty("scale", "scale.after_softmax", "and before it")
def before_and_after(p: Problem, s: State) -> Updates:
    return {**scale(p, s), "after_softmax": right_factor(p, s)}


@faulty("scale", "scale.after_softmax", "multiplied", when=lambda p: p.d_k > 1)
def multiplied_after(p: Problem, s: State) -> Updates:
    return {"scaled": s.scores, "after_softmax": 1 / right_factor(p, s)}
