"""Words of somebody else's file in what a reader takes along: never a formula, a tag or a line of code."""

import ast
import csv
import io
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from core.captures import to_capture
from core.export import VERSIONS, as_notebook, as_python, matrices_page, to_csv, to_json
from core.setup import Setup
from tests.hostile import HOSTILE

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
OURS = {
    *("html", "head", "meta", "title", "style", "body"),
    *("p", "button", "h1", "h2", "div", "table", "caption", "tr", "th", "td"),
}


class Tags(HTMLParser):
    """Every tag of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: set[str] = set()

    def handle_starttag(self, tag: str, _: object) -> None:
        self.opened.add(tag)


def setup() -> Setup:
    words = [word for word in HOSTILE if "\x00" not in word[-1:]]  # NumPy drops a NUL at a text's end
    q = np.ones((1, len(words), 4), np.float32)
    made = to_capture({"q": q, "k": q, "v": q, "tokens": np.array(words), "source": np.array(words[0])})
    return Setup("yours", len(words), 4, real_head="0", capture=made)


def test_no_cell_of_a_table_is_a_formula() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(setup()))))
    assert {len(row) for row in rows} == {7}
    labels = {cell for row in rows[1:] for cell in row[4:6]}
    assert len(labels) > 20
    assert not [label for label in labels if label.startswith(FORMULA)]
    assert all(isinstance(float(row[6]), float) for row in rows[1:])


@pytest.mark.parametrize("version", VERSIONS)
def test_words_stay_texts_in_programs(version: str) -> None:
    calls = {name for name in ast.walk(ast.parse(as_python(setup(), version))) if isinstance(name, ast.Call)}
    assert not [call for call in calls if "struck" in ast.unparse(call)]
    book = json.loads(as_notebook(setup(), version))
    told = "".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown")
    assert "struck" not in told
    as_python(setup(), version).encode()


def test_a_page_to_print_has_no_tags_but_its_own() -> None:
    tags = Tags()
    tags.feed(matrices_page(setup(), "http://127.0.0.1/?" + HOSTILE[1]))
    assert tags.opened == OURS
    assert json.loads(to_json(setup()))["setup"]["example"] == "yours"
