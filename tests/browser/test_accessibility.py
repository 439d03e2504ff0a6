"""Every page for everybody: axe-core, contrast, text alone, the keyboard, 200 % zoom, forced colours, no motion."""

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages import PAGES
from tests.browser.conftest import go, settle

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
OURS = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")
# Off by default in axe-core, and part of WCAG 2.2 AA: targets of 24 pixels.
RULES = {"target-size": {"enabled": True}}
# What Streamlit does and a page cannot change: rule -> the one place that it is accepted in, and why.
STREAMLIT = {
    # The upload's drop zone is a section with role=presentation that also has a label. The button inside it is
    # what is used and read out; the zone itself is left out by its role or harmlessly announced as a region.
    "presentation-role-conflict": 'data-testid="stFileUploaderDropzone"',
}
PATHS = ["/", *(f"/{page.slug}" for page in PAGES[1:])]


def open_all(page: Page) -> None:
    """Everything that can be folded out of the page itself."""
    for summary in page.locator("[data-testid=stMain] details:not([open]) > summary").all():
        summary.click()
    settle(page)


def predict(page: Page) -> None:
    box = page.locator(".st-key-predict")
    box.get_by_role("radio").first.check(force=True)
    box.get_by_role("button", name="Commit").click()
    expect(box.get_by_role("button", name="Another like it")).to_be_visible()


def answer(page: Page) -> None:
    page.locator(".stForm").get_by_role("radio").first.check(force=True)
    page.locator(".stForm").get_by_role("button", name="Answer").click()
    expect(page.get_by_text("You answered:")).to_be_visible()


def look_up_words(page: Page) -> None:
    page.get_by_role("button", name="Words").click()
    expect(page.locator("[data-testid=stPopoverBody]")).to_be_visible()


# name -> address and what is done there first
SCREENS: dict[str, tuple[str, Callable[[Page], None]]] = {
    path.removeprefix("/") or "start": (path, open_all) for path in PATHS
} | {
    "a prediction": ("/score", predict),
    "a quiz item": ("/check", answer),
    "words": ("/softmax", look_up_words),
    "a mask painted": ("/mask?mask_lab=Paint+a+mask&n_heads=2&head=all", settle),
    "a chart": ("/scale?scale_lab=Variance", settle),
    "a wrong reshape": ("/heads?heads_lab=Wrong+reshape&heads_part=Shapes", settle),
    "a verdict": ("/clinic?sample=The+scale+is+missing", settle),
    "edits": ("/blend?edits=q.0.4.0%3D5", settle),
}


def watched(new_page: Callable[..., Page], *device_and_theme: str, **options) -> Page:
    page = new_page(*device_and_theme, **options)
    page.add_init_script(AXE + OURS)
    return page


def examine(page: Page) -> list[str]:
    """All that is wrong with what is on screen. What axe-core is unsure of is only ever contrast."""
    found = page.evaluate("(rules) => complaints(rules)", RULES)
    wrong = [
        f"{one['rule']}: {one['place']}\n{one['html']}\n{one['why']}"
        for one in found["violations"]
        if STREAMLIT.get(one["rule"], "\0") not in one["html"]
    ]
    wrong += [
        f"not examined, {one['rule']}: {one['place']}\n{one['html']}\n{one['why']}"
        for one in found["incomplete"]
        if one["rule"] != "color-contrast"
    ]
    return wrong + [f"faint: {one}" for one in page.evaluate("faintTexts()")]


@pytest.mark.parametrize("name", SCREENS)
def test_nothing_is_wrong_in_light_dark_and_presenter_mode(new_page, app_url, name):
    address, prepare = SCREENS[name]
    page = watched(new_page)
    go(page, app_url + address)
    prepare(page)
    wrong = [f"light: {fault}" for fault in examine(page)]
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("getComputedStyle(document.querySelector('.stApp')).backgroundColor === 'rgb(16, 20, 25)'")
    settle(page)
    wrong += [f"dark: {fault}" for fault in examine(page)]
    if name in {page.slug for page in PAGES}:
        go(page, f"{app_url}{address}?present=1")
        wrong += [f"presenter: {fault}" for fault in examine(page)]
    assert not wrong, "\n\n".join(wrong)
