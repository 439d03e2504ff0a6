"""What a reader does with the tutor from one page to the next, in a real Chromium."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages import PAGES
from tests.browser.conftest import go
from tests.browser.test_matrix import active_cell, grid, point

PATHS = ["/", *(f"/{page.slug}" for page in PAGES[1:])]
WALK = PAGES[:7]  # from the pipeline to the heads: each with the matrices of its step
IT_TO_KITE = "3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8"
KITE_TO_FELL = "0·0 + 2·2 + 2·1 + (−2)·(−1) = 8"


def written(page: Page):
    """The selected cell's calculation."""
    return page.locator(".st-key-written")


def drawn(page: Page) -> None:
    """Wait until every board on the page has stopped fading."""
    page.wait_for_selector(".board[data-settled]")


def parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def expect_parameters(page: Page, **expected: str) -> None:
    """Wait until the address holds exactly these."""
    page.wait_for_function(
        "(expected) => JSON.stringify([...new URLSearchParams(location.search)].sort()) === expected",
        arg=_json(expected),
    )
    assert parameters(page) == expected


def _json(expected: dict[str, str]) -> str:
    pairs = ",".join(f'["{name}","{value}"]' for name, value in sorted(expected.items()))
    return f"[{pairs}]"


def pick(page: Page, title: str, row: int, col: int) -> None:
    drawn(page)
    grid(page, title).click(position=point(grid(page, title), row, col))


def test_a_deep_link_is_the_first_request_that_a_server_answers(fresh_server, page):
    # Fixtures end in reverse order: the page is closed before its server.
    go(page, f"{fresh_server}/score?seq_len=9&mask=causal&row=1&col=2")

    expect(written(page)).to_contain_text("kite asks → fell offers")
    expect(page.get_by_role("slider", name="Sequence length")).to_have_value("9")
    expect(grid(page, "Scores S")).to_have_attribute("aria-rowcount", "10")
    expect(page.get_by_role("link", name="Next: Scale")).to_be_visible()
    expect_parameters(page, seq_len="9", mask="causal", row="1", col="2")


def test_the_slider_moves_the_address_and_the_matrices(page, app_url):
    go(page, app_url)
    expect(grid(page, "Weights A")).to_have_attribute("aria-rowcount", "8")

    page.get_by_role("slider", name="Sequence length").press("ArrowRight")

    for title in ("Scores S", "Scaled scores Z", "Weights A", "Output O"):
        expect(grid(page, title)).to_have_attribute("aria-rowcount", "9")
    expect_parameters(page, seq_len="8")


def test_a_picked_cell_is_written_out_and_goes_along_to_the_next_page(page, app_url):
    go(page, f"{app_url}/score")
    expect(written(page)).to_contain_text(IT_TO_KITE)

    pick(page, "Scores S", 1, 2)
    expect(written(page)).to_contain_text(KITE_TO_FELL)
    expect_parameters(page, row="1", col="2")

    page.get_by_role("link", name="Next: Scale").click()
    expect(written(page)).to_contain_text("8 / √4 = 8 / 2 = 4")
    assert active_cell(grid(page, "Scaled scores Z")) == ("kite", "fell", "4")
    expect_parameters(page, row="1", col="2")


def test_the_whole_walk_by_keyboard_alone(page, app_url):
    go(page, app_url)
    drawn(page)
    for following in WALK[1:]:
        tab_to(page, page.get_by_role("link", name=f"Next: {following.title}"))
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"/{following.slug}\b"))
        expect(page.locator(".board").first).to_be_visible()

    go(page, f"{app_url}/mask")
    tab_to(page, grid(page, "Masked scores"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect_parameters(page, row="5", col="2")
    expect(written(page)).to_contain_text("was → fell")


def tab_to(page: Page, target) -> None:
    """Press Tab until `target` has the focus."""
    expect(target).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === element.getRootNode().activeElement"):
            return
    pytest.fail("60 presses of Tab did not reach it")


def test_back_forward_and_reload_give_the_same_screen(page, app_url):
    go(page, f"{app_url}/score?row=1&col=2")
    expect(written(page)).to_contain_text(KITE_TO_FELL)
    page.get_by_role("slider", name="Sequence length").press("ArrowRight")
    expect_parameters(page, row="1", col="2", seq_len="8")
    page.get_by_role("link", name="Next: Scale").click()
    expect(written(page)).to_contain_text("8 / √4")

    page.go_back()
    expect(written(page)).to_contain_text(KITE_TO_FELL)
    expect_parameters(page, row="1", col="2", seq_len="8")
    expect(grid(page, "Scores S")).to_have_attribute("aria-rowcount", "9")

    page.go_forward()
    expect(written(page)).to_contain_text("8 / √4")
    expect_parameters(page, row="1", col="2", seq_len="8")

    page.reload()
    expect(written(page)).to_contain_text("8 / √4")
    expect(grid(page, "Scaled scores Z")).to_have_attribute("aria-rowcount", "9")
    expect_parameters(page, row="1", col="2", seq_len="8")


def test_junk_in_the_address_gives_the_default_and_leaves(page, app_url):
    go(page, f"{app_url}/score?seq_len=many&d_k=5&mask=inverted&row=99&edits=%3Cb%3E&n_heads=0")

    expect(written(page)).to_contain_text(IT_TO_KITE)
    expect(grid(page, "Scores S")).to_have_attribute("aria-rowcount", "8")
    assert parameters(page).keys() <= {"edits"}


def test_an_edited_number_marks_what_follows_and_one_click_resets(page, app_url):
    go(page, f"{app_url}/score?edits=q.0.4.0%3D5")
    expect(written(page)).to_contain_text("5·2 + (−1)·0 + 1·1 + (−1)·(−1) = 12")

    page.get_by_role("button", name="Undo all edits").click()
    expect(written(page)).to_contain_text(IT_TO_KITE)
    expect_parameters(page)


# HTML elements beyond the right edge, other than those that scroll inside a box of their own and
# the formula's twin for screen readers, which is clipped away.
TOO_WIDE = """(main) => {
    const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
    const inBox = (element) => element !== main && (scrolls(element) || inBox(element.parentElement));
    return [...main.querySelectorAll("*")]
        .filter((element) => element instanceof HTMLElement && !element.closest(".katex-mathml"))
        .filter((element) => element.getBoundingClientRect().right > 390.5 && !inBox(element))
        .map((element) => `${element.tagName} ${element.className} ${element.innerText}`);
}"""


@pytest.mark.parametrize("slug", ["real_heads", "code"])
def test_next_stands_beside_back_on_a_phone_whatever_their_pages_are_called(new_page, app_url, slug):
    page = new_page("phone")
    go(page, f"{app_url}/{slug}")
    back, onward = (page.locator(f".st-key-{name} a").bounding_box() for name in ("back", "next"))
    assert back["y"] == onward["y"]
    assert back["x"] + back["width"] < onward["x"]
    assert onward["x"] + onward["width"] <= 390 - 16


@pytest.mark.parametrize("path", PATHS)
def test_no_page_is_wider_than_a_phone(new_page, app_url, path):
    page = new_page("phone", "dark")
    go(page, app_url + path)
    if path in PATHS[: len(WALK)]:
        drawn(page)

    page.wait_for_function("() => document.querySelector('.stMain').scrollWidth === 390")
    assert page.locator(".stMainBlockContainer").evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("path", PATHS[: len(WALK)])
def test_what_a_page_is_about_stands_above_the_fold(page, app_url, path):
    go(page, app_url + path)
    drawn(page)

    for place in (".st-key-frame", ".st-key-matrices", ".st-key-predict", ".st-key-written p >> nth=0"):
        for box in (element.bounding_box() for element in page.locator(place).all()):
            assert box is not None
            assert box["y"] + box["height"] <= 768, f"{place} ends at {box['y'] + box['height']:.0f}"
    assert page.locator(".stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_table_that_goes_on_to_the_right_is_shaded_there(new_page, app_url, theme):
    page = new_page("phone", theme)
    go(page, app_url)
    table = page.locator("[class*=st-key-written] .stMarkdown").filter(has=page.locator("table"))
    assert table.evaluate("node => node.scrollWidth > node.clientWidth")
    expect(table).to_have_css("background-attachment", "local, scroll")
    expect(table).to_have_css("background-position-x", "100%, 100%")
