"""The 32 items by their id, in the order of the lesson."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from core.quiz import blend, heads, mask, scale, score, softmax, symptoms
from core.quiz.case import Case
from core.quiz.model import Item


@dataclass(frozen=True, slots=True)
class Template:
    """How an item is made for any seed."""

    page: str
    make: Callable[[Case], Item]


_MODULES = {
    "score": (score, ("s1", "s2", "s3", "s4", "s5")),
    "scale": (scale, ("c1", "c2", "c3", "c4", "c5", "c6")),
    "softmax": (softmax, ("w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8")),
    "blend": (blend, ("b1", "b2", "b3")),
    "mask": (mask, ("m1", "m2", "m3", "m4")),
    "heads": (heads, ("h1", "h2", "h3", "h4")),
    "clinic": (symptoms, ("d1", "d2")),
}

TEMPLATES: dict[str, Template] = {
    name.upper(): Template(page, getattr(module, name))
    for page, (module, names) in _MODULES.items()
    for name in names
}
PAGES = tuple(_MODULES)  # slugs of the pages that items belong to, in the order of the lesson
POLLS = ("S2", "S3", "S5", "C2", "C5", "W1", "W2", "W7", "M2", "M3", "M4", "H2", "D1")
PREDICTIONS = {  # the item that a page asks: one whose answer the page does not show yet
    "score": "S3", "scale": "C3", "softmax": "W1", "blend": "B2", "mask": "M4", "heads": "H4",
    "break_it": "D2", "code": "B3", "clinic": "D1",
}  # fmt: skip
MAX_SEED = 9999
LOOK_AHEAD = 60  # seeds that are looked through for a twin


@lru_cache(maxsize=512)
def item(item_id: str, seed: int = 0) -> Item:
    """One item. Seed 0 is the author's own; 1 to 9999 ask the same question of other numbers.

    Raises KeyError for an unknown id, ValueError for a seed out of range.
    """
    template = TEMPLATES[item_id]
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed is {seed}, but it must be from 0 to {MAX_SEED}")
    return template.make(Case.of(item_id, template.page, item_id in POLLS, seed))


def next_twin(make: Callable[[int], Item], seed: int, met: Iterable[int] = ()) -> int | None:
    """The next seed that asks something else than this one and those that were met; None where none is near.

    `make` gives the item of a seed. A twin that only shuffles the options asks the same.
    """
    asked = {make(number).asks for number in {seed, *met}}
    following = ((seed + step) % (MAX_SEED + 1) for step in range(1, LOOK_AHEAD + 1))
    return next((number for number in following if make(number).asks not in asked), None)


def items_of(page: str) -> tuple[str, ...]:
    """The ids of a page's items; () for a page without any."""
    return tuple(item_id for item_id, template in TEMPLATES.items() if template.page == page)
