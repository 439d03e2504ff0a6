"""What looks like a fault may be meant: what its owner has to state, so that it is right."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from core.faults.pipeline import Choice, State
from core.faults.problem import Problem


@dataclass(frozen=True, slots=True)
class Meant:
    """What to do if the fault was meant."""

    sentence: str
    settings: dict[str, object] = field(default_factory=dict)  # keywords of diagnose(), settings of the page


def if_meant(choice: Choice, problem: Problem, layout: str = "") -> Meant | None:
    """What makes this choice the right one; None for a mistake that nobody means."""
    label = str(choice.label)
    if choice.stage == "scale" and label not in WAYS:
        return _factor(choice, problem)
    if label == "heads.attends_over_heads":
        return _other_layout(problem, layout)
    way = WAYS.get(label)
    return way(choice, problem) if way else None


#: right code does these too: that it does was only not stated
OFTEN_MEANT = {
    "mask.causal_not_wanted", "mask.window_not_wanted", "score.rope_not_wanted", "score.alibi_not_wanted",
    "score.rope_frequencies", "score.rope_interleaved", "score.rope_partial", "score.normalised",
    "scale.softcapped", "scale.wrong_constant", "softmax.constant_added", "softmax.plus_one", "softmax.top_k",
}  # fmt: skip

Way = Callable[[Choice, Problem], Meant | None]


def _always(sentence: str, **settings: object) -> Way:
    return lambda _choice, _problem: Meant(sentence, settings)


def _factor(choice: Choice, problem: Problem) -> Meant | None:
    """Another factor on the scores: what it makes of a score of 1."""
    if problem.softcap is not None or choice.label == "scale.after_softmax":
        return None
    one = State(scores=np.ones(()), d_k=problem.d_k)
    factor = float(choice.compute(problem, one)["scaled"])
    if not 0 < factor < 1e6:
        return None
    return Meant(f"state the factor on the scores, {factor!r}", {"scale": factor})


def _softcap(choice: Choice, _: Problem) -> Meant | None:
    cap = choice.number
    return Meant(f"state the soft cap on the scores, {cap:.6g}", {"softcap": cap}) if cap else None


def _sink(choice: Choice, _: Problem) -> Meant | None:
    sink = choice.number
    if not sink or sink <= 0:
        return None
    return Meant(f"state the constant in softmax's sum (a sink), {sink:.6g}", {"sink": sink})


def _causal(choice: Choice, _: Problem) -> Meant:
    if choice.variant == "top left":
        corner: dict[str, object] = {"causal": True, "causal_alignment": "top_left"}
        return Meant("say that it is causal and that the triangle ends at the first key", corner)
    return Meant("say that it is causal", {"causal": True})


MASK = "put the mask that you mean into the file, as `mask` (True = may attend)"


def _mask(choice: Choice, problem: Problem) -> Meant:
    """A mask of one's own; it stands alone where it shows what the stated triangle hides."""
    looks_ahead = problem.causal and not choice.variant.endswith(" 0 ahead")
    if looks_ahead and choice.label != "softmax.top_k":
        return Meant(f"{MASK}. If it shows later keys, say that it is not causal", {"causal": False})
    return Meant(MASK)


def _turned(choice: Choice, _: Problem) -> Meant:
    if choice.label == "score.rope_not_wanted" and not choice.variant:
        return Meant("say that q and k still need rotary positions", {"rope": True})
    return Meant(
        "save q and k after they are turned, and do not say that they still need it", {"rope": False}
    )


def _other_layout(problem: Problem, layout: str) -> Meant | None:
    other = {"BHTD": ("BTHD", "(B, T, h, d)"), "BTHD": ("BHTD", "(B, h, T, d)")}.get(layout)
    if other is None or problem.masks:
        return None
    sentence = f"say that the axes of q, k and v are {other[1]}, and leave the number of heads unsaid"
    return Meant(sentence, {"layout": other[0], "n_heads": None, "n_kv_heads": None})


#: by label; other factors on the scores need no entry
WAYS: dict[str, Way] = {
    "scale.softcapped": _softcap,
    "softmax.plus_one": _sink,
    "softmax.constant_added": _sink,
    "scale.softcap_missing": _always("leave the soft cap unsaid", softcap=None),
    "softmax.sink_missing": _always("leave the constant in softmax's sum unsaid", sink=None),
    "softmax.top_k": _mask,
    "mask.window_not_wanted": _mask,
    "mask.other_cells": _mask,
    "mask.causal_not_wanted": _causal,
    "mask.causal_top_left": _always(
        "say that the triangle ends at the first key", causal_alignment="top_left"
    ),
    "mask.causal_lower_right": _always(
        "say that the triangle ends at the last key", causal_alignment="lower_right"
    ),
    "score.rope_not_wanted": _turned,
    "score.rope_missing": _turned,
    "score.rope_interleaved": _turned,
    "score.rope_frequencies": _turned,
    "score.rope_partial": _turned,
    "score.normalised": _always("save q and k as they enter the dot product, after the normalisation"),
    "score.alibi_not_wanted": _always("say that the scores get an ALiBi bias", alibi=True),
    "score.alibi_missing": _always("do not say that the scores get an ALiBi bias", alibi=False),
    "score.alibi_slopes": _always(
        "put your own bias into the file, as `bias`, and do not say ALiBi", alibi=False
    ),
    "score.alibi_sign": _always(
        "put your own bias into the file, as `bias`, and do not say ALiBi", alibi=False
    ),
    "blend.residual_added": _always("save `out` before the residual is added"),
    "blend.residual_subtracted": _always("save `out` before the residual is subtracted"),
    "blend.output_scaled": _always("save `out` before it is multiplied"),
    "projection.wo_missing": _always("leave wo out of the file"),
}
