"""The clinic: from files to the verdict, told in words, with nothing of a file trusted or kept."""

import io
import json
from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from core.clinic import diagnose_uploads
from core.clinic.beliefs import LAYOUTS
from core.clinic.samples import SAMPLES
from tests.browser.server import ROOT
from tests.pages.conftest import words
from ui.clinic_input import LAYOUT_OF, MAX_FILE_MB

BOXES = ("success", "error", "warning")


def verdict(app: AppTest) -> str:
    """The one coloured box, which also says in words what its colour means."""
    (box,) = [element for kind in BOXES for element in app.main.get(kind)]
    return box.value


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.main.get("file_uploader")[0].set_value([(name, data, "") for name, data in files]).run()
    assert not app.exception
    return app


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_before_the_first_file_it_says_what_to_expect(open_page: Callable) -> None:
    page = open_page("clinic")
    assert "You get one of five answers" in words(page)
    assert not any(page.main.get(kind) for kind in BOXES)


def test_a_missing_scale_is_named_with_both_lines(open_page: Callable) -> None:
    page = open_page("clinic", sample="The scale is missing")
    assert "**Something is wrong.**" in verdict(page)
    assert [code.value for code in page.get("code")[:2]] == [
        "scaled = scores", "scaled = scores / np.sqrt(d_k)",
    ]  # fmt: skip
    assert "Label: scale.missing" in words(page)
    assert [link.proto.label for link in page.main.get("page_link") if "Taught" in link.proto.label] == [
        "Taught on the page Scale"
    ]


def test_right_is_right(open_page: Callable) -> None:
    page = open_page("clinic", sample="Nothing is wrong")
    assert "**Correct.**" in verdict(page)
    assert "heads 3" in words(page)


def test_ties_are_told_as_ties(open_page: Callable) -> None:
    page = open_page("clinic", sample="Two faults that fit equally")
    assert "explain your output equally well" in verdict(page)
    text = words(page)
    assert "The data cannot choose between them" in text
    assert "**1. Scaled twice**" in text
    assert "**2. Divided by d_k, not by its square root**" in text


def test_what_cannot_be_tested_comes_with_a_probe(open_page: Callable) -> None:
    page = open_page("clinic", sample="Data that cannot tell")
    assert "**This data cannot tell.**" in verdict(page)
    assert "d_k is 1" in words(page)
    names = [button.proto.label for button in page.main.get("download_button")]
    assert "Download probe_causal.npz" in names


def test_an_uploaded_file_takes_the_examples_place(open_page: Callable) -> None:
    page = open_page("clinic", sample="Nothing is wrong")
    sample = SAMPLES["The mask is inverted"]
    upload(page, (sample.file_name, sample.make()))
    assert "the mask is inverted" in verdict(page)
    assert "sample" not in page.query_params


def test_several_npy_files_are_one_case(open_page: Callable) -> None:
    arrays = np.load(io.BytesIO(SAMPLES["The scale is missing"].make()))
    files = []
    for name in ("q", "k", "v", "out"):
        file = io.BytesIO()
        np.save(file, arrays[name])
        files.append((f"{name}.npy", file.getvalue()))
    page = upload(open_page("clinic", causal="causal"), *files)
    assert "the scale is missing" in verdict(page)


def test_what_the_owner_meant_changes_the_answer(open_page: Callable) -> None:
    arrays = dict(np.load(io.BytesIO(SAMPLES["Nothing is wrong"].make())))
    del arrays["meta"]
    page = upload(open_page("clinic", causal="not causal"), ("mine.npz", npz(**arrays)))
    assert "mask.causal_not_wanted" in words(page)
    page.selectbox("causal").set_value("causal").run()
    assert "**Correct.**" in verdict(page)


def test_bad_files_end_in_a_sentence(open_page: Callable) -> None:
    hostile = "<img src=x onerror=alert(1)> $\\frac$ **q**"
    for name, data in (
        (f"{hostile}.npz", b"not a zip"),
        ("q.npy", b""),
        ("mine.json", b"[" * 5000),
        ("mine.npz", npz(**{hostile: np.zeros((2, 2))})),
    ):
        page = upload(open_page("clinic"), (name, data))
        assert "**The files cannot be examined.**" in verdict(page)
        assert "<img" not in verdict(page)


def test_nothing_is_kept_of_files_that_are_taken_away(open_page: Callable) -> None:
    page = upload(open_page("clinic"), ("mine.npz", SAMPLES["The scale is missing"].make()))
    assert "clinic_answer" in page.session_state
    page.main.get("file_uploader")[0].set_value([]).run()
    assert "clinic_answer" not in page.session_state


def test_the_answer_is_the_engines(open_page: Callable) -> None:
    sample = SAMPLES["Two faults at once"]
    page = open_page("clinic", sample=sample.title)
    _, shown = page.session_state["clinic_answer"]
    assert json.loads(shown.as_json()) == json.loads(
        diagnose_uploads([(sample.file_name, sample.make())]).as_json()
    )


def test_the_limit_is_the_servers() -> None:
    config = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert f"maxUploadSize = {MAX_FILE_MB} " in config


def test_every_layout_is_offered() -> None:
    assert set(LAYOUT_OF.values()) == set(LAYOUTS)


def _window(with_mask: bool = False) -> bytes:
    """Right code with a causal window of 3 in front of each query."""
    arrays = dict(np.load(io.BytesIO(SAMPLES["Nothing is wrong"].make())))
    q, k, v = (arrays[name].astype(float) for name in "qkv")
    row, col = np.indices((q.shape[-2], k.shape[-2]))
    mask = (col <= row) & (row - col <= 3)
    exps = np.where(mask, np.exp(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5), 0)
    given = {"mask": mask} if with_mask else {}
    return npz(q=q, k=k, v=v, out=exps / exps.sum(-1, keepdims=True) @ v, **given)


def test_what_may_be_meant_says_how_to_state_it(open_page: Callable) -> None:
    page = upload(open_page("clinic", causal="causal"), ("mine.npz", _window()))
    assert "**Something is wrong, or was not stated.**" in verdict(page)
    assert "If you meant it: put the mask that you mean into the file" in words(page)
    page = upload(open_page("clinic", causal="causal"), ("mine.npz", _window(with_mask=True)))
    assert "**Correct.**" in verdict(page)


def test_correct_says_under_which_reading(open_page: Callable) -> None:
    arrays = dict(np.load(io.BytesIO(SAMPLES["Nothing is wrong"].make())))
    del arrays["meta"]
    page = upload(open_page("clinic"), ("mine.npz", npz(**arrays)))
    assert "**Correct, if no position may see a later one.**" in verdict(page)


def test_a_cap_and_a_sink_can_be_stated(open_page: Callable) -> None:
    page = upload(open_page("clinic", softcap=20, sink=1), ("mine.npz", _window(with_mask=True)))
    assert "Correct" not in verdict(page)
    assert page.number_input("softcap").value == 20
    page.number_input("softcap").set_value(None)
    page.number_input("sink").set_value(None).run()
    assert "**Correct" in verdict(page)
