from dataclasses import replace
from html.parser import HTMLParser

import pytest

from core.export import matrices_page
from core.numbers import number
from core.setup import Setup, run
from tests.core.export.corners import CORNERS


class Tables(HTMLParser):
    """Captions and cells, as text."""

    def __init__(self, page):
        super().__init__()
        self.captions, self.cells, self.opened, self.inside = [], [], [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, _):
        self.opened.append(tag)
        if tag == "table":
            self.cells.append([])
        self.inside = tag if tag in ("caption", "td") else None
        if tag == "td":
            self.cells[-1].append("")

    def handle_endtag(self, _):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "caption":
            self.captions.append(data)
        elif self.inside == "td":
            self.cells[-1][-1] += data


def test_the_page_holds_the_matrices_of_the_kite():
    tables = Tables(matrices_page(Setup()))
    steps = run(Setup()).heads.head(0)
    by_caption = dict(zip(tables.captions, tables.cells, strict=True))
    assert by_caption["S = Q Kᵀ (7 × 7)"] == [number(value) for value in steps.scores.ravel()]
    assert by_caption["A = softmax of each row (7 × 7)"] == [number(value) for value in steps.weights.ravel()]
    assert by_caption["O = A V (7 × 3)"] == [number(value) for value in steps.output.ravel()]
    assert len(tables.captions) == 10


def test_a_mask_is_printed_as_minus_infinity_and_exact_zeros():
    by_caption = dict(
        zip(*(lambda t: (t.captions, t.cells))(Tables(matrices_page(Setup(mask="causal")))), strict=True)
    )
    assert by_caption["Z with the mask (7 × 7)"].count("−∞") == 21
    assert by_caption["A = softmax of each row (7 × 7)"].count("0") == 21


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_any_state_has_a_page_of_a_size_that_prints(setup):
    page = matrices_page(setup)
    tables = Tables(page)
    assert len(tables.captions) == len(tables.cells)
    assert all(len(cells) <= 256 for cells in tables.cells)
    assert "@media print" in page


def test_a_large_matrix_says_that_it_is_cut():
    assert any("the first 16 × 4" in caption for caption in Tables(matrices_page(Setup(seq_len=40))).captions)


def test_everything_is_escaped():
    attack = '<script>alert("x")</script>&'
    page = matrices_page(replace(Setup(), edits=attack), link=f"https://example.org/?{attack}")
    assert "<script" not in page
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;" in page
    assert "script" not in Tables(page).opened


def test_of_the_edits_those_are_printed_that_count():
    page = matrices_page(Setup(edits="q.0.4.0=5.0; buy now ;k.9.0.0=1;v.0.1.0=1e9"))
    assert "Edited by hand: q.0.4.0=5;v.0.1.0=99." in page.replace("k.9.0.0=1;", "")
    assert "buy now" not in page
