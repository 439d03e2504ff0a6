"""Every lab, opened by its link: it says what the core measures, follows its controls, and survives junk."""

import base64
import html
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.experiments import (
    blending,
    conventions,
    dilution,
    divisors,
    fetching,
    formats,
    hardness,
    heads_compared,
    masking,
    painting,
    prefixes,
    saturation,
    splitting,
    training,
    variance,
)
from core.heads import merge_heads
from core.masks import causal
from core.setup import Setup, inputs, run
from tests.pages.conftest import drawn
from ui import labs
from ui.labs.mask import FIRST_PAINTED
from ui.labs.training import SWEEP_STEPS

PAGES = {
    "scale": labs.scale,
    "softmax": labs.softmax,
    "blend": labs.blend,
    "mask": labs.mask,
    "heads": labs.heads,
}
LABS = [(slug, name) for slug, module in PAGES.items() for name in module.LABS]

KITE, GIVEN = run(Setup()).heads.head(0), inputs(Setup())
ROW = KITE.scaled_scores[4]
WORDS, CHANNELS = GIVEN.key_tokens, GIVEN.value_channels
QKV = KITE.q, KITE.k, KITE.v
TWO, TWO_GIVEN = run(Setup(n_heads=2)), inputs(Setup(n_heads=2))
FLAT = [merge_heads(x) for x in (TWO_GIVEN.q, TWO_GIVEN.k, TWO_GIVEN.v)]
ALL_HEADS = TWO_GIVEN.q, TWO_GIVEN.k, TWO_GIVEN.v
SMALL = training.Training(d_k=4)
BLEND = blending.blend_lab(KITE, 4, "it", WORDS, CHANNELS)
SLOPES = hardness.soft_hard_lab(ROW, KITE.v, 0, "who", WORDS)
FILLS = formats.fills_lab(ROW)


def last(records: object) -> object:
    """What a long experiment ends with."""
    return list(records)[-1]


# What each lab says, by the core alone: (page, lab, more of the link) -> captions.
SAYS: dict[tuple[str, str, str], Callable[[], list[str]]] = {
    ("scale", "Variance", ""): lambda: [variance.variance_lab().caption, variance.variance_curve().caption],
    ("scale", "Variance", "lab_d_k=256&seed=3"): lambda: [variance.variance_lab(256, 3).caption],
    ("scale", "Saturation", ""): lambda: [saturation.saturation_lab().caption],
    ("scale", "Saturation", "lab_d_k=1024&scale_on=false"): lambda: [saturation.saturation_lab(1024).caption],
    ("scale", "Gradient", ""): lambda: [saturation.gradient_curve().caption],
    ("scale", "Gradient", "n_keys=64&measure=dead+rows"): lambda: [saturation.gradient_curve(64).caption],
    ("scale", "Nudge", ""): lambda: [saturation.nudge_lab(KITE.scores[4], 4, 1, "it", "kite").caption],
    ("scale", "Nudge", "nudge=0.5&row=6&col=2"): lambda: [
        saturation.nudge_lab(KITE.scores[6], 4, 2, "wet", "fell", 0.5).caption
    ],
    ("scale", "Divisors", ""): lambda: [divisors.divisor_lab().caption],
    ("scale", "Divisors", "lab_d_k=16&lab_heads=1"): lambda: [divisors.divisor_lab(16, 1).caption],
    ("scale", "Training", "train_d_k=4"): lambda: [
        last(training.train_pair(*training.scale_pair(SMALL))).caption
    ],
    ("scale", "Cause", "train_d_k=4"): lambda: [
        last(training.train_pair(*training.control_pair(SMALL))).caption
    ],
    ("scale", "Step sizes", "sweep_d_k=4"): lambda: [
        last(training.sweep(replace(SMALL, n_steps=SWEEP_STEPS))).caption
    ],
    ("scale", "Fetching", "train_d_k=4&fetch_rate=3.0"): lambda: [last(fetching.fetch(4, 3.0)).caption],
    ("softmax", "Hardness", ""): lambda: [hardness.hardness_lab(ROW, 3.0, WORDS).caption],
    ("softmax", "Hardness", "hardness=0.0"): lambda: [hardness.hardness_lab(ROW, 0.0, WORDS).caption],
    ("softmax", "Shift", ""): lambda: [hardness.shift_lab(ROW, 100.0).caption],
    ("softmax", "Shift", "shift=1000"): lambda: [hardness.shift_lab(ROW, 1000.0).caption],
    ("softmax", "Rows or columns", ""): lambda: [hardness.axis_lab(KITE.scaled_scores, WORDS).caption],
    ("softmax", "Soft or hard", ""): lambda: [SLOPES.caption],
    ("softmax", "Number formats", ""): lambda: [
        formats.formats_lab(np.array([1000.0, 1001.0, 1002.0])).caption
    ],
    ("softmax", "Number formats", "format_row=the+selected+row"): lambda: [formats.formats_lab(ROW).caption],
    ("softmax", "Dilution", ""): lambda: [dilution.dilution_lab().caption],
    ("softmax", "Dilution", "gap=6.5"): lambda: [dilution.dilution_lab(6.5).caption],
    ("blend", "Contributions", ""): lambda: [BLEND.caption],
    ("blend", "Inside the values", ""): lambda: [blending.hull_lab(BLEND).caption],
    ("blend", "Inside the values", "hull_x=2"): lambda: [blending.hull_lab(BLEND, (2, 1)).caption],
    ("blend", "Doubling", ""): lambda: [blending.doubling_lab(KITE).caption],
    ("blend", "Doubling", "doubled=Q"): lambda: [blending.doubling_lab(KITE, "q").caption],
    ("blend", "Soft or hard", ""): lambda: [SLOPES.caption],
    ("mask", "Ways to mask", ""): lambda: [
        masking.mask_lab(*QKV, causal(7), WORDS).caption,
        masking.mask_lab(*QKV, causal(7), WORDS).variants[2].caption,
    ],
    ("mask", "Ways to mask", "variant=inverted"): lambda: [
        masking.mask_lab(*QKV, causal(7), WORDS).variants[8].caption
    ],
    ("mask", "Word by word", ""): lambda: [prefixes.prefix_lab(*QKV).caption],
    ("mask", "Paint a mask", ""): lambda: [painting.painted_lab(*QKV, causal(7), FIRST_PAINTED).caption],
    ("mask", "Paint a mask", "painted=0.0"): lambda: [painting.painted_lab(*QKV, causal(7), "0.0").caption],
    ("mask", "Two readings", ""): lambda: [conventions.convention_lab(KITE.scaled_scores, causal(7)).caption],
    ("mask", "Fill values", ""): lambda: [formats.fills_caption(FILLS)],
    ("heads", "Wrong reshape", ""): lambda: [splitting.split_lab(*FLAT, 2).caption],
    ("heads", "Wrong merge", ""): lambda: [splitting.merge_lab(TWO.heads.output).caption],
    ("heads", "Loop or product", ""): lambda: [splitting.loop_lab(*ALL_HEADS).caption],
    ("heads", "One wide head", ""): lambda: [
        heads_compared.width_lab(*ALL_HEADS, WORDS, WORDS).caption,
        heads_compared.width_lab(*ALL_HEADS, WORDS, WORDS).row_caption(4),
    ],
    ("heads", "Cost", ""): lambda: [heads_compared.cost_lab().caption],
    ("heads", "Cost", "cost_len=1024&cost_width=64"): lambda: [heads_compared.cost_lab(1024, 64).caption],
    ("heads", "W_O mixes", ""): lambda: [heads_compared.mixing_lab(TWO.heads.output, TWO.w_o, 0.5).caption],
    ("heads", "W_O mixes", "mixing=1.0"): lambda: [
        heads_compared.mixing_lab(TWO.heads.output, TWO.w_o, 1.0).caption
    ],
}  # fmt: skip
# The two d_k and the step size keep the long experiments short; all others are junk.
JUNK = {
    "lab_d_k": "65", "scale_on": "maybe", "measure": "?", "n_keys": "9", "nudge": "-1", "lab_heads": "3",
    "train_d_k": "4", "fetch_rate": "3.0", "rate": "x", "hardness": "99", "shift": "1e9", "gap": "NaN",
    "format_row": "<b>",
    "hull_x": "7", "hull_y": "-1", "doubled": "W", "variant": "none", "format": "int8", "cost_len": "0",
    "cost_width": "-", "mixing": "2", "sweep_d_k": "4", "optimiser": "lion",
}  # fmt: skip


def open_lab(open_page: Callable, slug: str, name: str, link: str = "") -> AppTest:
    """The page with this lab open."""
    more = dict(part.split("=") for part in link.split("&")) if link else {}
    values = {key: value.replace("+", " ") for key, value in more.items()}
    return open_page(slug, **{f"{slug}_lab": name}, **values)


def told(page: AppTest) -> list[str]:
    """What the page says, as it is read."""
    elements = [*page.main.get("markdown"), *page.main.get("caption")]
    return [html.unescape(element.value.replace("\\", "")) for element in elements]


def plotted(page: AppTest) -> list[dict]:
    """Every trace of every chart, its y decoded."""
    traces = [trace for chart in page.get("plotly_chart") for trace in json.loads(chart.proto.spec)["data"]]
    return [trace | {"y": _decoded(trace["y"])} for trace in traces if "y" in trace]


def _decoded(values: dict | list) -> np.ndarray:
    if isinstance(values, list):
        return np.array(values)
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])


@pytest.mark.parametrize(("slug", "name", "link"), SAYS)
def test_a_lab_says_what_the_core_measures(open_page: Callable, slug: str, name: str, link: str) -> None:
    said = told(open_lab(open_page, slug, name, link))
    for caption in SAYS[slug, name, link]():
        assert caption in said


def test_every_lab_is_opened_by_a_test() -> None:
    assert {(slug, name) for slug, name, _ in SAYS} == set(LABS)


@pytest.mark.parametrize("slug", PAGES)
def test_the_first_lab_is_open_and_junk_opens_it_too(open_page: Callable, slug: str) -> None:
    first = next(iter(PAGES[slug].LABS))
    clean, junk = told(open_page(slug)), told(open_lab(open_page, slug, "?", ""))
    assert clean == junk
    assert SAYS[slug, first, ""]()[0] in clean


@pytest.mark.parametrize(("slug", "name"), LABS)
def test_junk_in_a_labs_controls_gives_its_start(open_page: Callable, slug: str, name: str) -> None:
    start = next(captions for (page, lab, _), captions in SAYS.items() if (page, lab) == (slug, name))
    said = told(open_page(slug, **{f"{slug}_lab": name}, **JUNK))
    assert all(caption in said for caption in start())


@pytest.mark.parametrize(
    "setup", [{"example": "needle", "seq_len": 8}, {"seq_len": 64, "n_heads": 8, "mask": "window"}]
)
@pytest.mark.parametrize(("slug", "name"), [lab for lab in LABS if lab[0] != "scale"])
def test_a_lab_stands_in_any_state(open_page: Callable, slug: str, name: str, setup: dict) -> None:
    page = open_page(slug, **{f"{slug}_lab": name}, **setup)
    assert len(told(page)) > 3


# --- charts and controls ---


def test_bars_of_the_hardness_lab_are_the_weights(open_page: Callable) -> None:
    page = open_lab(open_page, "softmax", "Hardness", "hardness=2.0")
    lab = hardness.hardness_lab(ROW, 2.0, WORDS)
    sharper, usual = plotted(page)
    np.testing.assert_allclose(sharper["y"], lab.weights, rtol=1e-6)
    np.testing.assert_allclose(usual["y"], KITE.weights[4], rtol=1e-6)


@pytest.mark.parametrize("variant", ["no mask", "one position too short"])
def test_two_masks_are_drawn_side_by_side(open_page: Callable, variant: str) -> None:
    matrices = drawn(open_page("mask", mask_lab="Ways to mask", variant=variant), of_lab=True)
    found = {one.name: one.weights for one in masking.mask_lab(*QKV, causal(7)).variants}
    assert [matrix["title"] for matrix in matrices.values()] == [masking.RIGHT, variant]
    for matrix in matrices.values():
        np.testing.assert_array_equal(matrix["values"], found[matrix["title"]])


def test_a_painted_mask_is_drawn_with_its_weights(open_page: Callable) -> None:
    matrices = drawn(open_page("mask", mask_lab="Paint a mask", painted="0.2;4.1"), of_lab=True)
    lab = painting.painted_lab(*QKV, causal(7), "0.2;4.1")
    assert matrices["painted_mask"]["switches"]
    np.testing.assert_array_equal(matrices["painted_mask"]["values"], lab.allowed)
    np.testing.assert_array_equal(matrices["painted_weights"]["values"], lab.weights)


def test_a_wrong_reshape_is_drawn_with_the_words_its_numbers_came_from(open_page: Callable) -> None:
    matrices = drawn(open_page("heads", heads_lab="Wrong reshape", n_heads=2), of_lab=True)
    lab = splitting.split_lab(*FLAT, 2)
    for name, steps, origins in (
        ("right", lab.right, lab.right_origins),
        ("wrong", lab.wrong, lab.wrong_origins),
    ):
        np.testing.assert_array_equal(matrices[name]["values"], steps.k.reshape(14, 4))
        origin = np.frombuffer(base64.b64decode(matrices[name]["origin"]), "<i4")
        np.testing.assert_array_equal(origin, origins.ravel())
        np.testing.assert_array_equal(matrices[f"{name}_weights"]["values"], steps.weights[0])


def test_switched_off_scale_leaves_the_raw_scores_alone(open_page: Callable) -> None:
    page = open_page("scale")
    page.toggle(key="scale_on").set_value(False).run()
    hidden = [trace["name"] for trace in plotted(page) if trace.get("visible") == "legendonly"]
    assert hidden == ["with the scale", "with the scale"]


def test_the_slider_of_a_lab_moves_its_numbers(open_page: Callable) -> None:
    page = open_page("scale")
    page.select_slider(key="lab_d_k").set_value(1024).run()
    assert variance.variance_lab(1024).caption in told(page)


# --- long experiments ---


def test_a_training_is_kept_with_its_settings_until_it_is_run_again(open_page: Callable) -> None:
    page = open_lab(open_page, "scale", "Training", "train_d_k=4")
    at_10 = SAYS["scale", "Training", "train_d_k=4"]()[0]
    page.select_slider(key="rate").set_value(3.0).run()
    assert at_10 in told(page)
    assert any("belong to other settings" in words for words in told(page))
    page.button(key="train").click().run()
    at_3 = last(training.train_pair(*training.scale_pair(replace(SMALL, learning_rate=3.0)))).caption
    assert at_3 != at_10
    assert at_3 in told(page)
    assert not any("belong to other settings" in words for words in told(page))


def test_curves_of_a_training_are_the_smoothed_losses(open_page: Callable) -> None:
    page = open_lab(open_page, "scale", "Training", "train_d_k=4")
    lab = last(training.train_pair(*training.scale_pair(SMALL)))
    first, second = plotted(page)[-2:]
    np.testing.assert_allclose(first["y"], lab.first.smooth_losses, rtol=1e-5)
    np.testing.assert_allclose(second["y"], lab.second.smooth_losses, rtol=1e-5)


# --- the two claims that the Heads page itself shows ---


def test_the_fan_is_drawn_with_its_shapes(open_page: Callable) -> None:
    page = open_page("heads", example="two_heads", n_heads=2)
    fan = next(one.proto.body for one in page.get("html") if 'class="fan"' in one.proto.body)
    stages = ("Q, K, V", "7 × 8", "head 0", "7 × 4", "head 1", "Concat", "· W_O", "Output")
    places = [fan.index(stage) for stage in stages]
    assert places == sorted(places)


def test_the_three_stages_are_named(open_page: Callable) -> None:
    page = open_page("heads")
    parts = [one for one in page.get("button_group") if one.key == "part"]
    assert list(parts[0].options) == ["Heads side by side", "Shapes", "Concatenate and project"]


def test_the_fan_tells_the_width_of_v_where_it_is_another(open_page: Callable) -> None:
    page = open_page("heads", n_heads=2)
    fan = next(one.proto.body for one in page.get("html") if 'class="fan"' in one.proto.body)
    given = inputs(Setup(n_heads=2))
    (h, n, d_k), d_v = given.q.shape, given.v.shape[-1]
    assert f"Q, K {n} × {h * d_k} · V {n} × {h * d_v}" in fan
    assert d_k != d_v
