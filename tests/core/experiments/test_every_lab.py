"""What every lab owes its page: a caption and a note with clean numbers, its seed, and its time."""

import dataclasses
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
    prose,
    saturation,
    splitting,
    training,
    variance,
)
from core.heads import merge_heads
from core.masks import causal
from core.setup import Setup, inputs, run

BUDGET = 0.150  # seconds of computation for what follows a slider
KITE = run(Setup()).heads.head(0)
QKV = KITE.q, KITE.k, KITE.v
LARGE = inputs(Setup(example="random", seq_len=64, d_k=64, n_heads=8))
LARGE_ONE = LARGE.q[0], LARGE.k[0], LARGE.v[0]
LARGE_STEPS = run(Setup(example="random", seq_len=64, d_k=64)).heads.head(0)
TWO = inputs(Setup(example="two_heads", n_heads=2))
WORDS = inputs(Setup()).key_tokens

# Everything that may follow a slider, at its start and at its largest.
SLIDERS: dict[str, Callable[[], Any]] = {
    "variance": variance.variance_lab,
    "variance, widest": lambda: variance.variance_lab(1024),
    "variance curve": variance.variance_curve,
    "saturation": saturation.saturation_lab,
    "saturation, widest": lambda: saturation.saturation_lab(1024, 64),
    "gradients, 8 keys": saturation.gradient_curve,
    "gradients, 64 keys": lambda: saturation.gradient_curve(64),
    "nudge": lambda: saturation.nudge_lab(KITE.scores[4], 4, 1, "it", "kite"),
    "divisors": divisors.divisor_lab,
    "hardness": lambda: hardness.hardness_lab(KITE.scaled_scores[4], 3.0, WORDS),
    "shift": lambda: hardness.shift_lab(KITE.scaled_scores[4], 100.0),
    "axis": lambda: hardness.axis_lab(LARGE_STEPS.scaled_scores),
    "soft and hard": lambda: hardness.soft_hard_lab(LARGE_STEPS.scaled_scores[5], LARGE_STEPS.v),
    "dilution": dilution.dilution_lab,
    "formats": lambda: formats.formats_lab(LARGE_STEPS.scores[4]),
    "fills": lambda: formats.fills_lab(LARGE_STEPS.scores[4]),
    "blend": lambda: blending.blend_lab(KITE, 4, "it", WORDS, ("who", "event", "state")),
    "hull": lambda: blending.hull_lab(
        blending.blend_lab(LARGE_STEPS, 4, "it", LARGE.key_tokens, LARGE.value_channels)
    ),
    "doubling": lambda: blending.doubling_lab(LARGE_STEPS),
    "doubling q": lambda: blending.doubling_lab(LARGE_STEPS, "q"),
    "masks": lambda: masking.mask_lab(*QKV, causal(7)),
    "masks, 64 words": lambda: masking.mask_lab(*LARGE_ONE, causal(64)),
    "prefixes, 64 words": lambda: prefixes.prefix_lab(*LARGE_ONE),
    "conventions": lambda: conventions.convention_lab(KITE.scaled_scores, causal(7)),
    "painting": lambda: painting.painted_lab(*LARGE_ONE, causal(64), "0.0;3.7"),
    "split": lambda: splitting.split_lab(*(merge_heads(x) for x in (LARGE.q, LARGE.k, LARGE.v)), 8),
    "merge": lambda: splitting.merge_lab(run(Setup(n_heads=8, seq_len=64)).heads.output),
    "loop": lambda: splitting.loop_lab(LARGE.q, LARGE.k, LARGE.v),
    "width": lambda: heads_compared.width_lab(TWO.q, TWO.k, TWO.v, TWO.query_tokens, TWO.key_tokens),
    "cost": heads_compared.cost_lab,
    "mixing": lambda: heads_compared.mixing_lab(
        run(Setup(n_heads=2)).heads.output, inputs(Setup(n_heads=2)).w_o
    ),
}
BUTTONS: dict[str, Callable[[], Any]] = {
    "training": lambda: next(training.train_pair(*training.scale_pair(training.Training(4, n_steps=10)))),
    "controls": lambda: next(training.train_pair(*training.control_pair(training.Training(4, n_steps=10)))),
    "sweep": lambda: next(training.sweep(training.Training(4, n_steps=10))),
    "fetching": lambda: next(fetching.fetch(4, n_runs=3, n_steps=5)),
}
LABS = SLIDERS | BUTTONS


@pytest.mark.parametrize("name", [name for name in LABS if name != "fills"])
def test_a_lab_tells_what_to_look_at_and_when_it_holds(name):
    lab = LABS[name]()
    for text in (lab.caption, lab.note):
        assert text[0].isupper() or text[0] in "+−0123456789i"
        assert text.endswith((".", ")"))
        assert "  " not in text
        assert not re.search(r"nan|inf\b|\de[-+]\d|(?<![\w^-])-\d|−0(\.0+)?(?![.\d])|np\.|array\(", text), (
            text
        )


@pytest.mark.parametrize("name", LABS)
def test_a_lab_repeats_itself(name):
    first, second = LABS[name](), LABS[name]()
    assert _same(first, second)


def _same(a: Any, b: Any) -> bool:
    """Equal to the last bit, arrays and records included."""
    if dataclasses.is_dataclass(a):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return a == b or (a != a and b != b)


@pytest.mark.parametrize(
    ("lab", "other"),
    [
        (variance.variance_lab(4, 0).raw_scores, variance.variance_lab(4, 1).raw_scores),
        (saturation.saturation_lab(4, seed=0).raw_row, saturation.saturation_lab(4, seed=1).raw_row),
    ],
)
def test_another_seed_gives_other_numbers(lab, other):
    assert not np.array_equal(lab, other)


@pytest.mark.parametrize("name", SLIDERS)
def test_what_follows_a_slider_is_quick(name):
    """The quickest of three, in time of this process: another program's work does not count."""
    times = []
    for _ in range(3):
        start = time.process_time()
        lab = SLIDERS[name]()
        assert name == "fills" or lab.caption
        times.append(time.process_time() - start)
    assert min(times) < BUDGET


@pytest.mark.parametrize(
    "table",
    [
        divisors.divisor_lab().table,
        formats.formats_lab(KITE.scores[4]).table,
        formats.fills_table(formats.fills_lab(KITE.scores[4])),
        heads_compared.cost_lab().table,
        conventions.torch_table(),
        masking.mask_lab(*QKV, causal(7)).table,
    ],
)
def test_tables_are_rectangular_texts(table):
    assert len(table) > 1
    assert {len(row) for row in table} == {len(table[0])}
    assert all(isinstance(cell, str) and cell for row in table for cell in row)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-0.0, "0"), (7.0, "7"), (0.0637, "0.064"), (0.0017, "0.0017"), (1.9e-6, "1.9×10⁻⁶"),
        (1026.6, "1\u202f027"), (-2.55, "−2.5"), (float("nan"), "NaN"), (-np.inf, "−∞"), (0.9996, "1.0"),
    ],
)  # fmt: skip
def test_numbers_to_significant_digits(value, text):
    assert prose.significant(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0"), (1, "100"), (1e-5, "<0.1"), (0.99999, ">99.9"), (0.362, "36"), (0.0047, "0.5")],
)
def test_percentages_are_0_or_100_only_when_they_are(share, text):
    assert prose.percent(share) == f"{text}\u00a0%"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (1.0, "1"), (1e-9, "<0.001"), (1 - 1e-9, ">0.999"), (0.8544, "0.854")]
)
def test_weights_are_0_or_1_only_when_they_are(value, text):
    assert prose.weight(value) == text


def test_fixed_never_prints_minus_zero():
    assert (prose.fixed(-0.001), prose.fixed(-1.5, 1)) == ("0.00", "−1.5")


def test_lists_read_like_sentences():
    assert [prose.listed(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
