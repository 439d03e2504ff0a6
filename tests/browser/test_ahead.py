"""A slider's next picture is there before the server has answered; what the server says then counts."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from core.setup import Setup, run
from tests.browser.conftest import IDLE, go
from tests.browser.test_journeys import expect_parameters
from tests.browser.test_matrix import grid, point

LENGTH, WIDTH = "Sequence length T", "Width of a query, d_k"


class Line:
    """The line from the page to the server: held, the server hears nothing; with answers held, the page."""

    def __init__(self, page: Page) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.answers: list[Callable[[], None]] = []
        self.held = self.answers_held = False
        page.route_web_socket("**/_stcore/stream", self._join)

    def _join(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if self.held:
                self.waiting.append(lambda: server.send(message))
            else:
                server.send(message)

        def answer(message: str | bytes) -> None:
            if self.answers_held:
                self.answers.append(lambda: route.send(message))
            else:
                route.send(message)

        route.on_message(pass_on)
        server.on_message(answer)

    def release(self) -> None:
        """Say all that was held, in its order."""
        self.held = False
        while self.waiting:
            self.waiting.pop(0)()

    def answered(self, page: Page) -> None:
        """Wait until the server has said all that it has to say."""
        count = -1
        while count < len(self.answers) or count == 0:
            count = len(self.answers)
            page.wait_for_timeout(400)

    def release_answers(self) -> None:
        """Let the page hear all that the server said, in its order."""
        self.answers_held = False
        while self.answers:
            self.answers.pop(0)()

    def say_first(self, page: Page) -> None:
        """Say what was held first, once the page has sent it, and hold the rest."""
        for _ in range(50):
            if self.waiting:
                break
            page.wait_for_timeout(100)
        self.waiting.pop(0)()


@pytest.fixture
def line(page) -> Line:
    return Line(page)


# Every number of A as it is drawn.
WEIGHTS = """(g) => Array.from({ length: g.ariaRowCount - 1 }, (_, row) =>
    Array.from({ length: g.ariaColCount - 1 }, (_, col) => g.cellText(row, col)))"""


# Notes the length of every picture from now on.
WATCH = """(board) => {
    window.lengths = [];
    const note = () => lengths.push(board.querySelector('[role="grid"]').ariaRowCount - 1);
    new MutationObserver(note).observe(board, { attributeFilter: ["data-painted"] });
}"""


def expect_weights(page: Page, setup: Setup) -> None:
    """Wait until A is that of the core, each number to the two digits that a cell shows."""
    computed = run(setup).heads.weights[0]
    for _ in range(50):
        shown = grid(page, "Weights A").evaluate(WEIGHTS)
        texts = [text for row in shown for text in row]
        if len(shown) == len(computed) and all(map(_same, texts, computed.ravel())):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{shown} is drawn where the core has\n{computed}")


def _same(text: str, number: float) -> bool:
    return number < 0.01 if text in ("<0.01", "0") else abs(float(text) - number) < 0.0051


def open_and_hold(page: Page, line: Line, url: str, setup: Setup) -> None:
    """Open an address; when its matrices stand, hold the line."""
    go(page, url)
    expect_weights(page, setup)
    line.held = True


def test_the_picture_moves_while_the_server_is_silent(page, app_url, line):
    open_and_hold(page, line, app_url, Setup())

    page.get_by_role("slider", name=LENGTH).press("ArrowRight")
    expect_weights(page, Setup(seq_len=8))
    page.get_by_role("slider", name=LENGTH).press("ArrowLeft")
    expect_weights(page, Setup())
    page.get_by_role("slider", name=LENGTH).press("ArrowLeft")
    expect_weights(page, Setup(seq_len=6))
    assert "seq_len" not in page.url

    line.release()
    expect(page).to_have_url(f"{app_url}/?seq_len=6")
    expect_weights(page, Setup(seq_len=6))


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_a_long_sequence_moves_from_the_few_numbers_that_are_new(page, app_url, line, mask):
    open_and_hold(page, line, f"{app_url}/?seq_len=63&mask={mask}", Setup(seq_len=63, mask=mask))

    for key, length in (("ArrowRight", 64), ("ArrowLeft", 63), ("ArrowLeft", 62)):
        page.get_by_role("slider", name=LENGTH).press(key)
        expect_weights(page, Setup(seq_len=length, mask=mask))

    line.release()
    expect_parameters(page, seq_len="62", **({} if mask == "none" else {"mask": mask}))
    expect_weights(page, Setup(seq_len=62, mask=mask))


def test_the_width_moves_too_and_the_answer_brings_what_belongs_to_it(page, app_url, line):
    open_and_hold(page, line, app_url, Setup())

    page.get_by_role("slider", name=WIDTH).press("ArrowRight")
    expect_weights(page, Setup(d_k=8))
    expect(page.get_by_text("d_model = heads × d_k = 1 × 4 = 4")).to_be_visible()

    line.release()
    expect(page.get_by_text("d_model = heads × d_k = 1 × 8 = 8")).to_be_visible()
    expect_weights(page, Setup(d_k=8))


def test_a_stop_further_away_waits_for_the_server(page, app_url, line):
    open_and_hold(page, line, app_url, Setup())

    slider = page.get_by_role("slider", name=LENGTH)
    slider.press("ArrowRight")
    expect_weights(page, Setup(seq_len=8))
    slider.press("ArrowRight")
    expect(slider).to_have_value("9")
    expect_weights(page, Setup(seq_len=8))

    line.release()
    expect_weights(page, Setup(seq_len=9))


def test_an_answer_to_something_before_does_not_turn_the_move_back(page, app_url, line):
    open_and_hold(page, line, app_url, Setup())
    page.get_by_role("spinbutton", name="Query").press("ArrowUp")
    page.get_by_role("slider", name=LENGTH).press("ArrowRight")
    expect_weights(page, Setup(seq_len=8))
    page.locator(".st-key-matrices [data-painted]").evaluate(WATCH)

    line.say_first(page)
    expect_parameters(page, row="5")
    page.wait_for_function("lengths.length > 0")
    assert set(page.evaluate("lengths")) == {8}

    line.release()
    expect_parameters(page, row="5", seq_len="8")
    expect_weights(page, Setup(seq_len=8))


def test_a_selection_in_the_last_row_is_kept_in_the_matrix(page, app_url, line):
    open_and_hold(page, line, f"{app_url}/?row=6&col=6", Setup())

    page.get_by_role("slider", name=LENGTH).press("ArrowLeft")

    cell = grid(page, "Weights A").locator('[role="gridcell"]')
    expect(cell).to_have_attribute("aria-colindex", "7")
    expect(cell).to_have_attribute("aria-selected", "true")
    line.release()
    expect_parameters(page, seq_len="6", row="5", col="5")


def test_there_and_back_before_the_first_answer_leaves_the_address_as_it_was(page, app_url, line):
    go(page, f"{app_url}/?seq_len=12")
    expect_weights(page, Setup(seq_len=12))
    line.answers_held = True
    page.get_by_role("slider", name=LENGTH).press("ArrowLeft")
    line.answered(page)
    page.get_by_role("slider", name=LENGTH).press("ArrowRight")
    line.answered(page)
    line.release_answers()
    expect_weights(page, Setup(seq_len=12))

    page.get_by_role("spinbutton", name="Query").press("ArrowUp")
    expect_parameters(page, row="5", seq_len="12")


def test_a_state_of_three_runs_before_comes_back_while_a_run_ends(page, app_url, line):
    go(page, f"{app_url}/?seq_len=20")
    for length in (19, 18):
        page.get_by_role("slider", name=LENGTH).press("ArrowLeft")
        expect(page).to_have_url(f"{app_url}/?seq_len={length}")
        expect_weights(page, Setup(seq_len=length))
    page.wait_for_selector(IDLE)
    line.answers_held = True
    page.get_by_role("slider", name=LENGTH).press("ArrowLeft")
    line.answered(page)
    typed = page.get_by_role("spinbutton", name="T", exact=True)
    typed.fill("19")
    typed.press("Enter")
    line.answered(page)

    line.release_answers()

    expect_weights(page, Setup(seq_len=19))
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_two_sliders_before_an_answer_do_not_turn_each_other_back(page, app_url, line):
    open_and_hold(page, line, app_url, Setup())
    page.get_by_role("slider", name=LENGTH).press("ArrowRight")
    expect_weights(page, Setup(seq_len=8))
    page.locator(".st-key-matrices [data-painted]").evaluate(WATCH)

    width = page.get_by_role("slider", name=WIDTH)
    width.press("ArrowRight")
    expect(width).to_have_attribute("aria-valuetext", "8")
    width.press("ArrowLeft")
    expect(width).to_have_attribute("aria-valuetext", "4")
    width.press("ArrowRight")
    expect(width).to_have_attribute("aria-valuetext", "8")
    assert set(page.evaluate("lengths")) <= {8}

    line.release()
    expect_weights(page, Setup(seq_len=8, d_k=8))


def test_a_length_that_is_typed_is_drawn_once(page, app_url):
    go(page, f"{app_url}/?seq_len=10")
    expect_weights(page, Setup(seq_len=10))
    page.locator(".st-key-matrices [data-painted]").evaluate(WATCH)

    page.get_by_role("spinbutton", name="T", exact=True).fill("11")
    page.keyboard.press("Enter")

    expect(page.get_by_role("slider", name=LENGTH)).to_have_value("11")
    expect_weights(page, Setup(seq_len=11))
    lengths = page.evaluate("lengths")
    assert 10 not in lengths[lengths.index(11) :]


def test_a_pointer_on_a_cell_that_is_gone_points_at_nothing(page, app_url):
    go(page, app_url)
    weights = grid(page, "Weights A")
    weights.hover(position=point(weights, 6, 6))
    status = page.locator(".st-key-matrices .status")
    expect(status).to_have_text(re.compile(r"^A\[wet, wet\]"))

    page.get_by_role("slider", name=LENGTH).press("ArrowLeft")
    expect_weights(page, Setup(seq_len=6))
    expect(status).to_have_text(re.compile(r"^A\[it, kite\] = 0\.91"))
