"""From a broken notebook to the verdict: files through the file dialog, then a mystery by keyboard."""

import io
import re
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from core.clinic.samples import SAMPLES
from tests.browser.conftest import go, settle


def upload(page: Page, *files: Path) -> None:
    """As a person does: press the button, choose in the dialog."""
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("stFileUploaderDropzone").get_by_test_id("stBaseButton-secondary").click()
    chooser.value.set_files(files)


def test_a_broken_notebook_is_told_its_step(page: Page, app_url: str, tmp_path: Path) -> None:
    arrays = np.load(io.BytesIO(SAMPLES["The scale is missing"].make()))
    paths = [tmp_path / f"{name}.npy" for name in ("q", "k", "v", "out")]
    for path in paths:
        np.save(path, arrays[path.stem])
    broken = tmp_path / "q **bold** $x$.npz"
    broken.write_bytes(b"PK\x03\x04 cut off")
    go(page, f"{app_url}/clinic?causal=causal")
    alert = page.get_by_test_id("stAlert")

    upload(page, broken)
    expect(alert).to_contain_text("The files cannot be examined.")
    settle(page)
    page.get_by_role("button", name=re.compile("Remove")).click()
    expect(page.get_by_text("You get one of five answers")).to_be_visible()

    upload(page, *paths)
    expect(alert).to_contain_text(
        "Something is wrong. One fault reproduces your numbers: the scale is missing."
    )
    settle(page)
    expect(page.get_by_text("Read as: B 2, heads 3")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the answer as JSON").click()
    assert '"scale.missing"' in Path(download.value.path()).read_text(encoding="utf-8")

    page.get_by_role("link", name="Taught on the page Scale").click()
    expect(page).to_have_url(re.compile("/scale"))
    settle(page)


def test_a_mystery_is_solved_by_keyboard(page: Page, app_url: str) -> None:
    go(page, f"{app_url}/break_it?mystery=3")
    expect(page.get_by_role("grid", name=re.compile("^Broken A"))).to_be_visible()
    page.get_by_role("radio", name="scale", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not the scale")).to_be_visible()
    page.get_by_role("radio", name="mask", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Yes, the mask.")).to_be_visible()
    settle(page)
    expect(page.get_by_text("Step: mask")).to_be_visible()
