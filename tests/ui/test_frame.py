"""The formula lights the part that the page is about, and no other."""

import pytest

from core.export import listing
from pages import PAGES
from ui.frame import formula

LIT = r"\colorbox"


@pytest.mark.parametrize(
    ("part", "tex"),
    [("score", "QK"), ("scale", r"\sqrt"), ("softmax", r"\text{softmax}"), ("blend", "V$"), ("mask", "M$")],
)
def test_one_part_is_lit(part: str, tex: str) -> None:
    lit = formula(part)
    assert lit.count(LIT) == 1
    assert tex in lit.split(LIT)[1].split("$}")[0] + "$"


def test_the_first_page_lights_all_four() -> None:
    assert formula("all").count(LIT) == 4


def test_every_page_lights_something() -> None:
    assert all(LIT in formula(page.part) for page in PAGES)


def test_the_walk_lights_the_parts_in_the_order_of_the_code() -> None:
    of_the_code = dict.fromkeys(part for line, parts in listing("torch") for part in parts)
    walked = [page.part for page in PAGES if page.part in of_the_code]
    assert walked == [part for part in of_the_code if part != "mask"] + ["mask"]
