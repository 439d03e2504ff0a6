"""The labs that follow the reader's own setup hold at its corners: every example, size, mask and head."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from core.attention import attention
from core.examples import EXAMPLES
from core.experiments import (
    blending,
    conventions,
    divisors,
    formats,
    hardness,
    heads_compared,
    masking,
    painting,
    prefixes,
    saturation,
    splitting,
)
from core.offered import MASKS
from core.setup import Setup, allowed, inputs

CORNERS = [
    Setup(example=example, seq_len=seq_len, d_k=d_k, n_heads=n_heads, mask=mask)
    for (example, mask), (seq_len, d_k, n_heads) in itertools.product(
        itertools.product(EXAMPLES, MASKS), [(2, 1, 1), (7, 4, 2), (64, 64, 8)]
    )
]


def texts(setup: Setup) -> list[str]:
    """Captions and notes of every lab that takes the setup's tensors."""
    given, hidden = inputs(setup), allowed(setup)
    q, k, v = given.q[0], given.k[0], given.v[0]
    steps = attention(q, k, v, hidden)
    last = len(q) - 1
    names = given.key_tokens
    visible = np.ones(steps.scores.shape, dtype=bool) if hidden is None else hidden
    blend = blending.blend_lab(steps, last, given.query_tokens[last], names, given.value_channels)
    labs: list[Any] = [
        blend,
        blending.hull_lab(blend),
        blending.doubling_lab(steps, "v", hidden),
        blending.doubling_lab(steps, "q", hidden),
        saturation.nudge_lab(steps.scores[last], setup.d_k, 1, "a", "b"),
        divisors.divisor_lab(setup.d_k, setup.n_heads, example_row=steps.scores[last], n_rows=50),
        hardness.hardness_lab(steps.masked_scores[last], 3.0, names),
        hardness.shift_lab(steps.scaled_scores[last], 100.0),
        hardness.axis_lab(steps.scaled_scores, names),
        hardness.soft_hard_lab(steps.masked_scores[last], v, 0, given.value_channels[0], names),
        formats.formats_lab(steps.scores[last]),
        masking.mask_lab(q, k, v, visible),
        *masking.mask_lab(q, k, v, visible).variants,
        conventions.convention_lab(steps.scaled_scores, visible),
        painting.painted_lab(q, k, v, hidden, "0.0;0.1"),
        heads_compared.width_lab(given.q, given.k, given.v, given.query_tokens, names, hidden),
        heads_compared.mixing_lab(attention(given.q, given.k, given.v, hidden).output, given.w_o),
        splitting.merge_lab(attention(given.q, given.k, given.v, hidden).output),
    ]
    if q.shape[0] == k.shape[0]:
        labs += [prefixes.prefix_lab(q, k, v), splitting.loop_lab(given.q, given.k, given.v)]
    return [text for lab in labs for text in (lab.caption, getattr(lab, "note", ""))]


@pytest.mark.parametrize("setup", CORNERS, ids=lambda s: f"{s.example}-{s.seq_len}-{s.mask}")
def test_every_lab_holds_at_the_corners(setup):
    for text in texts(setup):
        assert not re.search(r"\bnan\b|\binf\b|(?<![\w^-])-\d|−0(\.0+)?(?![.\d])|np\.|array\(", text), text
        assert text == "" or text.endswith((".", ")")), text
