"""Doing what "If you meant it" says makes the verdict "correct", for every kind of fault that has it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.clinic import diagnose
from core.clinic.meant import OFTEN_MEANT, WAYS, if_meant
from core.faults.choices_position import alibi_bias
from core.faults.pipeline import FAULTY, Choice, run
from core.faults.problem import Problem, problem_of
from tests.core.softmax import soft

RANDOM = np.random.default_rng(5)
B, H, T, D = 2, 4, 7, 12
Q, K, V = (RANDOM.standard_normal((B, H, T, D)) for _ in range(3))
SCALED = Q @ K.swapaxes(-1, -2) / D**0.5
ROW, COL = np.indices((T, T))
SQUARE = {"q": Q, "k": K, "v": V}
SHORT = {"q": Q[..., 3:, :], "k": K, "v": V}
BELIEFS = ("causal", "rope", "alibi")
Arrays = dict[str, np.ndarray]


def turned(choice: Choice, problem: Problem) -> Arrays:
    """q and k as this choice of positions leaves them."""
    state = run(problem, [choice])
    return {"q": state.q, "k": state.k}


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def best_keys(choice: Choice, problem: Problem) -> Arrays:
    return {"mask": run(problem, [choice]).weights > 0}


def normalised(choice: Choice, _: Problem) -> Arrays:
    ways = {
        "RMS norm": lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True)),
        "layer norm": lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True),
        "over positions": lambda x: x / np.linalg.norm(x, axis=-2, keepdims=True),
    }
    names = choice.variant.removeprefix("only ") if choice.variant.startswith("only") else "qk"
    return {name: ways.get(choice.variant, unit)(SQUARE[name]) for name in names}


def own_bias(choice: Choice, problem: Problem) -> Arrays:
    plain = run(replace(problem, alibi=False)).scaled
    return {"bias": run(problem, [choice]).scaled - plain}


def without_residual(_: Choice, problem: Problem) -> Arrays:
    return {"out": run(problem).output}


def nothing(_choice: Choice, _problem: Problem) -> Arrays:
    return {}


Change = Callable[[Choice, Problem], Arrays]
#: what is stated, the arrays, and what the sentence says to change in the file
SETTINGS: dict[str, tuple[dict, Arrays, Change]] = {
    "softmax.plus_one": ({"causal": False}, SQUARE, nothing),
    "softmax.top_k": ({"causal": True}, SQUARE, best_keys),
    "mask.causal_not_wanted": ({"causal": False}, SHORT, nothing),
    "mask.causal_top_left": ({"causal": True}, SHORT, nothing),
    "mask.causal_lower_right": ({"causal": True, "causal_alignment": "top_left"}, SHORT, nothing),
    "score.rope_not_wanted": ({"causal": True}, SQUARE, turned),
    "score.rope_missing": ({"causal": True, "rope": True}, SQUARE, turned),
    "score.rope_interleaved": ({"causal": True, "rope": True}, SQUARE, turned),
    "score.rope_frequencies": ({"causal": True, "rope": True}, SQUARE, turned),
    "score.rope_partial": ({"causal": True, "rope": True}, SQUARE, turned),
    "score.normalised": ({"causal": True}, SQUARE, normalised),
    "score.alibi_not_wanted": ({"causal": True}, SQUARE, nothing),
    "score.alibi_missing": ({"causal": True, "alibi": True}, SQUARE, nothing),
    "score.alibi_slopes": ({"causal": True, "alibi": True}, SQUARE, own_bias),
    "score.alibi_sign": ({"causal": False, "alibi": True}, SQUARE, own_bias),
    "blend.residual_added": ({"causal": True}, SQUARE, without_residual),
    "blend.residual_subtracted": ({"causal": True}, SQUARE, without_residual),
    "heads.attends_over_heads": ({"causal": False}, SQUARE, nothing),
    "scale.missing": ({"causal": True}, SQUARE, nothing),
    "scale.by_d_k": ({"causal": True}, SQUARE, nothing),
    "scale.by_sqrt_d_model": ({"causal": True}, SQUARE, nothing),
    "softmax.base_two": ({"causal": True}, SQUARE, nothing),
}


def problem(arrays: Arrays, stated: dict) -> Problem:
    settings = {name: value for name, value in stated.items() if name in BELIEFS}
    return problem_of(*arrays.values(), top_left="causal_alignment" in stated, **settings)


def choices() -> list[tuple[str, Choice]]:
    every = [choice for some in FAULTY.values() for choice in some if choice.label in SETTINGS]
    return [(str(c.label), c) for c in every if c.when(problem(SETTINGS[c.label][1], SETTINGS[c.label][0]))]


@pytest.mark.parametrize(("label", "choice"), choices(), ids=lambda value: getattr(value, "name", ""))
def test_what_is_said_to_state_makes_it_right(label, choice):
    stated, arrays, change = SETTINGS[label]
    asked = problem(arrays, stated)
    out = run(asked, [choice]).output
    meant = if_meant(choice, asked, "BHTD")
    found = diagnose({**arrays, "out": out}, layout="BHTD", **stated)
    told = [e for e in found.explanations if e.faults == (label,) and e.details == (choice.variant,)]
    if meant is None:
        assert (label, choice.variant) in {
            ("softmax.plus_one", "after the shift"),
            ("blend.residual_added", "x, before W_O"),
        }
        return
    assert told, found.as_text()
    assert told[0].if_meant == f"If you meant it: {meant.sentence}."
    assert told[0].settings == meant.settings
    assert told[0].often_meant == (label in OFTEN_MEANT)
    changed = {} if choice.variant == "" and label == "score.rope_not_wanted" else change(choice, asked)
    again = {"layout": "BHTD", **stated, **told[0].settings}
    answer = diagnose({**arrays, "out": out, **changed}, **again)
    assert answer.verdict == "correct", answer.as_text()


WINDOW = (COL <= ROW) & (ROW - COL <= 2)
BAND = abs(ROW - COL) <= 2
SPOTS = (RANDOM.random((T, T)) < 0.6) | np.eye(T, dtype=bool)
CAP, SINK = 3.0, 0.37


def masked(cells: np.ndarray) -> np.ndarray:
    return soft(np.where(cells, SCALED, -np.inf)) @ V


def with_sink() -> np.ndarray:
    exps = np.exp(SCALED)
    return exps / (SINK + exps.sum(-1, keepdims=True)) @ V


FITTED = [
    ("mask.window_not_wanted", True, masked(WINDOW), {"mask": WINDOW}),
    ("mask.window_not_wanted", False, masked(WINDOW), {"mask": WINDOW}),
    ("mask.window_not_wanted", True, masked(BAND), {"mask": BAND}),
    ("mask.window_not_wanted", False, masked(BAND), {"mask": BAND}),
    ("mask.window_not_wanted", None, masked(WINDOW), {"mask": WINDOW}),
    ("mask.other_cells", True, masked(SPOTS), {"mask": SPOTS}),
    ("mask.other_cells", False, masked(SPOTS), {"mask": SPOTS}),
    ("scale.softcapped", False, soft(CAP * np.tanh(SCALED / CAP)) @ V, {}),
    ("scale.wrong_constant", False, soft(0.617 * SCALED) @ V, {}),
    ("softmax.constant_added", False, with_sink(), {}),
    ("blend.output_scaled", False, 1.5 * soft(SCALED) @ V, {"out": soft(SCALED) @ V}),
]


@pytest.mark.parametrize(("label", "causal", "out", "changed"), FITTED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_was_fitted_can_be_stated(label, causal, out, changed, dtype):
    arrays = {name: array.astype(dtype) for name, array in {**SQUARE, "out": out}.items()}
    found = diagnose(arrays, layout="BHTD", causal=causal)
    told = next(e for e in found.explanations if e.faults == (label,))
    assert told.if_meant.startswith("If you meant it: ")
    again = {"layout": "BHTD", "causal": causal, **told.settings}
    answer = diagnose({**arrays, **changed}, **again)
    assert answer.verdict == "correct", answer.as_text()


@pytest.mark.parametrize(("name", "stated", "out"), [
    ("softcap", CAP, soft(CAP * np.tanh(SCALED / CAP)) @ V),
    ("sink", SINK, with_sink()),
])  # fmt: skip
def test_a_cap_or_a_sink_can_be_stated_at_once(name, stated, out):
    beliefs = {"layout": "BHTD", "causal": False, name: stated}
    assert diagnose(**SQUARE, out=out, **beliefs).verdict == "correct"
    missing = diagnose(**SQUARE, out=soft(SCALED) @ V, **beliefs)
    assert missing.labels[0] in (["scale.softcap_missing"], ["softmax.sink_missing"]), missing.as_text()
    again = {**beliefs, **missing.explanations[0].settings}
    assert diagnose(**SQUARE, out=soft(SCALED) @ V, **again).verdict == "correct"
    swapped = diagnose(**{**SQUARE, "q": K, "k": Q}, out=out, **beliefs)
    assert ["score.qk_swapped"] in swapped.labels
    assert diagnose(**SQUARE, out=out, **{**beliefs, name: -1.0}).verdict == "bad_input"


def test_w_o_can_be_left_out():
    x, (wq, wk, wv, wo) = RANDOM.standard_normal((B, T, 8)), RANDOM.standard_normal((4, 8, 8))
    arrays = {"x": x, "wq": wq, "wk": wk, "wv": wv}
    weights = soft(x @ wq @ (x @ wk).swapaxes(-1, -2) / 8**0.5)
    arrays["out"] = weights @ (x @ wv)
    found = diagnose({**arrays, "wo": wo}, n_heads=1, causal=False, weights_as="x @ w")
    assert found.labels[0] == ["projection.wo_missing"]
    assert "leave wo out" in found.explanations[0].if_meant
    assert diagnose(arrays, n_heads=1, causal=False, weights_as="x @ w").verdict == "correct"


def test_every_way_is_tried_here():
    elsewhere = {"projection.wo_missing", "scale.softcap_missing", "softmax.sink_missing"}
    tried = set(SETTINGS) | {label for label, *_ in FITTED} | elsewhere
    assert set(WAYS) <= tried
    assert tried >= OFTEN_MEANT


def test_a_mistake_that_nobody_means_has_no_way_out():
    found = diagnose(**{**SQUARE, "q": K, "k": Q}, out=soft(SCALED) @ V, layout="BHTD", causal=False)
    assert found.labels == [["score.qk_swapped"]]
    assert found.explanations[0].if_meant == ""


def test_the_bias_that_is_meant_is_the_one_of_alibi():
    """own_bias() above gives what the code added, whatever the clinic thinks of it."""
    asked = problem(SQUARE, {"causal": True, "alibi": True})
    sign = next(c for c in FAULTY["bias"] if c.label == "score.alibi_sign" and not c.variant)
    np.testing.assert_allclose(
        own_bias(sign, asked)["bias"], np.broadcast_to(-alibi_bias(asked), (B, H, T, T)), atol=1e-12
    )
