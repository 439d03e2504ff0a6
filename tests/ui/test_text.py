"""Text files hold what the pages ask for; words from outside are shown as they are."""

import re

import pytest

from pages import PAGES
from ui import text

HOSTILE = "<b>*x*</b> `y` $z$ [a](b) :material/home: \\text{} | ~~s~~ #1 &lt; 1. 2) -\n# h"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_each_page_has_its_idea_and_its_pitfalls(page) -> None:
    assert text.part(page.slug, "Idea").startswith("**")
    assert page.slug in ("check", "teach") or text.part(page.slug, "What goes wrong here")


def test_an_unknown_heading_is_an_error() -> None:
    with pytest.raises(KeyError):
        text.part("score", "No such heading")


def test_literal_leaves_no_markdown_alive() -> None:
    escaped = text.literal(HOSTILE)
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)[<>*`$\[\]_|~#]", escaped.replace("&#58;", ""))
    assert ":" not in escaped


def test_table_has_one_line_for_each_row() -> None:
    lines = text.table(["", "a|b"], [["x", "1"], ["y", "2"]]).splitlines()
    assert lines == ["|  | a\\|b |", "| ---: | ---: |", "| x | 1 |", "| y | 2 |"]
