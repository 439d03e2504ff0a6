"""Notes, plans and glossary are whole, name what exists, and hold no number that could go stale."""

import re

import pytest

from core.quiz import POLLS, TEMPLATES
from ui.teaching import PLANS, TEACH, glossary, has_notes, notes, plan, terms_of

PAGES = (
    "start",
    "score",
    "scale",
    "softmax",
    "blend",
    "mask",
    "heads",
    "break_it",
    "code",
    "check",
    "real_heads",
    "clinic",
)


@pytest.mark.parametrize("slug", PAGES)
def test_notes_are_whole(slug):
    found = notes(slug)
    assert all((found.say, found.ask, found.expect, found.show, found.trap))
    assert 2 <= found.minutes <= 10
    assert set(found.items) <= set(TEMPLATES)
    assert not re.search(r"[{}]", f"{found.say}{found.ask}{found.expect}{found.show}{found.trap}")


def test_every_file_of_notes_is_a_pages():
    files = {path.stem for path in TEACH.glob("*.md") if not path.stem.startswith("plan-")}
    assert files == set(PAGES)
    assert has_notes("score")
    assert not has_notes("nothing")


@pytest.mark.parametrize("path", sorted(TEACH.glob("*.md")), ids=lambda path: path.stem)
def test_prose_holds_no_computed_number_of_its_own(path):
    """Numbers come from core.facts by name; a decimal here would be one that nobody computes."""
    assert not re.search(r"\d[.,]\d", path.read_text(encoding="utf-8"))


def test_the_numbers_are_filled_in():
    assert "{products}" in (TEACH / "score.md").read_text(encoding="utf-8")
    assert "3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8" in notes("score").show
    assert "0.854 becomes 0.990" in notes("scale").trap


@pytest.mark.parametrize("minutes", PLANS)
def test_a_plan_fills_its_time_with_pages_and_items_that_exist(minutes):
    found = plan(minutes)
    assert sum(stop.minutes for stop in found.stops) == minutes
    assert {stop.page for stop in found.stops} <= set(PAGES)
    assert {stop.item for stop in found.stops} - {""} <= set(TEMPLATES)
    assert all(stop.what for stop in found.stops)
    assert found.title.endswith(f"{minutes} minutes")
    assert found.about


def test_the_plans_poll_what_suits_a_poll():
    polled = {stop.item for minutes in PLANS for stop in plan(minutes).stops} - {""}
    assert polled - {"B1", "D2"} <= set(POLLS)


def test_the_glossary_has_its_thirty_terms_and_each_is_met():
    terms = glossary()
    assert len(terms) == len({term.name for term in terms}) == 30
    assert all(term.meaning and term.pages for term in terms)
    assert {page for term in terms for page in term.pages} <= set(PAGES)
    for page in ("start", "score", "scale", "softmax", "blend", "mask", "heads", "code"):
        assert terms_of(page), page
    assert terms_of("nothing") == ()
