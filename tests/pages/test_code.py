"""From formula to code: the lit line, its value, the blanks, the files."""

import re

import pytest

from core.experiments.transcription import line_check
from core.export import MADE_BY, NUMPY_BLANKS, VERSIONS, listing
from core.setup import Setup, inputs, run
from tests.pages.conftest import drawn, read, words
from ui.code import PARTS


def markup(app, mark):
    return next(one.proto.body for one in app.get("html") if mark in one.proto.body)


def lit(app):
    """The lines that are lit."""
    found = re.findall(r'<span class="part-\w+ lit">(.*?)</span>', markup(app, "listing"))
    return [line.replace("&#x27;", "'").replace("&gt;", ">") for line in found]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_lights_its_line_and_its_value(open_page, part, version):
    app = open_page("code", line=PARTS[part], version=VERSIONS[version], mask="causal", n_heads=2, head=1)
    assert lit(app) == [line for line, parts in listing(version) if part in parts]
    setup = Setup(mask="causal", n_heads=2)
    tensor = MADE_BY[part][0]
    assert (drawn(app)[tensor]["values"] == getattr(run(setup).heads, tensor)[1]).all()
    assert f'part-{part}"><code>{tensor}</code>' in markup(app, "made")
    assert line_check(part, run(setup).heads.head(1), inputs(setup), 4, 1) in words(app)


def test_the_blanks_are_checked_as_they_are_filled(open_page):
    app = open_page("code", fill_in="true")
    assert markup(app, "listing").count("____") == len(NUMPY_BLANKS)
    sent = markup(app, "listing") + words(app)
    assert not [blank.id for blank in NUMPY_BLANKS if blank.written in read(sent)]
    boxes = {one.key.removeprefix("code blank "): one for one in app.text_input if "code blank" in one.key}
    boxes["axis"].set_value("1").run()
    assert "the columns would sum to 1, not the rows" in words(app)
    for blank in NUMPY_BLANKS:
        assert "That is the whole of it." not in words(app)
        next(one for one in app.text_input if one.key == f"code blank {blank.id}").set_value(
            blank.accepted[0]
        ).run()
    assert "That is the whole of it." in words(app)


def test_only_numpy_has_blanks(open_page):
    app = open_page("code", fill_in="true", version=VERSIONS["module"])
    assert app.toggle(key="fill_in").disabled
    assert "____" not in markup(app, "listing")


def test_every_file_is_offered(open_page):
    app = open_page("code")
    names = [button.proto.label for button in app.get("download_button")]
    assert names == [
        "Program .py", "Program .ipynb", "Tensors .npz", "Tensors .csv", "Tensors .json",
        "The matrices to print (.html)",
    ]  # fmt: skip
    assert not [button for button in app.get("download_button") if button.proto.disabled]


def test_a_state_too_large_for_text_says_so(open_page):
    app = open_page("code", seq_len=64, d_k=1024, n_heads=8)
    closed = [button.proto.label for button in app.get("download_button") if button.proto.disabled]
    assert closed == ["Tensors .csv", "Tensors .json"]
    assert "too many numbers for a text file" in words(app)


def test_the_matrices_to_print(open_page):
    app = open_page("code", mask="causal")
    next(one for one in app.toggle if one.label == "Look at it and print").set_value(True).run()
    assert "Z with the mask (7 × 7)" in app.get("iframe")[0].proto.srcdoc
