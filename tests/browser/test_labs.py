"""The labs in a real Chromium: links, keys, a training that is stopped, a mask that is painted, a phone."""

import re
from collections.abc import Callable
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from core.experiments.variance import variance_lab
from tests.browser.conftest import go
from ui import labs

PAGES = ("scale", "softmax", "blend", "mask", "heads")
STEPS = re.compile(r"Stopped after \d+ of 200 steps\.")


def link(app_url: str, slug: str, lab: str, more: str = "") -> str:
    return f"{app_url}/{slug}?{slug}_lab={quote_plus(lab)}{more}"


def said(page: Page) -> Locator:
    return page.locator(".st-key-labs")


def test_a_link_opens_a_lab_and_its_slider_obeys_the_keyboard(app_url: str, page: Page) -> None:
    go(page, link(app_url, "scale", "Saturation", "&lab_d_k=128"))
    expect(said(page)).to_contain_text("What do large scores do to a row?")
    slider = page.get_by_role("slider", name="Width d_k in this lab")
    expect(slider).to_have_attribute("aria-valuetext", "128")
    go(page, f"{app_url}/scale")
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("lab_d_k=256"))
    expect(said(page)).to_contain_text(variance_lab(256).caption)
    page.reload()
    expect(said(page)).to_contain_text(variance_lab(256).caption)


def test_a_training_is_drawn_while_it_runs_stopped_and_run_again(app_url: str, page: Page) -> None:
    page.goto(link(app_url, "scale", "Training", "&train_d_k=1024"))
    stop = page.get_by_role("button", name="Stop")
    expect(said(page)).to_contain_text(re.compile(r"After \d+ of 200 steps"), timeout=30_000)
    stop.click()
    expect(said(page)).to_contain_text(STEPS)
    expect(stop).to_have_count(0)
    expect(said(page).locator(".js-plotly-plot")).to_have_count(1)
    page.get_by_role("button", name="Train again").click()
    expect(said(page)).to_contain_text("After 200 of 200 steps", timeout=30_000)
    expect(stop).to_have_count(0)
    expect(said(page)).not_to_contain_text("Stopped")


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
    for lab in getattr(labs, slug).LABS:
        go(page, link(app_url, slug, lab, "&train_d_k=4&sweep_d_k=4"))
        expect(said(page).get_by_role("radio", name=lab, exact=True)).to_be_checked()
        widths = page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".map((node) => node.scrollWidth)"
        )
        assert max(widths) <= 390, f"{lab} on /{slug} is {widths} wide"
