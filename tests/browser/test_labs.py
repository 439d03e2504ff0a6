"""The labs in a real Chromium: links, keys, a training that is stopped, a mask that is painted, a phone."""

import re
from collections.abc import Callable
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from core.experiments.saturation import saturation_lab
from tests.browser.conftest import go, settle
from ui import labs, text

PAGES = ("scale", "softmax", "blend", "mask", "heads")


def link(app_url: str, slug: str, lab: str, more: str = "") -> str:
    return f"{app_url}/{slug}?{slug}_lab={quote_plus(lab)}{more}"


def said(page: Page) -> Locator:
    return page.locator(".st-key-labs")


def test_a_link_opens_a_lab_and_its_slider_obeys_the_keyboard(app_url: str, page: Page) -> None:
    go(page, link(app_url, "scale", "Saturation", "&lab_d_k=128"))
    expect(said(page)).to_contain_text("What do large scores do to a row?")
    slider = page.get_by_role("slider", name="Width d_k in this lab")
    slider.focus()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("lab_d_k=256"))
    expect(said(page)).to_contain_text(saturation_lab(256).caption)
    page.reload()
    expect(said(page)).to_contain_text(saturation_lab(256).caption)


def test_a_long_experiment_is_drawn_while_it_runs_stopped_and_run_again(app_url: str, page: Page) -> None:
    go(page, f"{app_url}/scale?seq_len=9")
    expect(said(page).locator(".js-plotly-plot")).to_have_count(2, timeout=30_000)
    stop, again = (page.get_by_role("button", name=name, exact=True) for name in ("Stop", "Train"))
    page.get_by_role("radio", name="Step sizes").click()
    expect(said(page)).to_contain_text(re.compile(r"So far \([1-5] of 6 step sizes\)"), timeout=30_000)
    stop.click()
    expect(said(page)).to_contain_text(re.compile(r"Stopped after [1-5] of 6 step sizes\."))
    expect(said(page).locator(".js-plotly-plot")).to_have_count(2)
    expect(stop).to_have_count(0)
    page.get_by_role("radio", name="Training").click()
    expect(said(page)).to_contain_text("After 200 of 200 steps", timeout=30_000)
    expect(stop).to_have_count(0)
    again.click()
    expect(said(page)).to_contain_text("After 200 of 200 steps", timeout=30_000)
    expect(said(page).locator(".js-plotly-plot")).to_have_count(1)


def test_a_mask_is_painted_by_click_and_by_key(app_url: str, page: Page) -> None:
    go(page, link(app_url, "mask", "Paint a mask", "&painted="))
    mask = page.get_by_role("grid", name=re.compile("^Mask: 1 = may attend,"))
    box = mask.bounding_box()
    mask.click(position={"x": 2.5 * box["width"] / 7, "y": 0.5 * box["height"] / 7})
    expect(page).to_have_url(re.compile(r"painted=0\.2(&|$)"))
    mask.press("ArrowLeft")
    mask.press("Enter")
    expect(page).to_have_url(re.compile(r"painted=0\.1%3B0\.2(&|$)"))
    mask.press("Enter")
    expect(page).to_have_url(re.compile(r"painted=0\.2(&|$)"))
    expect(said(page)).to_contain_text("1 cell painted; 29 of 49 are allowed")


@pytest.mark.parametrize("slug", PAGES)
def test_no_lab_is_wider_than_a_phone(app_url: str, new_page: Callable[..., Page], slug: str) -> None:
    page = new_page("phone", "dark")
    go(page, f"{app_url}/{slug}")
    for lab in getattr(labs, slug).LABS:
        page.get_by_role("radio", name=lab, exact=True).click()
        expect(said(page)).to_contain_text(text.part(f"labs/{slug}", lab).split("**")[1])
        settle(page)
        widths = page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".map((node) => node.scrollWidth)"
        )
        assert max(widths) <= 390, f"{lab} on /{slug} is {widths} wide"


def test_titles_and_scales_of_narrow_matrices_are_whole(app_url: str, page: Page) -> None:
    go(page, link(app_url, "softmax", "Rows or columns"))
    by_row = ["Over each row", "Row sums, by row", "Column sums, by row"]
    by_column = ["Over each column: wrong", "Row sums, by column", "Column sums, by column"]
    expect(said(page).locator(".name")).to_have_text([*by_row, *by_column])
    expect(said(page).locator(".board[data-painted]")).to_be_visible()
    cut = """(nodes) => nodes.filter((node) => node.scrollWidth > node.clientWidth)
        .map((node) => node.textContent)"""
    assert said(page).locator(".name").evaluate_all(cut) == []
    assert said(page).locator(".scroller").evaluate_all(cut) == []  # the board hides nothing at its right
    legends = [re.sub(r"\s+", " ", one) for one in said(page).locator(".legend").all_inner_texts()]
    assert legends == ["0 1", "0 7", "0 7"] * 2  # equal colours are equal sums
