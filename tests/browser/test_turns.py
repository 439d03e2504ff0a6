"""A page that is turned early takes all along: what the address held, and the cell that was picked last."""

import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import go, listen, settle
from tests.browser.test_ahead import Line
from tests.browser.test_journeys import drawn, expect_parameters
from tests.browser.test_matrix import active_cell, grid

STATE = {"seq_len": "9", "mask": "causal", "row": "1", "col": "2", "edits": "q.0.1.2=5"}
ADDRESS = "score?" + urlencode(STATE)
INPUTS, KEYS = "/NumberInput", "/BidiComponent"  # the files that draw the inputs, and that hear the keys
LINKS = {"next": ".st-key-next a", "navigation": '[data-testid="stTopNav"] a[href$="/scale"]'}


@pytest.fixture(params=LINKS)
def link(request) -> str:
    """What leads to the page after Score."""
    return LINKS[request.param]


def hold(page: Page, *files: str) -> Callable[[], None]:
    """Keep files from the browser until what comes back is called."""
    held: list[Route] = []
    over = False

    def take(route: Route) -> None:
        if over:
            route.continue_()
        else:
            held.append(route)

    for file in files:
        page.route(re.compile(file), take)

    def release() -> None:
        nonlocal over
        over = True
        for route in held:
            route.continue_()

    return release


def expect_turned(page: Page) -> None:
    """Wait until the next page stands, with all of the state."""
    page.wait_for_url(re.compile("/scale"))
    expect_parameters(page, **STATE)
    settle(page)
    expect(grid(page, "Scaled scores Z")).to_have_attribute("aria-rowcount", "10")
    assert active_cell(grid(page, "Scaled scores Z"))[:2] == ("kite", "fell")


def test_a_click_before_the_inputs_waits_for_them(page, app_url, link):
    release = hold(page, INPUTS)
    page.goto(f"{app_url}/{ADDRESS}")
    listen(page, "score")
    page.locator(link).click()
    page.locator(link).click()
    page.wait_for_timeout(300)
    assert page.url == f"{app_url}/{ADDRESS}"
    entries = page.evaluate("history.length")
    release()
    expect_turned(page)
    assert page.evaluate("history.length") == entries + 1, "turned once"


def test_a_click_waits_for_the_inputs_no_longer_than_it_must(page, app_url):
    release = hold(page, INPUTS)
    page.goto(f"{app_url}/{ADDRESS}")
    listen(page, "score")
    page.locator(LINKS["next"]).click()
    page.wait_for_url(re.compile("/scale"), timeout=10_000)
    release()
    expect_turned(page)


def test_a_click_that_nobody_heard_yet_loses_nothing(page, app_url):
    release = hold(page, INPUTS, KEYS)
    page.goto(f"{app_url}/{ADDRESS}")
    page.locator(LINKS["navigation"]).click()
    page.wait_for_url(re.compile("/scale"))
    release()
    listen(page, "scale")
    expect_turned(page)


def test_a_new_tab_does_not_wait(page, app_url):
    release = hold(page, INPUTS)
    page.goto(f"{app_url}/{ADDRESS}")
    listen(page, "score")
    with page.context.expect_page() as opened:
        page.locator(LINKS["next"]).click(button="middle")
    opened.value.wait_for_url(re.compile("/scale"))
    release()
    settle(page)
    assert page.url == f"{app_url}/{ADDRESS}"


def test_back_after_a_reload_brings_what_was_there(page, app_url):
    go(page, f"{app_url}/score")
    listen(page, "score")
    page.locator(LINKS["next"]).click()
    listen(page, "scale")
    page.get_by_role("slider", name="Sequence length").press("ArrowRight")
    expect_parameters(page, seq_len="8")
    page.reload()
    settle(page)
    listen(page, "scale")
    page.evaluate("history.go(-2)")
    page.wait_for_url(re.compile("/score$"))
    listen(page, "score")
    page.wait_for_timeout(500)
    settle(page)
    assert page.url == f"{app_url}/score"


@pytest.mark.parametrize("modifiers", [[], ["Control"]], ids=["plain", "control"])
def test_what_was_taken_back_does_not_return(page, app_url, modifiers):
    go(page, f"{app_url}/score?seq_len=8")
    listen(page, "score")
    page.get_by_role("slider", name="Sequence length").press("ArrowLeft")
    expect_parameters(page)
    page.locator(LINKS["next"]).click(modifiers=modifiers)
    listen(page, "scale")
    page.wait_for_timeout(500)
    settle(page)
    assert page.url == f"{app_url}/scale"


TURNS = {
    "mouse": lambda page: page.locator(LINKS["next"]).click(),
    "key": lambda page: page.locator(LINKS["next"]).evaluate("(link) => link.click()"),
}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_a_cell_that_was_just_picked_goes_along(page, app_url, turn):
    go(page, f"{app_url}/score?row=1&col=1")
    drawn(page)
    listen(page, "score")
    grid(page, "Scores S").press("ArrowRight")
    turn(page)
    page.wait_for_url(re.compile("/scale"))
    expect_parameters(page, row="1", col="2")
    assert active_cell(grid(page, "Scaled scores Z"))[:2] == ("kite", "fell")


def test_a_number_that_is_being_typed_goes_along(page, app_url):
    go(page, f"{app_url}/score?row=1&col=1")
    drawn(page)
    listen(page, "score")
    scores = grid(page, "Queries Q")
    scores.press("5")
    page.locator(LINKS["next"]).click()
    page.wait_for_url(re.compile("/scale"))
    expect_parameters(page, row="1", edits="q.0.1.0=5")


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_a_picked_cell_goes_along_when_the_server_is_busy(page, app_url, turn):
    line = Line(page)
    go(page, f"{app_url}/score?row=1&col=1")
    drawn(page)
    listen(page, "score")
    line.held = True
    grid(page, "Scores S").press("ArrowRight")
    turn(page)
    page.wait_for_timeout(500)
    line.release()
    page.wait_for_url(re.compile("/scale"))
    expect_parameters(page, row="1", col="2")
    assert active_cell(grid(page, "Scaled scores Z"))[:2] == ("kite", "fell")


def test_a_turn_waits_for_all_of_the_answer_to_a_pick(page, app_url):
    line = Line(page)
    go(page, f"{app_url}/score?row=1&col=1")
    drawn(page)
    listen(page, "score")
    line.answers_held = True
    grid(page, "Scores S").press("ArrowRight")
    line.answered(page)
    page.locator(LINKS["next"]).click()
    while page.evaluate("'sending' in document.documentElement.dataset"):
        line.answers.pop(0)()
        page.wait_for_timeout(20)
    page.wait_for_timeout(200)
    assert page.url.startswith(f"{app_url}/score?"), "the matrix has its answer, the inputs do not"
    line.release_answers()
    page.wait_for_url(re.compile("/scale"))
    expect_parameters(page, row="1", col="2")
