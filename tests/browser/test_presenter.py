"""Presenter mode on 1280 × 720: on no screen does anything scroll, and nothing is small or faint."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from pages import PAGES
from tests.browser.conftest import IDLE, settle
from ui import text
from ui.labs import blend, heads, mask, scale, softmax

LABS = {"scale": scale, "softmax": softmax, "blend": blend, "mask": mask, "heads": heads}
LEAST, LEAST_ON_BOARD = 18, 14  # pixels: of all text, and of what stands on a board of matrices
LEAST_CONTRAST = 7

# Keeps, of each canvas, the sizes of the type painted on it since it was last cleared.
WATCH_PAINTERS = """
const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    (this.canvas.sizes ??= []).push(parseFloat(this.font.match(/([\\d.]+)px/)[1]) / devicePixelRatio);
    return fillText.call(this, text, ...rest);
};
CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
    if (width === this.canvas.width && height === this.canvas.height) this.canvas.sizes = [];
    return fillRect.call(this, x, y, width, height);
};
"""

LOOK = (Path(__file__).parent / "projector.js").read_text(encoding="utf-8")


@pytest.fixture
def projector(new_page) -> Page:
    """A window of a projector's size."""
    page = new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.add_init_script(WATCH_PAINTERS)
    return page


def present(page: Page, url: str, state: str = "") -> None:
    page.goto(f"{url}?present=true&{state}")
    settle(page)
    expect(page.locator("html")).to_have_attribute("data-part", "step", timeout=20_000)


def part(page: Page) -> str | None:
    """The name of the screen that is shown."""
    return page.locator("html").get_attribute("data-part")


def screens(page: Page) -> Iterator[str]:
    """Each screen of the page as it is shown, from the first to the last, which stays."""
    page.evaluate("document.activeElement.blur()")  # from a control that has its own use for the arrows
    list(moved(page, "ArrowUp"))
    yield from moved(page, "ArrowDown")


def moved(page: Page, key: str) -> Iterator[str]:
    """The screens from here on, by a key, until it moves no further."""
    name = None
    while (now := part(page)) and now != name:
        yield (name := now)
        page.keyboard.press(key)


def look(page: Page, where: str, least_on_board: float = LEAST_ON_BOARD) -> list[str]:
    """What is wrong with the screen, once it has come to rest."""
    limits = [LEAST, least_on_board, LEAST_CONTRAST]
    try:
        page.wait_for_function(f"(limits) => (\n{LOOK})(limits).length === 0", arg=limits, timeout=2500)
    except TimeoutError:
        return [f"{where}: {fault}" for fault in page.evaluate(LOOK, limits)]
    return []


def faults_of(page: Page, where: str, least_on_board: float = LEAST_ON_BOARD) -> list[str]:
    """What is wrong with any screen of the page."""
    return [fault for name in screens(page) for fault in look(page, f"{where} {name}", least_on_board)]


# Up to 8 words the numbers on a board can be read from the back row; 16 are the most that have numbers.
@pytest.mark.parametrize(
    ("state", "least_on_board"),
    [("", LEAST_ON_BOARD), ("seq_len=16&n_heads=2&head=all&mask=causal", 0)],
)
def test_the_whole_lesson_on_a_projector_by_keys(projector, app_url, state, least_on_board):
    page, faults = projector, []
    present(page, app_url, state)
    for lesson, following in zip(PAGES, [*PAGES[1:], None], strict=True):
        faults += faults_of(page, lesson.slug, least_on_board)
        page.keyboard.press("PageDown")  # from the last screen
        if following:
            page.wait_for_url(re.compile(rf"/{following.slug}\?"))
            expect(page.locator("html")).to_have_attribute("data-part", "step")
            page.wait_for_selector(IDLE)
    assert not faults, "\n".join(faults)


# The trained layer of 64 channels: its numbers are many for a board, and none of it may be cut off.
@pytest.mark.parametrize(
    ("slug", "state", "least_on_board"),
    [*((slug, "", LEAST_ON_BOARD) for slug in LABS), ("heads", "example=model", 0)],
)
def test_every_lab_on_a_projector(projector, app_url, slug, state, least_on_board):
    page, faults = projector, []
    present(page, f"{app_url}/{slug}", state)
    for name in LABS[slug].LABS:
        for _ in screens(page):
            if part(page) == "lab":
                break
        page.get_by_role("radio", name=name, exact=True).click()
        _, asked, _ = text.part(f"labs/{slug}", name).split("**", 2)
        expect(page.get_by_text(asked, exact=True)).to_be_visible()
        page.wait_for_selector(IDLE)
        faults += faults_of(page, f"{slug} {name}", least_on_board)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("state", ["room=Plans&plan=90+minutes", "room=Worksheet"])
def test_the_rooms_of_a_teacher_on_a_projector(projector, app_url, state):
    present(projector, f"{app_url}/teach", state)
    assert not (faults := faults_of(projector, state)), "\n".join(faults)


def test_a_poll_on_a_projector(projector, app_url):
    present(projector, f"{app_url}/teach", "room=Poll&poll=H2")
    projector.get_by_role("button", name="Open a class").click()
    projector.get_by_role("button", name="Ask", exact=True).click()
    expect(projector.get_by_text("0 votes")).to_be_visible()
    faults = faults_of(projector, "poll")
    for _ in screens(projector):
        if part(projector) == "step":
            break
    projector.keyboard.press("r")
    expect(projector.locator(".bar.right")).to_be_visible()
    assert not (faults := faults + faults_of(projector, "revealed")), "\n".join(faults)


def test_a_mystery_is_revealed_by_its_key(projector, app_url):
    present(projector, f"{app_url}/break_it", "mystery=3")
    projector.keyboard.press("ArrowDown")
    expect(projector.get_by_text("Which step is broken?")).to_be_visible()
    expect(projector.get_by_text("Faulty")).to_have_count(0)
    projector.keyboard.press("r")
    expect(projector.get_by_text("Faulty")).to_be_visible()
    assert not (faults := faults_of(projector, "mystery")), "\n".join(faults)


def test_a_verdict_of_the_clinic_on_a_projector(projector, app_url):
    present(projector, f"{app_url}/clinic", f"sample={quote('The scale is missing')}")
    expect(projector.get_by_text("Something is wrong")).to_be_hidden()  # a class names the step first
    assert not (faults := faults_of(projector, "verdict")), "\n".join(faults)
