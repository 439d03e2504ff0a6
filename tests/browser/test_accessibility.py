"""Every page for everybody: axe-core, contrast, text alone, keyboard, zoom, forced colours, no motion."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core import quiz
from core.setup import Setup, inputs, run
from pages import PAGES
from tests.browser.conftest import go, settle
from tests.browser.test_journeys import tab_to
from tests.browser.test_matrix import RECORD, contrast, grid, hex_rgb

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
OURS = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")
# Off by default in axe-core, and part of WCAG 2.2 AA: targets of 24 pixels.
RULES = {"target-size": {"enabled": True}}
# What Streamlit does and a page cannot change: rule -> the one place that it is accepted in, and why.
STREAMLIT = {
    # The drop zone of an upload is a section with role=presentation that also has a label. What is used and
    # read out is the button inside it; the zone is passed over, or announced as a region of that name.
    "presentation-role-conflict": 'data-testid="stFileUploaderDropzone"',
    # A select box names a description that is not there while its list is closed. It has its name; nothing is
    # left unsaid.
    "aria-valid-attr-value": 'role="combobox"',
}


def open_all(page: Page) -> None:
    """Everything that can be folded out of the page itself."""
    page.evaluate(
        "document.querySelectorAll('.stMain details:not([open]) > summary').forEach((one) => one.click())"
    )
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


# name -> address and what is done there first
SCREENS: dict[str, tuple[str, Callable[[Page], None]]] = {
    page.slug: (f"/{page.slug}" if page is not PAGES[0] else "/", open_all) for page in PAGES
} | {
    "a prediction": ("/score", predict),
    "a quiz item": ("/check", answer),
    "a verdict": ("/clinic?sample=The+scale+is+missing", settle),
    "a mask painted": ("/mask?mask_lab=Paint+a+mask&n_heads=2&head=all", settle),
    "a chart": ("/scale?scale_lab=Variance", settle),
    "colours that stand for places": ("/heads?heads_lab=Wrong+reshape&heads_part=Shapes", settle),
    "edited numbers": ("/blend?edits=q.0.4.0%3D5", settle),
}


def watched(new_page: Callable[..., Page], *device_and_theme: str, **options) -> Page:
    page = new_page(*device_and_theme, **options)
    page.add_init_script(AXE + OURS)
    return page


def examine(page: Page) -> list[str]:
    """All that is wrong with what is on screen. A look that falls into a run, which pales it, is repeated."""
    for pause in (500, 1500, 0):
        page.wait_for_function(IS_FRESH)
        if not (wrong := look(page)):
            break
        page.wait_for_timeout(pause)
        settle(page)
    return wrong


def look(page: Page) -> list[str]:
    """What axe-core finds, what it is unsure of (contrast is judged here) and what is without words."""
    found = page.evaluate("(rules) => complaints(rules)", RULES)
    listed = [*found["violations"], *(one for one in found["incomplete"] if one["rule"] != "color-contrast")]
    wrong = [
        f"{one['rule']}: {one['place']}\n{one['html']}\n{one['why']}"
        for one in listed
        if STREAMLIT.get(one["rule"], "\0") not in one["html"]
    ]
    wrong += [f"faint: {one}" for one in page.evaluate("faintTexts()")]
    return wrong + [f"without words: {one}" for one in page.evaluate("wordless()")]


@pytest.mark.parametrize("names", [list(SCREENS)[i::2] for i in range(2)], ids=["even", "odd"])
def test_nothing_is_wrong_in_light_dark_large_and_presenter_mode(new_page, app_url, names):
    page = watched(new_page, reduced_motion="reduce")  # what fades is judged when it has faded
    wrong = [fault for name in names for fault in visit(page, app_url, name)]
    assert not wrong, "\n\n".join(wrong)


def visit(page: Page, app_url: str, name: str) -> Iterator[str]:
    """One screen in its four looks -> what is wrong with it."""
    address, prepare = SCREENS[name]
    page.emulate_media(color_scheme="light")
    go(page, app_url + address)
    page.wait_for_function(IS_DRESSED)
    prepare(page)
    yield from (f"{name}, light: {fault}" for fault in examine(page))
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(IS_DARK)
    settle(page)
    yield from (f"{name}, dark: {fault}" for fault in examine(page))
    page.set_viewport_size({"width": 683, "height": 384})  # 1366 × 768 at 200 %
    yield from (f"{name}, at 200 %: {fault}" for fault in lost(page))
    page.set_viewport_size({"width": 1366, "height": 768})
    if prepare is open_all:
        go(page, f"{app_url}{address}?present=1")
        page.wait_for_function(IS_DRESSED)
        yield from (f"{name}, presenter: {fault}" for fault in examine(page))


def lost(page: Page) -> list[str]:
    """What cannot be brought into view, once boards and charts have taken the window's new width."""
    for _ in range(50):
        faults = [f"lost: {text}" for text in page.evaluate("lostTexts()")]
        width, room = page.evaluate(
            "(main => [main.scrollWidth, main.clientWidth])(document.querySelector('.stMain'))"
        )
        faults += [f"{width} pixels wide, of {room}"] * (width > room)
        if not faults:
            break
        page.wait_for_timeout(200)
    return faults


# The style sheet comes with the page's other elements, on a server's first page a moment after them.
IS_DRESSED = "getComputedStyle(document.querySelector('.stApp')).getPropertyValue('--paper') !== ''"
# Streamlit shows faintly what a run has not drawn again yet.
IS_FRESH = "!document.querySelector('[data-stale=true]')"
IS_DARK = "getComputedStyle(document.querySelector('.stApp')).backgroundColor === 'rgb(16, 20, 25)'"


# --- what is painted ---

COLOURS = (Path(__file__).parents[2] / "assets" / "matrix" / "colours.js").read_text(encoding="utf-8")
# Every colour that a cell can have, with the ink that is written on it: [ground, ink].
INKED = """
const grounds = Object.keys(SCALES).flatMap((mode) => [
  ...Object.keys(SCALES[mode]).flatMap((kind) => table(kind, mode)),
  ...["masked", "nan"].map((kind) => rgbOf(ODD[mode][kind])),
]).concat(Array.from({ length: 2 * CATEGORIES.length }, (_, i) => categoryColour(i)));
return grounds.map((ground) => [ground, inkOn(ground)]);
"""


def test_a_number_can_be_read_on_every_colour_of_every_scale(page):
    inked = page.evaluate(f"() => {{ {COLOURS} {INKED} }}")
    assert len(inked) > 2 * 3 * 256
    assert min(contrast(ground, hex_rgb(ink)) for ground, ink in inked) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_that_is_painted_can_be_read(new_page, app_url, theme):
    page = new_page("desktop", theme)
    page.add_init_script(RECORD)
    for address in ("/softmax", "/mask?mask=causal", "/heads?n_heads=2"):
        go(page, app_url + address)
        page.wait_for_selector(".board[data-settled]")
        painted = page.evaluate("written")
        faint = {
            (text, ink, *ground)
            for text, ink, ground in painted
            if contrast(page_rgb(page, ink), ground) < 4.5
        }
        assert len(painted) > 40, address
        assert not faint, address


def page_rgb(page: Page, colour: str) -> list[int]:
    """A colour as the canvas names it: #rrggbb, or rgb() and color() where it was mixed."""
    return hex_rgb(colour) if colour.startswith("#") else page.evaluate(RGB, colour)


RGB = """(colour) => {
  const ink = document.createElement("canvas").getContext("2d");
  ink.fillStyle = colour;
  ink.fillRect(0, 0, 1, 1);
  return [...ink.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("touch", ["hover", "focus"])
def test_the_way_on_can_be_read_under_the_pointer_and_with_the_focus(new_page, app_url, theme, touch):
    page = watched(new_page, "desktop", theme)
    go(page, f"{app_url}/score")
    way_on = page.locator(".st-key-next a")
    getattr(way_on, touch)()
    page.wait_for_timeout(400)  # its colours fade
    style = "(node, name) => getComputedStyle(node)[name]"
    words, ground = (
        way_on.locator("p").evaluate(style, "color"),
        way_on.evaluate(style, "backgroundColor"),
    )
    assert page.evaluate("([a, b]) => contrastOf(rgba(a), rgba(b))", [words, ground]) >= 4.5, (words, ground)
    assert page.evaluate("(colour) => rgba(colour)[3]", ground) == 1  # else what lies under it counts


# --- motion, forced colours ---


def test_nothing_moves_for_those_who_ask_for_it(new_page, app_url):
    still, usual = (watched(new_page, reduced_motion=motion) for motion in ("reduce", "no-preference"))
    for page in (still, usual):
        go(page, f"{app_url}/softmax")
        page.wait_for_function(IS_DRESSED)
    assert still.evaluate("moving()") == 0
    assert usual.evaluate("moving()") > 0
    # None, not a short one: on every element that costs each move of a slider more than the matrices do.
    assert still.locator("body").evaluate("(node) => getComputedStyle(node).transitionDuration") == "0s"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_forced_colours_keep_what_colour_shows(new_page, app_url, theme):
    page = watched(new_page, "desktop", theme, forced_colors="active")
    go(page, f"{app_url}/softmax")
    page.wait_for_function(IS_DRESSED)
    style = "(node, name) => getComputedStyle(node)[name]"
    thumb = page.locator(".stSlider [data-rac][style*='translate']").first
    ground = page.locator(".stApp").evaluate(style, "backgroundColor")
    thumb_and_ground = [thumb.evaluate(style, "backgroundColor"), ground]
    assert page.evaluate("([a, b]) => contrastOf(rgba(a), rgba(b))", thumb_and_ground) >= 3
    assert "gradient" in page.locator(".legend .bar").first.evaluate(style, "backgroundImage")
    lit = page.locator(".st-key-formula [style*='ffd866'], .st-key-formula [style*='255, 216, 102']").first
    assert lit.evaluate(style, "backgroundColor") == "rgb(255, 216, 102)"
    labs = page.locator(".st-key-labs button[role=radio]")
    assert labs.nth(0).evaluate(style, "backgroundColor") != labs.nth(1).evaluate(style, "backgroundColor")


# --- the lesson for those who do not see it ---


class Reader:
    """What a screen reader is given: Chromium's accessibility tree, in reading order."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)
        self.session.send("Accessibility.enable")

    def nodes(self) -> list[dict[str, Any]]:
        """All that is read out, each with its `words`: the texts within it."""
        tree = self.session.send("Accessibility.getFullAXTree")["nodes"]
        by_id = {node["nodeId"]: node for node in tree}
        return [self._told(node, by_id) for node in _below(tree[0], by_id) if not node["ignored"]]

    def _told(self, node: dict[str, Any], by_id: dict[str, Any]) -> dict[str, Any]:
        told = {key: node.get(key, {}).get("value", "") for key in ("role", "name", "description")}
        within = (one for one in _below(node, by_id) if one.get("role", {}).get("value") == "StaticText")
        properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
        return told | {"words": [one["name"]["value"] for one in within], "live": properties.get("live")}

    def of(self, role: str) -> list[dict[str, Any]]:
        return [node for node in self.nodes() if node["role"] == role]

    def one(self, role: str, begins: str) -> dict[str, Any]:
        (found,) = (node for node in self.of(role) if node["name"].startswith(begins))
        return found

    def text(self) -> str:
        return " ".join(self.nodes()[0]["words"])

    def rows(self) -> list[list[str]]:
        return [row["words"] for row in self.of("row")]

    def news(self) -> str:
        """What is read out without being asked for, when it changes."""
        return " ".join(" ".join(node["words"]) for node in self.nodes() if node["live"] == "polite")

    def hears(self, words: str, where: Callable[[], str]) -> None:
        """Wait until these words are there."""
        for _ in range(100):
            if words in (said := where()):
                return
            self.page.wait_for_timeout(100)
        pytest.fail(f"{words!r} was not among: {said}")


def _below(node: dict[str, Any], by_id: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The node and all within it, in order."""
    yield node
    for child in node.get("childIds", []):
        if child in by_id:
            yield from _below(by_id[child], by_id)


def ends(values: np.ndarray) -> str:
    """The smallest and the largest number of a row and their words, as they are read out."""
    low, high = int(values.argmin()), int(values.argmax())
    return f"from {values[low]:.2f} ({WORDS[low]}) to {values[high]:.2f} ({WORDS[high]})"


WEIGHTS = run(Setup()).heads.weights[0]
WORDS = inputs(Setup()).key_tokens
IT, WAS, KITE = 4, 5, 1  # the first word and its key at the start, and the word below


KEPT = "document.querySelector('.st-key-predict').contains(document.activeElement)"


def test_the_softmax_lesson_is_done_by_its_text_and_the_keyboard_alone(page, app_url):
    go(page, f"{app_url}/softmax")
    page.wait_for_selector(".board[data-settled]")
    reader = Reader(page)

    assert reader.nodes()[0]["name"] == "Softmax: attention, step by step"
    assert [heading["name"] for heading in reader.of("heading")] == ["Softmax", "Try it: the labs"]
    assert "each row of scores becomes shares of 1" in reader.text()

    tab_to(page, grid(page, "Weights A"))  # the matrix: what it is, its extremes, the selected cell, its row
    weights = reader.one("grid", "Weights A")
    assert weights["name"] == "Weights A, 7 rows, 7 columns"
    assert f"to {WEIGHTS.max():.3f} (row it, column kite)" in weights["description"]
    assert f"row it {ends(WEIGHTS[IT])}" in weights["description"]
    assert weights["words"] == ["kite", "it", f"{WEIGHTS[IT, KITE]:.2f}"]

    page.keyboard.press("ArrowDown")  # a step: the cell and its row are read out, the calculation follows
    moved = f"Weights A: row was, column kite: {WEIGHTS[WAS, KITE]:.2f}; row was {ends(WEIGHTS[WAS])}"
    reader.hears(moved, reader.news)
    assert f"row was {ends(WEIGHTS[WAS])}" in reader.one("grid", "Weights A")["description"]
    reader.hears("was → kite: which share of the row?", reader.text)
    assert ["term", "z", "e^z", "A"] in reader.rows()
    (kite,) = (row for row in reader.rows() if row[0] == "kite" and len(row) == 4)
    assert kite[-1] == f"{WEIGHTS[WAS, KITE]:.3f}"

    item = quiz.item(quiz.PREDICTIONS["softmax"], 0)  # the question: chosen, sent, and its answer heard
    box = page.locator(".st-key-predict")
    assert item.question in reader.text()
    tab_to(page, box.get_by_role("radio").first)
    page.keyboard.press("Space")
    expect(box.get_by_role("button", name="Commit")).to_be_enabled()
    tab_to(page, box.get_by_role("button", name="Commit"))
    page.keyboard.press("Enter")
    reader.hears(item.measured, reader.news)
    assert item.reason in reader.news()
    page.wait_for_function(KEPT)  # the button went, its place did not
    tab_to(page, box.get_by_role("button", name="Another like it"))

    tab_to(page, page.get_by_role("link", name="Next: Blend"))
    page.keyboard.press("Enter")
    reader.hears("Blend: attention, step by step", lambda: reader.nodes()[0]["name"])
    assert reader.of("heading")[0]["name"] == "Blend"
