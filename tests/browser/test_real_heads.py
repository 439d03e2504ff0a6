"""Real heads by keyboard alone, and a file of one's own, in a real browser."""

import re
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser.conftest import go, settle


def test_a_head_is_chosen_cut_and_traced_by_keyboard(page: Page, app_url: str) -> None:
    go(page, f"{app_url}/real_heads?example=model&mask=causal&seq_len=9&row=5&col=2&real_head=L0H1")
    board = page.get_by_role("grid", name=re.compile("^L1H0"))
    board.focus()
    page.keyboard.press("ArrowDown")  # from box to are, in the map of L1H0

    expect(page).to_have_url(re.compile("row=6"))
    expect(page.get_by_text("L1H0: weight 0.99")).to_be_visible()

    page.get_by_role("switch", name=re.compile("Cut the selected cell")).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("grid", name=re.compile("^Probability of the next word"))).to_have_attribute(
        "aria-colcount", re.compile("[23]")
    )
    expect(page.get_by_text("L1H0: weight 0 ")).to_be_visible()

    page.get_by_role("link", name="Score").last.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/score\?.*example=model"))
    settle(page)
    expect(page.get_by_text("are asks → keys offers")).to_be_visible()
    page.reload()
    settle(page)
    expect(page.get_by_text("are asks → keys offers")).to_be_visible()


def test_a_file_of_ones_own_reaches_the_walk(page: Page, app_url: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shapes = {"q": (4, 100, 8), "k": (2, 100, 8), "v": (2, 100, 3)}
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    np.savez(tmp_path / "good.npz", **arrays)
    np.savez(tmp_path / "bad.npz", **arrays | {"k": arrays["k"][:, :, :5]})
    go(page, f"{app_url}/your_tensors")

    page.locator("input[type=file]").set_input_files(tmp_path / "bad.npz")
    expect(page.get_by_test_id("stAlert")).to_contain_text(
        "q and k must be equally wide, but q has 8, k has 5"
    )
    settle(page)

    page.locator("input[type=file]").set_input_files(tmp_path / "good.npz")
    expect(page.get_by_text("2 query heads share each key/value head")).to_be_visible()
    expect(page).to_have_url(re.compile("example=yours"))

    page.get_by_role("link", name="Score").last.click()
    expect(page).to_have_url(re.compile(r"/score\?.*example=yours"))
    settle(page)
    expect(page.get_by_text("at most 64 of the 100 positions")).to_be_visible()
    expect(page.get_by_role("grid", name=re.compile("^Scores S"))).to_have_attribute("aria-rowcount", "65")
