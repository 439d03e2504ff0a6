"""Presenter mode on 1280 × 720: on no screen does anything scroll, and nothing is small or faint."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from pages import PAGES
from tests.browser.conftest import IDLE, settle
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
    expect(page.locator("html")).to_have_attribute("data-part", "step")


def part(page: Page) -> str | None:
    return page.locator("html").get_attribute("data-part")


def screens(page: Page) -> Iterator[str]:
    """Each screen of the page as it is shown, the question first; then the last one stays."""
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    name = None
    while (now := part(page)) != name and now:
        yield (name := now)
        page.keyboard.press("ArrowDown")


def look(page: Page, where: str, least_on_board: float = LEAST_ON_BOARD) -> list[str]:
    """What is wrong with the screen, once it has come to rest."""
    limits = [LEAST, least_on_board, LEAST_CONTRAST]
    try:
        page.wait_for_function(f"(limits) => (\n{LOOK})(limits).length === 0", arg=limits, timeout=2500)
    except TimeoutError:
        return [f"{where}: {fault}" for fault in page.evaluate(LOOK, limits)]
    return []


@pytest.mark.parametrize(
    ("state", "least_on_board"),
    [("", LEAST_ON_BOARD), ("seq_len=14&n_heads=2&head=all", 0), ("seq_len=16&mask=causal", 0)],
)
def test_the_whole_lesson_on_a_projector_by_keys(projector, app_url, state, least_on_board):
    page, faults = projector, []
    present(page, app_url, state)
    for index, lesson in enumerate(PAGES):
        for name in screens(page):
            faults += look(page, f"{lesson.slug} {name}", least_on_board)
        if lesson is not PAGES[-1]:
            page.keyboard.press("PageDown")
            page.wait_for_url(re.compile(rf"/{PAGES[index + 1].slug}\?"))
            expect(page.locator("html")).to_have_attribute("data-part", "step")
            page.wait_for_selector(IDLE)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("slug", LABS)
def test_every_lab_on_a_projector(projector, app_url, slug):
    page, faults = projector, []
    present(page, f"{app_url}/{slug}")
    for name in LABS[slug].LABS:
        while part(page) != "lab":
            page.keyboard.press("ArrowDown" if part(page) in ("ask", "step", "code", "row") else "ArrowUp")
        page.get_by_role("radio", name=name, exact=True).click()
        settle(page)
        expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()
        page.wait_for_selector(IDLE)
        last = None
        while (now := part(page)) != last:
            last = now
            faults += look(page, f"{slug} {name} {now}")
            page.keyboard.press("ArrowDown")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("room", ["Plans&plan=90+minutes", "Worksheet", "Poll"])
def test_every_room_on_a_projector(projector, app_url, room):
    faults = []
    present(projector, f"{app_url}/teach", f"room={room}")
    for name in screens(projector):
        faults += look(projector, f"{room} {name}")
    assert not faults, "\n".join(faults)
