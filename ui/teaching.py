"""What a teacher and a learner look up: speaker notes, lesson plans, the glossary. Prose from assets/."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.facts import fill
from ui.text import TEXT

TEACH = TEXT.parent / "teach"
PLANS = (20, 50, 90)  # minutes
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_MET_ON = "Met on:"


@dataclass(frozen=True, slots=True)
class Notes:
    """A page's speaker notes, as Markdown with its numbers filled in."""

    say: str
    ask: str
    items: tuple[str, ...]  # ids of the quiz items that suit a poll here
    expect: str
    show: str
    trap: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of a plan."""

    minutes: int
    page: str  # slug
    item: str  # id of the item to poll; "" for none
    what: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A lesson of a given length."""

    title: str
    about: str
    stops: tuple[Stop, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of the glossary."""

    name: str
    meaning: str
    pages: tuple[str, ...]  # slugs of the pages where it is met


def has_notes(slug: str) -> bool:
    """Whether there are notes for a page."""
    return (TEACH / f"{slug}.md").is_file()


@lru_cache
def notes(slug: str) -> Notes:
    """The notes of a page. Raises FileNotFoundError where there are none, KeyError for a missing part."""
    parts = _parts(TEACH / f"{slug}.md")
    prose = {name.lower(): fill(parts[name]) for name in ("Say", "Ask", "Expect", "Show", "Trap")}
    return Notes(**prose, items=_listed(parts["Items"]), minutes=int(parts["Minutes"]))


@lru_cache
def plan(minutes: int) -> Plan:
    """The plan for one of PLANS. Raises FileNotFoundError for another length."""
    text = (TEACH / f"plan-{minutes}.md").read_text(encoding="utf-8")
    title, about, *table = filter(None, text.splitlines())
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    stops = tuple(Stop(int(time), page, item, what) for time, page, item, what in rows)
    return Plan(title.removeprefix("# "), about, stops)


@lru_cache
def glossary() -> tuple[Term, ...]:
    """All terms, in the order in which they are met."""
    return tuple(
        Term(name, meaning.strip(), _listed(pages))
        for name, text in _parts(TEXT / "glossary.md").items()
        for meaning, _, pages in [text.partition(_MET_ON)]
    )


def terms_of(slug: str) -> tuple[Term, ...]:
    """The terms that are met on a page."""
    return tuple(term for term in glossary() if slug in term.pages)


def _parts(path: Path) -> dict[str, str]:
    """heading -> the text under it."""
    parts = _HEADING.split(path.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


def _listed(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())
