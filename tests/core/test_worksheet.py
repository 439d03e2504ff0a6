import re
from html import escape

import numpy as np
import pytest

from core import quiz
from core.numbers import number
from core.setup import Setup, run
from core.worksheet import QUESTIONS, exponents, on_paper, worksheet
from tests.core.export.corners import CORNERS
from tests.core.export.test_printable import Tables


def halves(page):
    """Captions -> cells, before the answers and after."""
    tasks, answers = page.split("Answers, variant", 1)
    made = [Tables(half) for half in (tasks, answers)]
    return [dict(zip(half.captions, half.cells, strict=True)) for half in made]


def test_the_answers_are_the_cores():
    _, answers = halves(worksheet(Setup()))
    steps = run(Setup()).heads.head(0)
    assert answers["S = Q Kᵀ"] == [number(value) for value in steps.scores.ravel()]
    assert answers["Z"] == [number(value) for value in steps.scaled_scores[4]]
    assert answers["Row “it”"][:8] == ["0.368", "54.598", "1", "0.368", "2.718", "0.368", "4.482", "63.902"]
    assert answers["Row “it”"][8:] == [*(number(value) for value in steps.weights[4]), "1"]
    assert answers["The output of “it”: who"][-1] == "7.851"
    assert any(set(cells) >= {"0"} for caption, cells in answers.items() if "mask" in caption)


def test_the_tasks_leave_what_is_asked_open():
    tasks, answers = halves(worksheet(Setup()))
    assert tasks["S = Q Kᵀ"].count("") == 4
    assert tasks["S = Q Kᵀ"][4 * 7 + 1] == ""
    for caption in ("Z", "Row “it”", "The output of “it”: who", "A with the causal mask"):
        assert set(tasks[caption]) == {""}
        assert len(tasks[caption]) == len(answers[caption])
    assert "0.854" not in str(tasks)


def test_no_reason_stands_before_the_answer_sheet():
    tasks, answers = worksheet(Setup(), 3).split("Answers, variant", 1)
    for item_id in QUESTIONS:
        assert escape(quiz.item(item_id, 3).question) in tasks
        assert escape(quiz.item(item_id, 3).reason) not in tasks
        assert escape(quiz.item(item_id, 3).reason) in answers


def test_the_table_holds_every_power_that_occurs_and_no_other():
    assert exponents(Setup()) == tuple(np.unique(exponents(Setup())))
    for seed in range(6):
        z = exponents(Setup(), seed)
        assert set(z) <= {-2.0, -1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 4.0}, "the eight of the lesson"
        tasks, _ = halves(worksheet(Setup(), seed))
        assert tasks["Powers of e that occur"] == [number(float(np.exp(value))) for value in z]


def test_seeds_make_variants_and_the_same_seed_the_same_page():
    pages = {worksheet(Setup(), seed) for seed in range(8)}
    assert len(pages) == 8
    assert worksheet(Setup(), 5) == worksheet(Setup(), 5)
    rows = {row for page in pages for row in re.findall(r"Divide row (“.*?”)", page)}
    assert len(rows) > 3


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_any_state_gives_a_sheet_of_a_size_that_prints(setup):
    shown = on_paper(setup)
    assert shown.seq_len <= 8
    assert shown.d_k <= 4
    page = worksheet(setup, 7)
    assert "@media print" in page
    assert not {"NaN", "∞"} & {cell for half in halves(page) for cells in half.values() for cell in cells}
    assert all(len(cells) <= 64 for half in halves(page) for cells in half.values())
    cut = (setup.seq_len, setup.d_k, setup.n_heads) != (shown.seq_len, shown.d_k, shown.n_heads)
    assert ("fits on paper" in page) == cut


def test_one_query_alone_has_no_mask_task():
    assert "causal mask hides" not in worksheet(Setup("needle", 8, 4))
    assert "causal mask hides" in worksheet(Setup())


def test_the_link_is_printed_escaped():
    page = worksheet(Setup(), 0, 'https://example.org/?a=1&b="<x>')
    assert "https://example.org/?a=1&amp;b=&quot;&lt;x&gt;" in page


@pytest.mark.parametrize("seed", [-1, 10_000])
def test_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match="must be from 0 to 9999"):
        worksheet(Setup(), seed)
