"""The file of measured figures: its tables, its sections, and what the sections say of the machine."""

import re
import socket

import pytest

from benchmarks.report import HEAD, Section, Table, measured_on, put, ratio, write

TABLE = Table(["page", "ms", "×"], [["start", "88.5", "1.10"], ["score", "92.7", "1.20"]])


def test_table_is_markdown_with_numbers_at_the_right():
    assert TABLE.markdown() == "\n".join(
        [
            "| page | ms | × |",
            "| :-- | --: | --: |",
            "| start | 88.5 | 1.10 |",
            "| score | 92.7 | 1.20 |",
        ]
    )


def test_a_row_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table(["a", "b"], [["1"]]).markdown()


def test_ratio_is_the_median_of_the_rounds_own_ratios():
    assert ratio([2, 9, 9], [1, 1, 9]) == 2  # of 2, 9 and 1; the ratio of the medians would be 9
    with pytest.raises(ValueError, match="shorter"):
        ratio([1, 2], [1])


def test_a_section_stands_in_the_place_of_the_one_before():
    text = put(put("", "## One\n\nfirst\n"), "## Two\n\nfirst\n")
    assert text == f"{HEAD}\n## One\n\nfirst\n\n## Two\n\nfirst\n"
    again = put(text, "## One\n\nsecond\n")
    assert again == f"{HEAD}\n## One\n\nsecond\n\n## Two\n\nfirst\n"


def test_write_keeps_the_other_sections_and_prints_its_own(tmp_path, capsys):
    file = tmp_path / "bench.md"
    for title in ("One", "Two", "One"):
        write(Section(title, f"About {title}.", ["numpy"], [TABLE, "A sentence."]), file)
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"^#+ .*$", text, re.MULTILINE) == ["# Measured", "## One", "## Two"]
    assert text.count(TABLE.markdown()) == 2
    assert capsys.readouterr().out.count("About One.") == 2


def test_the_machine_is_told_without_its_name():
    told = measured_on(["numpy"])
    assert re.match(r"\d{4}-\d\d-\d\d: \d+ cores, .+; Python 3\.\d+\.\d+, numpy \d", told)
    assert socket.gethostname() not in told
