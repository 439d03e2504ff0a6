"""The trace card on the step pages."""

import re

import pytest

from core.arithmetic import blend_cell, mask_cell, scale_cell, softmax_cell
from core.setup import Setup, inputs, run
from core.trace import LEVEL_OF, card
from tests.pages.conftest import words

WRITTEN = {"scale": scale_cell, "softmax": softmax_cell, "blend": blend_cell, "mask": mask_cell}
SLUGS = [slug for slug, level in LEVEL_OF.items() if slug != "check"]


def chain(app):
    """The four boxes as they are read."""
    markup = next(element.proto.body for element in app.get("html") if 'class="chain"' in element.proto.body)
    return re.findall(r"<b>(.*?)</b>", markup)


def blank(app, name):
    return next(
        one for one in app.text_input if one.key.startswith("trace ") and one.key.endswith(f" {name}")
    )


def fill(app, answers):
    for name, answer in answers.items():
        blank(app, name).set_value(answer).run()
    assert not app.exception


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("score", ["8", "?", "?", "?"]),
        ("scale", ["8", "4", "?", "?"]),
        ("softmax", ["8", "4", "0.854", "?"]),
        ("blend", ["8", "4", "0.854", "7.851"]),
        ("mask", ["8", "4", "0.925", "8.419"]),
    ],
)
def test_the_chain_grows_from_page_to_page(open_page, slug, expected):
    assert chain(open_page(slug)) == expected


def test_the_whole_card_of_the_kite_filled_by_hand(open_page):
    for slug, answers, before, after in (
        ("scale", {"scaled": "4"}, ["8", "?", "?", "?"], ["8", "4", "?", "?"]),
        ("softmax", {"power": "54.6", "total": "63.9", "weight": "0.854"}, ["8", "4", "?", "?"], None),
        ("blend", {"output.0": "7.85", "output.1": "0,16", "output.2": "1.51"},
         ["8", "4", "0.854", "?"], None),
        ("mask", dict(zip([f"weight.{i}" for i in range(7)],
                          ["0.006", "0.925", "0.017", "0.006", "0.046", "0", "0"], strict=True)),
         ["8", "4", "?", "?"], None),
    ):  # fmt: skip
        app = open_page(slug, by_hand="true")
        assert chain(app) == before
        assert "All right." not in words(app)
        fill(app, answers)
        assert "All right." in words(app)
        assert chain(app) == (after or [number or "?" for _, number in _card(slug).solved])


def _card(slug):
    return card(Setup(mask="causal" if slug == "mask" else "none"), LEVEL_OF[slug], 4, 1)


def test_a_wrong_number_is_told_what_it_would_mean(open_page):
    app = open_page("scale", by_hand="true")
    fill(app, {"scaled": "2"})
    assert "You divided by d_k = 4" in words(app)
    assert chain(app)[1] == "?"
    fill(app, {"scaled": "about 4"})
    assert "Type a number here" in words(app)


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug != "score"])
def test_by_hand_the_calculation_is_not_written_out(open_page, slug):
    steps, col = (
        run(Setup(mask="causal" if slug == "mask" else "none")).heads.head(0),
        0 if slug == "blend" else 2,
    )
    worked = WRITTEN[slug](steps, 1, col, inputs(Setup()))
    assert worked.question in words(open_page(slug, row=1, col=2))
    app = open_page(slug, by_hand="true", row=1, col=2)
    assert worked.question not in words(app)
    assert worked.lines[-1] not in words(app)


def test_any_cell_of_any_state_can_be_filled(open_page):
    app = open_page("softmax", by_hand="true", row=2, col=5, seq_len=30, n_heads=2, head=1, mask="causal")
    made = card(Setup(seq_len=30, n_heads=2, mask="causal"), "three blanks", 2, 5, 0, 1)
    fill(app, {b.id: repr(b.answer) for b in made.blanks})
    assert "All right." in words(app)
    assert run(Setup(seq_len=30, n_heads=2, mask="causal")).heads.weights[1, 2, 5] == 0


def test_another_cell_has_its_own_blanks(open_page):
    app = open_page("scale", by_hand="true")
    fill(app, {"scaled": "4"})
    app.number_input(key="row").set_value(1).run()
    assert blank(app, "scaled").value == ""
    app.number_input(key="row").set_value(4).run()
    assert blank(app, "scaled").value == "4"
    assert "All right." in words(app)
