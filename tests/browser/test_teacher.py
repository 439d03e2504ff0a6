"""A teacher's lesson in a real Chromium: presenter mode by keys only, a poll with two browsers, paper."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from core import quiz
from tests.browser.conftest import IDLE, go, listen, settle
from tests.browser.test_matrix import active_cell, grid
from tests.browser.test_presenter import moved, part
from ui import text

PROJECTOR = {"viewport": {"width": 1280, "height": 720}}
WALK = ("score", "scale", "softmax", "blend", "mask", "heads")


def present(page: Page, url: str) -> None:
    go(page, url)
    expect(page.locator("html")).to_have_attribute("data-part", "step")


def page_down_to(page: Page, slug: str) -> None:
    """By Page Down alone, through the screens of this page to the next one."""
    names = list(moved(page, "ArrowDown"))
    for _ in names[1:]:
        page.keyboard.press("ArrowUp")
    for name in names:
        assert part(page) == name
        page.keyboard.press("PageDown")
    on(page, slug)


def on(page: Page, slug: str) -> None:
    """Wait until this page is shown and stands."""
    page.wait_for_url(re.compile(rf"/{slug}\?"))
    expect(page.get_by_role("link", name="Back:")).to_be_visible()
    page.wait_for_selector(".board[data-settled]")
    page.wait_for_selector(IDLE)


def expect_no_scroll(page: Page) -> None:
    """All of the page is on the screen, in both directions, also what stands in the matrices' own frame."""
    page.wait_for_function("() => document.querySelector('.stMain').scrollHeight <= innerHeight")
    assert page.locator(".stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
    for frame in page.locator(".st-key-matrices .scroller").all():
        assert frame.evaluate("(frame) => frame.scrollWidth <= frame.clientWidth")


SMALL = """(main) => {
    const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const size = (element) => parseFloat(getComputedStyle(element).fontSize);
    return [...main.querySelectorAll("*")]
        .filter((element) => own(element) && seen(element) && !element.closest(".katex, .stSelectbox"))
        .filter((element) => size(element) < 14)
        .map((element) => `${size(element)} ${element.textContent}`);
}"""


def test_the_walk_in_presenter_mode_by_keys_only(new_page, app_url):
    page = new_page()
    page.set_viewport_size(PROJECTOR["viewport"])
    present(page, f"{app_url}/?present=1")
    page.wait_for_url(re.compile(r"\?present=true$"))
    expect(page.locator('[data-testid="stTopNav"]')).to_be_hidden()
    expect(page.get_by_role("combobox", name="Example")).not_to_be_in_viewport()
    expect_no_scroll(page)

    for slug in WALK:
        page_down_to(page, slug)
        expect_no_scroll(page)
        assert page.locator(".stMainBlockContainer").evaluate(SMALL) == []

    page.keyboard.press("ArrowLeft")
    on(page, "mask")
    page.keyboard.press("PageUp")
    expect(page.locator("html")).to_have_attribute("data-part", "ask")
    page.keyboard.press("ArrowRight")
    on(page, "heads")
    page.keyboard.press("2")
    on(page, "score")


def test_question_and_reveal_by_keys(new_page, app_url):
    page = new_page()
    page.set_viewport_size(PROJECTOR["viewport"])
    present(page, f"{app_url}/score?present=true")
    item = quiz.item(quiz.PREDICTIONS["score"])
    question, reason = page.get_by_text(item.question[:20]).first, page.get_by_text(item.reason)
    expect(grid(page, "Scores S")).to_be_visible()
    expect(question).to_be_hidden()

    page.keyboard.press("ArrowUp")
    expect(question).to_be_visible()
    expect(grid(page, "Scores S")).to_be_hidden()
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    page.keyboard.press("r")
    expect(reason).to_be_visible(timeout=15_000)
    expect_no_scroll(page)

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Queries and keys swapped")).to_be_visible()
    expect(reason).to_be_hidden()
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"/score$"))
    expect(page.locator('[data-testid="stTopNav"]')).to_be_visible()


# -> where the focus is at once after the key, before the browser has drawn the screen that it opens
TURN_PAGE_DOWN = """(grid) => {
  grid.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true, composed: true }));
  return document.activeElement.tagName;
}"""


def test_step_keys_leave_alone_what_uses_them(page, app_url):
    go(page, f"{app_url}/scale?present=true")
    expect(page.locator("html")).to_have_attribute("data-part", "step")
    page.keyboard.press("s")
    slider = page.get_by_role("slider", name="Sequence length")
    expect(page.get_by_role("combobox", name="Example")).to_be_in_viewport()
    slider.press("ArrowRight")
    expect(slider).to_have_value("8")
    settle(page)  # a sidebar that is being drawn anew would lose the focus
    page.get_by_role("spinbutton", name="Query").press("ArrowRight")
    page.get_by_role("spinbutton", name="Query").press("PageDown")
    page.wait_for_timeout(500)
    assert "/scale?" in page.url
    assert "present=true" in page.url
    page.locator("body").press("s")
    expect(page.get_by_role("combobox", name="Example")).not_to_be_in_viewport()

    matrix = grid(page, "Scaled scores Z")
    matrix.press("ArrowRight")
    assert active_cell(matrix)[1] == "fell"
    page.wait_for_url(re.compile("col=2"))  # a turn before the answer to a pick can be lost with it
    assert matrix.evaluate(TURN_PAGE_DOWN) == "BODY", "a matrix that went does not take the next key"
    expect(page.locator("html")).to_have_attribute("data-part", "code")
    page_down_to(page, "softmax")


def open_list(page: Page) -> None:
    """The list of the examples, by keyboard. It opens a moment after the key: until then it is closed."""
    example = page.get_by_role("combobox", name="Example")
    example.press("ArrowDown")
    expect(example).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("option", name="kite")).to_be_visible()


def test_an_open_list_keeps_its_keys_and_a_closed_one_steps(page, app_url):
    go(page, f"{app_url}/scale?present=true")
    screen = page.locator("html")
    expect(screen).to_have_attribute("data-part", "step")
    page.keyboard.press("s")
    expect(page.get_by_role("combobox", name="Example")).to_be_in_viewport()
    open_list(page)
    page.keyboard.press("PageDown")
    page.keyboard.press("Escape")  # closes the list if it is still open, and is not taken for leaving
    expect(page.get_by_role("option")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Example")).to_be_focused()
    page.keyboard.press("PageDown")  # a clicker is not caught in the field that was used last
    expect(screen).to_have_attribute("data-part", "code")
    assert "/scale?" in page.url


def test_an_open_list_keeps_its_keys_for_readers_too(page, app_url):
    go(page, f"{app_url}/scale")
    listen(page, "scale")
    open_list(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    assert page.url.endswith("/scale")
    page.get_by_text(
        text.part("scale", "Idea").split("**")[1]
    ).click()  # out of the field, whose own keys these are
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("/softmax$"))


def test_arrows_step_for_readers_too_and_once_only(page, app_url):
    go(page, app_url)
    listen(page, "")
    expect(page.get_by_role("link", name="Next: Score")).to_be_visible()  # what the key presses
    page.evaluate("window.clicks = 0; addEventListener('click', () => (window.clicks += 1))")
    for slug, before in (("score", "Pipeline"), ("scale", "Score"), ("softmax", "Scale")):
        page.locator("body").press("ArrowRight")
        page.wait_for_url(re.compile(rf"/{slug}$"))
        expect(page.get_by_role("link", name=f"Back: {before}")).to_be_visible()  # not the page before's
        listen(page, slug)
        settle(page)
    assert page.evaluate("clicks") == 3  # one listener, however many pages were turned
    page.keyboard.press("PageDown")
    page.wait_for_timeout(500)
    assert page.url.endswith("/softmax")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile("/scale$"))


def test_a_turn_that_comes_before_the_inputs_takes_all_of_the_state_along(page, app_url):
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/NumberInput"), hold)  # the browser waits for what draws these inputs
    page.goto(f"{app_url}/score?seq_len=9&mask=causal&row=1&col=2")
    listen(page, "score")
    expect(page.get_by_role("link", name="Next: Scale")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert "/score?" in page.url
    for route in held:
        route.continue_()
    page.wait_for_url(re.compile("/scale"))
    settle(page)
    assert set(page.url.split("?")[1].split("&")) == {"seq_len=9", "mask=causal", "row=1", "col=2"}


def test_notes_in_a_second_window_turn_pages_together(page, app_url):
    page.set_viewport_size(PROJECTOR["viewport"])
    present(page, f"{app_url}/score?present=true")
    notes = page.context.new_page()
    go(notes, f"{app_url}/?notes=true")  # and finds where the lesson is
    notes.wait_for_url(re.compile(r"/score\?notes=true"))
    expect(notes.locator(".st-key-speaker_notes")).to_contain_text("Say:")

    page.keyboard.press("ArrowRight")
    notes.wait_for_url(re.compile(r"/scale\?notes=true"))
    expect(page.locator(".st-key-speaker_notes")).to_be_hidden()

    notes.get_by_role("link", name="Next: Softmax").click()
    page.wait_for_url(re.compile(r"/softmax\?present=true"))
    notes.wait_for_url(re.compile(r"/softmax\?notes=true"))


def bar(page: Page, option: str):
    """The line of an option whose text is exactly this, in the first of the polls on the page."""
    return page.locator(".poll").first.locator(".bar", has=page.get_by_text(re.compile(f"^{option}( ✓)?$")))


def test_a_poll_with_two_browsers(new_page, app_url):
    teacher, learner = new_page(), new_page("phone", "dark")
    item = quiz.item("S3")
    right = next(option.text for option in item.options if option.key == item.answer)
    wrong = next(option.text for option in item.options if option.key != item.answer)
    go(teacher, f"{app_url}/teach?room=Poll&poll=S3")
    teacher.get_by_role("button", name="Open a class").click()
    teacher.get_by_role("button", name="Ask", exact=True).click()
    expect(teacher.get_by_text("0 votes")).to_be_visible()
    teacher.get_by_text("Hide the bars until revealed").click()
    expect(teacher.locator(".poll")).to_be_visible()

    learner.goto(teacher.locator(".stCode").inner_text().strip())
    learner.get_by_text(right, exact=True).click()
    expect(learner.get_by_text("Your vote is counted")).to_be_visible()
    expect(bar(teacher, right).locator("b")).to_have_text("1")
    learner.get_by_text(wrong, exact=True).click()
    expect(bar(teacher, wrong).locator("b")).to_have_text("1")
    expect(teacher.locator(".bar.right")).to_have_count(0)
    expect(learner.locator(".poll")).to_have_count(0)

    teacher.get_by_role("button", name="Reveal").click()
    expect(learner.locator(".bar.right")).to_contain_text(right)
    expect(teacher.locator(".bar.right")).to_contain_text(right)
    assert learner.locator(".stMain").evaluate("(main) => main.scrollWidth") == 390

    teacher.get_by_role("button", name="Vote again").click()
    expect(teacher.get_by_text("0 votes")).to_be_visible()
    expect(learner.get_by_text(right, exact=True)).to_be_enabled(timeout=20_000)
    learner.get_by_text(right, exact=True).click()
    expect(bar(teacher, right).locator("b")).to_have_text("1")

    teacher.get_by_role("link", name="Score", exact=True).last.click()
    teacher.wait_for_url(re.compile("/score"))
    expect(teacher.locator(".board[data-settled]").first).to_be_visible()


def test_the_worksheet_on_paper(page, app_url):
    go(page, f"{app_url}/teach?room=Worksheet&sheet=7")
    with page.expect_download() as download:
        page.get_by_role("button", name="Worksheet (.html)").click()
    file = Path(download.value.path())
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open to print").click()
    sheet = opened.value
    expect(sheet.get_by_role("heading", name="Answers, variant 7")).to_be_visible()
    assert file.read_text(encoding="utf-8") == page.locator("iframe").get_attribute("srcdoc")
    assert pages_of(sheet.pdf(prefer_css_page_size=True)) in (2, 3)


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("room", ["Link", "Plans", "Worksheet", "Poll"])
def test_no_room_is_wider_than_a_phone(new_page, app_url, room):
    page = new_page("phone")
    go(page, f"{app_url}/teach?room={room}")
    page.wait_for_function("() => document.querySelector('.stMain').scrollWidth === 390")
