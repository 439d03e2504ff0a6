"""The lesson as a learner walks it: predicts on each page, fills the trace card, checks what has stayed."""

import base64
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from core import quiz
from core.clinic.samples import SAMPLES
from core.setup import Setup
from pages import PAGES
from tests.browser.conftest import go, listen, settle
from tests.browser.test_journeys import tab_to
from tests.pages.test_predict import secrets

LESSON = [page for page in PAGES if page.slug in ("start", *quiz.PREDICTIONS) and page.slug != "clinic"]
CARD = {  # page -> the name of each blank -> the number that belongs there
    "scale": {"the scaled score": "4"},
    "softmax": {"the power": "54.6", "the row's sum": "63.9", "the weight": "0.854"},
    "blend": {"who": "7.85", "event": "0.16", "state": "1.51"},
    "mask": {f"the weight of {word}": weight for word, weight in {
        "The": "0.006", "kite": "0.925", "fell": "0.017", "because": "0.006", "it": "0.046",
        "was": "0", "wet": "0"}.items()},
}  # fmt: skip
CHAIN = {
    "scale": ["8", "4", "?", "?"],
    "softmax": ["8", "4", "0.854", "?"],
    "blend": ["8", "4", "0.854", "7.851"],
    "mask": ["8", "4", "0.925", "8.419"],
}


class Received:
    """All that the server has sent to the browser so far, as text."""

    def __init__(self, page: Page) -> None:
        self.text = ""
        page.on("websocket", lambda socket: socket.on("framereceived", self._take))

    def _take(self, payload: str | bytes) -> None:
        self.text += payload if isinstance(payload, str) else payload.decode("utf-8", "replace")

    def of(self, secrets: list[str]) -> list[str]:
        """Those that have been sent, read as Markdown is read."""
        plain = re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", self.text).replace("&#58;", ":")
        return [secret for secret in secrets if secret in plain]


def prediction(slug):
    if slug == "start":
        return quiz.longer_item(Setup())
    return quiz.item(quiz.PREDICTIONS[slug], int(slug == "mask"))


def choose(item, right):
    return next(option for option in item.options if (option.key == item.answer) == right)


def predict(page: Page, received: Received, slug: str, right: bool) -> None:
    """Commit to one answer and read what was measured."""
    item, box = prediction(slug), page.locator(".st-key-predict")
    expect(box).to_contain_text(item.question)
    assert not received.of(secrets(item))
    chosen = choose(item, right)
    box.get_by_role("radio", name=chosen.text, exact=True).check(force=True)
    box.get_by_role("button", name="Commit").click()
    expect(box.get_by_role("row").last).to_contain_text(item.measured)
    expect(box.get_by_role("row").last).to_contain_text(chosen.text)
    expect(box).to_contain_text(item.reason)
    if not right:
        expect(box).to_contain_text(chosen.meaning)
    assert received.of([item.reason])  # so that the search above could have found it


def fill_card(page: Page, slug: str) -> None:
    """The blanks of one page's trace card, each checked as it is left."""
    if slug == "scale":
        page.get_by_text("By hand", exact=True).click()
    blanks = page.locator(".st-key-by_hand_blanks")
    for label, number in CARD[slug].items():
        blanks.get_by_label(label, exact=True).fill(number)
        page.keyboard.press("Enter")
    expect(blanks).to_contain_text("All right.")
    expect(page.locator(".chain b")).to_have_text(CHAIN[slug])


def test_a_learner_predicts_on_every_page_and_fills_the_trace_card(page, app_url):
    received = Received(page)
    go(page, app_url)
    for number, lesson in enumerate(LESSON):
        predict(page, received, lesson.slug, right=number % 2 == 0)
        if lesson.slug in CARD:
            fill_card(page, lesson.slug)
        if lesson is not LESSON[-1]:
            settle(page)
            page.get_by_role("link", name=re.compile(r"^Next: ")).click()
            expect(page.locator(".st-key-predict").last).to_contain_text(
                prediction(LESSON[number + 1].slug).question, timeout=30_000
            )
            settle(page)
    page.get_by_role("link", name="Back: Break it").click()
    expect(page.locator(".st-key-predict")).to_contain_text(prediction("break_it").measured)  # it was kept


def test_the_clinic_asks_beside_its_answer(page, app_url):
    received = Received(page)
    sample = next(iter(SAMPLES))
    go(page, f"{app_url}/clinic?sample={quote(sample)}")
    answer, box = page.get_by_text("Download the answer"), page.locator(".st-key-predict")
    expect(answer).to_be_visible()
    assert answer.bounding_box()["y"] < box.bounding_box()["y"]
    predict(page, received, "clinic", right=False)


def test_a_prediction_by_keyboard_alone_and_its_twin(page, app_url):
    go(page, f"{app_url}/score")
    box = page.locator(".st-key-predict")
    tab_to(page, box.get_by_role("radio").first)
    page.keyboard.press("ArrowDown")
    expect(box.get_by_role("button", name="Commit")).to_be_enabled()
    tab_to(page, box.get_by_role("button", name="Commit"))
    page.keyboard.press("Enter")
    expect(box).to_contain_text(quiz.item("S3").measured)
    tab_to(page, box.get_by_role("button", name="Another like it"))
    page.keyboard.press("Enter")
    expect(box).to_contain_text(quiz.item("S3", 1).question)
    expect(page).to_have_url(re.compile("twin=1"))
    tab_to(page, box.get_by_role("button", name="Skip"))
    page.keyboard.press("Enter")
    expect(box).not_to_contain_text(quiz.item("S3", 1).question)


@pytest.mark.parametrize(("device", "more"), [("desktop", ""), ("phone", ""), ("desktop", "&present=true")])
def test_the_name_of_the_variant_stands_beside_its_number(new_page, app_url, device, more):
    page = new_page(device)
    go(page, f"{app_url}/mask?twin=9999{more}")
    if more:
        expect(page.locator("html")).to_have_attribute("data-part", "step")
        page.keyboard.press("ArrowUp")  # to the question
    box = page.locator(".st-key-predict")
    name, number = box.get_by_text("Variant", exact=True), box.get_by_role("spinbutton", name="Variant")
    expect(name).to_be_visible()
    expect(number).to_have_value("9999")
    nodes = [place.element_handle() for place in (box.get_by_role("button").first, name, number)]
    # All three at one moment: what stands above them may still grow.
    places = page.evaluate("(nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON())", nodes)
    edges = [(place["left"], place["right"]) for place in places]
    middles = [(place["top"] + place["bottom"]) / 2 for place in places]
    assert edges == sorted(edges)
    assert edges[1][1] <= edges[2][0], "the name does not reach into the box"
    assert max(middles) - min(middles) < 4, "one line"
    assert number.evaluate("(input) => input.scrollWidth <= input.clientWidth"), "four digits can be read"


def test_a_learner_finishes_check_yourself(page, app_url):
    received = Received(page)
    go(page, f"{app_url}/check?set=3")
    answered: list[quiz.Answered] = []
    while (name := quiz.next_item(answered, 3)) is not None:
        item, right = quiz.item(name, 3), len(answered) != 1
        expect(page.locator(".stForm")).to_contain_text(item.question)
        assert not received.of(secrets(item))
        if item.options:
            page.locator(".stForm").get_by_role("radio", name=choose(item, right).text, exact=True).check(
                force=True
            )
        else:
            page.get_by_label("Your number").fill(str(item.answer if right else item.answer + 1000))
        page.locator(".stForm").get_by_role("button", name="Answer").click()
        expect(page.get_by_text(item.reason)).to_be_visible()
        answered.append(quiz.Answered(name, right))
        page.get_by_role("button", name=re.compile("Next question|See the result")).click()
    expect(page.get_by_text("7 of 8 right.")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="The result (.html)").click()
    assert "7 of 8 items right. Seed 3." in download.value.path().read_text(encoding="utf-8")
    page.get_by_text("Look at it and print").click()
    expect(page.frame_locator("iframe").get_by_role("button", name="Print")).to_be_visible()

    blanks = page.locator(".st-key-by_hand_blanks")
    for label, number in {
        "the score": "8",
        "the scaled score": "4",
        "the weight": "0.475",
        "the output": "4.33",
    }.items():
        blanks.get_by_label(label, exact=True).fill(number)
        page.keyboard.press("Enter")
    expect(page.locator(".chain b")).to_have_text(["8", "4", "0.475", "4.326"])


def test_a_sentence_of_the_recap_opens_the_state_that_shows_it(page, app_url):
    go(page, f"{app_url}/check")
    listen(page, "check")  # until then, such a link opens a tab of its own
    page.locator(".stMain").get_by_role("link", name="Mask", exact=True).click()
    expect(page.locator(".st-key-written").first).to_contain_text("The → The", timeout=30_000)
    page.wait_for_url(re.compile(r"/mask\?(?=.*mask=causal)(?=.*row=0)(?=.*col=0)"))


@pytest.mark.parametrize(
    ("label", "begins"), [("Program .py", b"# Attention in NumPy"), ("Tensors .npz", b"PK")]
)
def test_a_file_is_made_when_it_is_asked_for(page, app_url, label, begins):
    go(page, f"{app_url}/code?mask=causal")
    with page.expect_download() as download:
        page.get_by_role("button", name=label).click()
    assert download.value.suggested_filename.startswith("attention_kite_t7_dk4_h1_causal_")
    assert download.value.path().read_bytes().startswith(begins)


def test_a_part_of_the_formula_lights_its_line_and_its_value(page, app_url):
    go(page, f"{app_url}/code")
    page.get_by_role("radio", name="softmax (").click()
    expect(page.locator(".listing .lit").last).to_contain_text("weights = softmax(masked)")
    expect(page.locator(".made")).to_contain_text("weights")
    colours = [
        place.evaluate("(element) => getComputedStyle(element).borderLeftColor")
        for place in (page.locator(".listing .lit").last, page.locator(".made"))
    ]
    assert colours[0] == colours[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_becomes_an_image_on_a_ground_of_its_own(new_page, app_url, theme):
    page = new_page("desktop", theme)
    go(page, f"{app_url}/scale?scale_lab=Variance")
    chart = page.locator(".js-plotly-plot").first
    chart.hover()
    expect(chart.locator(".modebar-btn")).to_have_count(1)
    with page.expect_download() as download:
        chart.locator(".modebar-btn").click()
    image = download.value.path().read_bytes()
    assert image.startswith(b"\x89PNG")
    corner = page.evaluate(CORNER, base64.b64encode(image).decode())
    assert corner == ([255, 255, 255, 255] if theme == "light" else [16, 20, 25, 255])


CORNER = """async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.getContext("2d").drawImage(image, 0, 0);
    return [...canvas.getContext("2d").getImageData(2, 2, 1, 1).data];
}"""
