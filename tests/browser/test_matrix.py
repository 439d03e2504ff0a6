"""The matrix component in a real Chromium: what is painted, what a reader can do, what Python hears."""

import re
from collections.abc import Callable
from itertools import pairwise
from operator import ne
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import go

APP = Path(__file__).with_name("apps") / "matrix_app.py"
# Keeps every text that is painted: [text, ink, the colour that was beneath its middle].
RECORD = """
window.written = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, room) {
  const beneath = this.getImageData(x, y, 1, 1).data.slice(0, 3);
  window.written.push([text, this.fillStyle, [...beneath]]);
  return fillText.call(this, text, x, y, room);
};
"""
# The painted colours at points of the board, [r, g, b] each.
COLOURS = """(board, points) => {
  const ink = board.querySelector("canvas").getContext("2d");
  return points.map(([x, y]) => [...ink.getImageData(x, y, 1, 1).data.slice(0, 3)]);
}"""
# The picture of a row and of a column of a grid, with the frames around them: two lists of bytes.
BANDS = """(grid, [row, col]) => {
  const ink = grid.closest(".board").querySelector("canvas").getContext("2d");
  const [rows, cols] = ["rowcount", "colcount"].map((name) => grid.getAttribute(`aria-${name}`) - 1);
  const { offsetLeft: x, offsetTop: y, offsetWidth: width, offsetHeight: height } = grid;
  const picture = (left, top, width, height) => {
    return [...ink.getImageData(left - 3, top - 3, width + 6, height + 6).data];
  };
  const [cellWidth, cellHeight] = [width / cols, height / rows];
  return [
    picture(x, y + cellHeight * row, width, cellHeight),
    picture(x + cellWidth * col, y, cellWidth, height),
  ];
}"""


@pytest.fixture(scope="module")
def url(serve: Callable[..., str]) -> str:
    return serve(APP)


def open_case(page: Page, url: str, case: str) -> Page:
    page.add_init_script(RECORD)
    go(page, f"{url}/?case={case}")
    page.wait_for_selector(".board[data-settled]")
    return page


def grid(page: Page, title: str) -> Locator:
    return page.get_by_role("grid", name=re.compile(f"^{re.escape(title)},"))


def point(grid: Locator, row: int, col: int) -> dict[str, float]:
    """The middle of a cell, from the corner of its grid."""
    rows, cols = (int(grid.get_attribute(f"aria-{name}count")) - 1 for name in ("row", "col"))
    box = grid.bounding_box()
    return {"x": (col + 0.5) * box["width"] / cols, "y": (row + 0.5) * box["height"] / rows}


def selected(page: Page, **axes: int) -> None:
    """Wait until Python has this selection."""
    for axis, index in axes.items():
        expect(page.get_by_text("selected [")).to_contain_text(f"('{axis}', {index})")


def active_cell(grid: Locator) -> tuple[str, str, str]:
    """Row header, column header and text of the one cell that assistive technology is told of."""
    row = grid.get_by_role("rowheader").inner_text()
    return row, grid.get_by_role("columnheader").inner_text(), grid.get_by_role("gridcell").inner_text()


# --- picking ---


def test_a_click_reaches_python_and_every_matrix(page, url):
    open_case(page, url, "walk")

    grid(page, "Weights A").click(position=point(grid(page, "Weights A"), 1, 2))

    selected(page, query=1, key=2)
    assert active_cell(grid(page, "Scores S")) == ("kite", "fell", "8")
    assert active_cell(grid(page, "Weights A")) == ("kite", "fell", "0.65")
    expect(page.locator(".live")).to_have_text(
        "Weights A: row kite, column fell: 0.65; row kite from less than 0.01 (The) to 0.65 (fell)"
    )


def test_arrow_keys_select_within_the_focused_matrix(page, url):
    open_case(page, url, "walk")
    scores = grid(page, "Scores S")
    scores.focus()

    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)

    assert active_cell(scores) == ("because", "fell", "6")
    selected(page, query=3, key=2)
    page.evaluate("window.keys = []; addEventListener('keydown', (event) => keys.push(event.key))")
    for keys, cell in {
        "Home": ("because", "The", "0"),
        "ArrowLeft": ("because", "The", "0"),
        "End": ("because", "wet", "4"),
        "Control+Home": ("The", "The", "0"),
        "PageDown": ("wet", "The", "minus 4"),
        "Control+End": ("wet", "wet", "minus 2"),
    }.items():
        page.keyboard.press(keys)
        assert active_cell(scores) == cell
    selected(page, query=6, key=6)
    assert page.evaluate("keys") == ["Control", "Control"]  # the page's own shortcuts hear no arrows


@pytest.mark.parametrize("case", ["walk", "slow"])
def test_quick_keys_never_jump_back(page, url, case):
    open_case(page, url, case)
    cell = grid(page, "Scores S").get_by_role("gridcell")
    cell.evaluate("""(cell) => {
        window.seen = [];
        new MutationObserver(() => window.seen.push(Number(cell.getAttribute("aria-colindex"))))
            .observe(cell, { attributeFilter: ["aria-colindex"] });
    }""")
    grid(page, "Scores S").focus()
    page.keyboard.press("Home")

    for pause in (130, 160, 190, 220, 250, 280):  # some keys are pressed while an answer is on its way
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(pause)

    selected(page, key=6)
    seen = page.evaluate("seen")
    assert seen == sorted(seen)
    assert seen[-1] == 8


def test_python_moves_the_selection(page, url):
    open_case(page, url, "walk")
    grid(page, "Scores S").click(position=point(grid(page, "Scores S"), 0, 0))
    selected(page, query=0, key=0)

    page.get_by_role("button", name="Select the last").click()

    selected(page, query=6, key=6)
    expect(grid(page, "Scores S").get_by_role("gridcell")).to_have_text("minus 2")


def test_the_same_word_twice_is_two_rows(page, url):
    open_case(page, url, "large&n=9")
    scores = grid(page, "Scores S")

    scores.click(position=point(scores, 7, 0))

    selected(page, query=7, key=0)
    assert active_cell(scores)[0] == "The"


def test_a_tap_selects(new_page, url):
    page = open_case(new_page("phone"), url, "walk")
    grid(page, "Scores S").tap(position=point(grid(page, "Scores S"), 2, 1))
    selected(page, query=2, key=1)


@pytest.mark.parametrize(
    ("device", "way"), [("phone", "tap a cell twice"), ("desktop", "double-click or Enter")]
)
def test_the_way_to_edit_is_told_in_the_readers_own_terms(new_page, app_url, device, way):
    page = new_page(device)
    go(page, f"{app_url}/score")
    expect(page.get_by_text(way)).to_be_visible()


# --- pointing ---


class Lights:
    """How many bytes of the picture of a row and a column differ from when nothing was lit."""

    def __init__(self, grid: Locator, row: int, col: int) -> None:
        self.grid, self.cell = grid, [row, col]
        self.dark = grid.evaluate(BANDS, self.cell)

    def lit(self) -> list[int]:
        now = self.grid.evaluate(BANDS, self.cell)
        return [sum(map(ne, *bands)) for bands in zip(now, self.dark, strict=True)]


def test_pointing_lights_every_matrix_without_a_message(page, url):
    frames = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    open_case(page, url, "heads")
    page.wait_for_timeout(500)  # what the first run still sends
    frames.clear()
    head, *others = (Lights(grid(page, title), 2, 5) for title in ("Head 0", "Head 5", "Elements"))

    head.grid.hover(position=point(head.grid, 2, 5))

    expect(page.locator(".status").first).to_contain_text("Head 0[fell, was] = 0.")
    assert min(head.lit()) > 1000
    assert min(others[0].lit()) > 1000
    assert others[1].lit()[0] > 1000  # on another board, which shares the queries alone
    page.mouse.move(0, 0)
    expect(page.locator(".status").first).to_contain_text("Head 0[it, kite] = ")
    assert [one.lit() for one in (head, *others)] == [[0, 0]] * 3
    assert frames == []


def test_pointing_lights_the_cells_that_a_number_came_from(page, url):
    open_case(page, url, "walk")
    weights, scaled = (Lights(grid(page, title), 0, 6) for title in ("Weights A", "Scaled scores Z"))

    output = grid(page, "Output O")
    output.hover(position=point(output, 0, 0))
    expect(page.locator(".status")).to_have_text(re.compile(r"^O\[The, who\] = 4\.8"))
    source, same_row = weights.lit()[0], scaled.lit()[0]

    assert source > same_row > 1000  # a source's frame is thicker and has the theme's colour
    weights.grid.hover(position=point(weights.grid, 0, 0))
    expect(page.locator(".status")).to_have_text(re.compile(r"^A\[The, The\] = 0\.06"))
    assert scaled.lit()[0] > same_row


def test_the_status_tells_the_exact_number(page, url):
    open_case(page, url, "walk")
    weights = grid(page, "Weights A")
    expect(page.locator(".status")).to_have_text("S[it, kite] = 8")

    weights.hover(position=point(weights, 4, 1))

    expect(page.locator(".status")).to_have_text("A[it, kite] = 0.8544076199041872")


# --- editing ---


def test_enter_commits_an_edit(page, url):
    open_case(page, url, "score")
    queries = grid(page, "Queries Q")
    for typed, value in {"7.5": 7.5, "7,25": 7.25, "−2": -2.0, " +.5e1 ": 5.0}.items():
        queries.dblclick(position=point(queries, 4, 0))
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        expect(page.get_by_text("edits [")).to_contain_text(f"((4, 0), {value})")
        expect(queries).to_be_focused()
    expect(page.locator(".notes")).to_contain_text("changed")
    expect(queries.get_by_role("gridcell")).to_have_text("5, changed")
    expect(page.locator(".live")).to_have_text("Queries Q: row it, column thing: 5, changed")


def test_editing_by_keyboard_alone(page, url):
    open_case(page, url, "score")
    grid(page, "Queries Q").focus()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_label("New value: Q[was, thing]")).to_have_value("2")
    page.keyboard.press("Escape")
    page.keyboard.type("-3")  # a digit or a sign begins an edit too
    page.keyboard.press("Tab")  # leaving the field keeps the number

    expect(page.get_by_text("edits [")).to_have_text("edits [((5, 0), -3.0)]")


def test_what_is_no_number_is_refused_and_the_old_one_stays(page, url):
    open_case(page, url, "score")
    queries = grid(page, "Queries Q")
    queries.click(position=point(queries, 4, 0))
    for junk in ("seven", "", "1/2", "1e999", "3 4"):
        queries.press("Enter")
        page.keyboard.press("Backspace")
        page.keyboard.type(junk)
        page.keyboard.press("Enter")
        expect(page.locator(".live")).to_have_text(f"“{junk}” is not a number: Q[it, thing] = 3 stays")
        expect(page.locator(".editor")).to_have_count(0)
    expect(page.get_by_text("edits [")).to_have_text("edits []")


def test_other_matrices_are_not_edited(page, url):
    open_case(page, url, "score")
    grid(page, "Scores S").dblclick(position=point(grid(page, "Scores S"), 4, 0))
    page.keyboard.press("Enter")
    expect(page.locator(".editor")).to_have_count(0)
    expect(grid(page, "Scores S").get_by_role("gridcell")).to_have_attribute("aria-readonly", "true")


# --- what is painted ---

ODD = {(0, 0): "−∞", (0, 1): "∞", (0, 2): "NaN", (1, 0): "0", (1, 1): "0", (1, 2): "1", (2, 0): "<0.01"}
ODD |= {(2, 1): ">−0.01", (2, 2): "1.00", (3, 0): "0.50", (3, 1): "12.25", (3, 2): "1.0e9"}


def test_numbers_are_painted_as_they_are(page, url):
    open_case(page, url, "odd")

    painted = {text for text, *_ in page.evaluate("written")}

    assert painted == {*ODD.values(), *"abcxyz"}  # so never −0, and no shorter zero
    for (row, col), text in ODD.items():
        assert grid(page, "Odd numbers").evaluate("(g, [r, c]) => g.cellText(r, c)", [row, col]) == text


def test_a_screen_reader_hears_the_same_numbers(page, url):
    open_case(page, url, "odd")
    odd = grid(page, "Odd numbers")
    odd.focus()
    page.keyboard.press("Control+Home")
    heard = [active_cell(odd)]
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Home", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
        heard.append(active_cell(odd))

    assert heard == [
        ("a", "x", "minus infinity"),
        ("a", "y", "infinity"),
        ("a", "z", "NaN"),
        ("b", "z", "1"),
        ("b", "x", "0"),
        ("c", "x", "less than 0.01"),
        ("c", "y", "more than minus 0.01"),
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_number_stands_out_from_its_cell(new_page, url, theme):
    page = new_page(theme=theme)
    for case in ("masked", "blocks", "odd"):
        open_case(page, url, case)
        number = re.compile(r"[<>]?−?\d[\d.e]*|−?∞|NaN")
        pairs = [(ink, beneath) for text, ink, beneath in page.evaluate("written") if number.fullmatch(text)]
        assert len(pairs) > 20
        assert min(contrast(hex_rgb(ink), beneath) for ink, beneath in pairs) >= 4.5


def hex_rgb(ink: str) -> list[int]:
    return [int(ink[i : i + 2], 16) for i in (1, 3, 5)]


def contrast(a: list[int], b: list[int]) -> float:
    """WCAG 2 contrast of two colours."""

    def luminance(rgb: list[int]) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def cell_colours(page: Page, title: str, cells: list[tuple[int, int]]) -> list[list[int]]:
    """The painted colour near the corner of cells, where no number stands."""
    where = grid(page, title).evaluate("g => [g.offsetLeft, g.offsetTop, g.offsetWidth, g.offsetHeight]")
    left, top, width, height = where
    n_rows, n_cols = (int(grid(page, title).get_attribute(f"aria-{n}count")) - 1 for n in ("row", "col"))
    points = [[left + (c + 0.2) * width / n_cols, top + (r + 0.2) * height / n_rows] for r, c in cells]
    return page.locator(".board").first.evaluate(COLOURS, points)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_zero_is_neutral_and_the_signs_are_told_apart_by_hue(new_page, url, theme):
    page = open_case(new_page(theme=theme), url, "walk")

    zero, minus, plus = cell_colours(page, "Scores S", [(0, 0), (1, 0), (4, 1)])  # 0, −4, 8

    assert max(zero) - min(zero) < 16
    assert minus[0] > minus[2] + 60  # orange
    assert plus[2] > plus[0] + 60  # blue
    order = [contrast(zero, colour) for colour in cell_colours(page, "Scores S", [(0, 4), (0, 1), (4, 1)])]
    assert order == sorted(order)  # 2, 4, 8: ever further from zero, in lightness too


def test_the_scale_says_what_the_numbers_span(page, url):
    open_case(page, url, "masked")
    legends = page.locator(".legend").all_inner_texts()
    assert [re.sub(r"\s+", " ", text) for text in legends] == [
        "−4 0 8",
        "−2 0 4 −∞",
        "0 1 exactly 0",
        "0 8.86",
    ]


def test_the_theme_can_change_under_the_board(page, url):
    open_case(page, url, "walk")
    light = cell_colours(page, "Scores S", [(0, 0)])[0]

    page.emulate_media(color_scheme="dark")

    expect(page.locator(".board")).to_have_attribute("data-painted", "2")
    dark = cell_colours(page, "Scores S", [(0, 0)])[0]
    assert sum(light) > 600
    assert sum(dark) < 300


# --- time ---

# At the moment the picture of the next payload stands: had its colours faded already?
NEXT_PAINT = """(board) => {
    window.next = new Promise((resolve) => {
        new MutationObserver((_, watch) => {
            watch.disconnect();
            setTimeout(() => resolve(board.dataset.settled === board.dataset.painted));
        }).observe(board, { attributeFilter: ["data-painted"] });
    });
}"""


@pytest.mark.parametrize(("motion", "at_once"), [("reduce", True), ("no-preference", False)])
def test_colours_fade_unless_the_reader_wants_no_motion(new_page, url, motion, at_once):
    page = open_case(new_page(reduced_motion=motion), url, "walk")
    board = page.locator(".board")
    board.evaluate(NEXT_PAINT)

    page.get_by_role("slider").press("ArrowRight")

    assert page.evaluate("next") is at_once
    expect(board).to_have_attribute("data-settled", board.get_attribute("data-painted"), timeout=1000)
    assert grid(page, "Scores S").evaluate("g => g.cellText(4, 1)") == "16"


# --- room ---


def test_a_phone_never_scrolls_sideways(new_page, url):
    page = new_page("phone")
    for case in ("walk", "score", "heads", "odd", "large&n=16", "large&n=64", "large&n=64&d=40"):
        open_case(page, url, case)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, case
        box = page.locator(".board").first.bounding_box()
        assert box["x"] + box["width"] <= 390, case


def test_on_a_phone_matrices_stand_one_under_another(new_page, url):
    page = open_case(new_page("phone"), url, "walk")
    boxes = [g.bounding_box() for g in page.get_by_role("grid").all()]
    assert [box["x"] for box in boxes] == [boxes[0]["x"]] * 4
    for upper, lower in pairwise(boxes):
        assert upper["y"] + upper["height"] < lower["y"]


def test_what_is_too_wide_scrolls_to_the_selected_cell(new_page, url):
    page = open_case(new_page("phone"), url, "large&n=16")
    weights = grid(page, "Weights A")
    weights.focus()
    page.keyboard.press("End")
    page.wait_for_timeout(100)
    right = weights.bounding_box()["x"] + weights.bounding_box()["width"]
    assert right <= 390


def test_the_multiplication_lines_up(page, url):
    open_case(page, url, "score")
    q, k, s = (grid(page, title).bounding_box() for title in ("Queries Q", "Keys Kᵀ", "Scores S"))
    assert (q["y"], q["height"]) == (s["y"], s["height"])
    assert (k["x"], k["width"]) == (s["x"], s["width"])
    assert page.locator(".board").bounding_box()["height"] <= 420


@pytest.mark.parametrize("ratio", [1.25, 3])
def test_cells_are_whole_pixels_of_any_screen(new_page, url, ratio):
    page = open_case(new_page(device_scale_factor=ratio), url, "score")
    box = grid(page, "Scores S").bounding_box()
    for side in ("width", "height"):
        pixels = box[side] / 7 * ratio
        assert pixels == pytest.approx(round(pixels), abs=0.02)
    width = page.locator("canvas").first.evaluate("c => [c.width, c.getBoundingClientRect().width]")
    assert width[0] == pytest.approx(width[1] * ratio, abs=0.5)


def test_large_matrices_have_no_element_for_each_cell(page, url):
    open_case(page, url, "large&n=64&causal=1")
    assert page.locator(".board *").count() < 120
    scores = grid(page, "Scores S")
    scores.hover(position=point(scores, 60, 33))
    expect(page.locator(".status")).to_have_text(re.compile(r"^S\[it, was\] = −?\d"))
    assert not {text for text, *_ in page.evaluate("written") if re.search(r"\d", text)} - {"v0", "v1", "v2"}


# --- assistive technology ---


def test_each_matrix_is_one_tab_stop_and_a_proper_grid(page, url):
    open_case(page, url, "walk")
    page.get_by_role("button", name="Select the last").focus()
    for title in ("Scores S", "Scaled scores Z", "Weights A", "Output O"):
        page.keyboard.press("Tab")
        expect(grid(page, title)).to_be_focused()
        expect(grid(page, title)).to_have_css("outline-style", "solid")

    scores = grid(page, "Scores S")
    assert scores.get_attribute("aria-label") == "Scores S, 7 rows, 7 columns"
    assert scores.get_attribute("aria-description") == (
        "rows: query, columns: key, values from minus 4 (row kite, column The) to 8 (row kite, column fell), "
        "row it from minus 2 (The) to 8 (kite)"
    )
    assert [scores.get_attribute(f"aria-{name}count") for name in ("row", "col")] == ["8", "8"]
    cell = scores.get_by_role("gridcell")
    assert cell.get_attribute("id") == scores.get_attribute("aria-activedescendant")
    assert cell.get_attribute("aria-selected") == "true"
    assert [
        cell.get_attribute("aria-colindex"),
        scores.get_by_role("row").last.get_attribute("aria-rowindex"),
    ] == [
        "3",
        "6",
    ]


def test_labels_are_text_whatever_they_hold(page, url):
    open_case(page, url, "hostile")
    assert active_cell(page.get_by_role("grid")) == ("<img src=x onerror=alert(1)>", "**bold**", "1")
    assert page.locator(".board img, .board .name b").count() == 0
