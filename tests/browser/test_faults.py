"""What goes wrong around the tutor: servers that restart, lines that break, full disks, hostile words."""

import io
import json
import re
import resource
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from core import quiz
from pages import PAGES
from tests.browser.conftest import APP, DEVICES, EXCEPTION, IDLE, go, settle
from tests.browser.server import free_port, started
from tests.browser.test_clinic import upload
from tests.browser.test_matrix import grid
from tests.hostile import FORMULAS, MARKUP, SCRIPTS, STRANGE

READY = 60_000  # milliseconds: the browser waits longer from one try to reach a server to the next
CUT = '[data-testid="stApp"]:not([data-test-connection-state="CONNECTED"])'
SMALL_FILE = 8192  # bytes: a file of the poll needs more


@pytest.fixture
def rough(browser: Browser) -> Iterator[Page]:
    """A page on a line that breaks: the browser logs that, and may."""
    context = browser.new_context(**DEVICES["desktop"])
    page = context.new_page()
    yield page
    assert page.locator(EXCEPTION).count() == 0
    context.close()


@pytest.fixture
def line(rough: Page) -> CDPSession:
    """The line of that page, to be cut or made slow."""
    session = rough.context.new_cdp_session(rough)
    session.send("Network.enable")
    return session


def network(line: CDPSession, *, offline: bool, upload: float = -1) -> None:
    line.send(
        "Network.emulateNetworkConditions",
        {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": upload},
    )


# --- servers and lines ---


def test_a_restarted_server_gives_back_the_screen_and_what_was_answered(rough: Page) -> None:
    port = free_port()
    item = quiz.item(quiz.PREDICTIONS["score"])
    answer = next(option.text for option in item.options if option.key == item.answer)
    with started(APP, port=port) as server:
        go(rough, f"{server.url}/score?seq_len=9&mask=causal&row=1&col=2")
        rough.get_by_text(answer, exact=True).click()
        rough.get_by_role("button", name="Commit").click()
        expect(rough.get_by_text("You predicted")).to_be_visible()
        settle(rough)
    rough.wait_for_selector(CUT)
    with started(APP, port=port):
        rough.wait_for_selector(IDLE, timeout=READY)
        expect(rough.get_by_text("You predicted")).to_be_visible(timeout=READY)
        expect(grid(rough, "Scores S")).to_have_attribute("aria-rowcount", "10")
        expect(rough.locator(".st-key-written")).to_contain_text("kite asks → fell offers")
        settle(rough)
        rough.get_by_role("slider", name="Sequence length").press("ArrowRight")  # the first move counts
        expect(grid(rough, "Scores S")).to_have_attribute("aria-rowcount", "11")
        expect(rough).to_have_url(re.compile("seq_len=10"))


def test_a_line_that_was_cut_goes_on_where_it_was(rough: Page, line: CDPSession, app_url: str) -> None:
    go(rough, f"{app_url}/check?set=2")
    first = quiz.item(quiz.next_item([], 2), 2)
    expect(rough.get_by_text(first.question[:30])).to_be_visible()
    network(line, offline=True)
    rough.wait_for_timeout(300)
    network(line, offline=False)
    rough.evaluate("window.dispatchEvent(new Event('online'))")
    rough.wait_for_selector(IDLE, timeout=READY)
    answer(rough, first)
    expect(rough.get_by_text("You answered")).to_be_visible(timeout=READY)
    settle(rough)
    rough.reload()
    expect(rough.get_by_text("You answered")).to_be_visible(timeout=READY)
    expect(rough.get_by_text("1 of 8 answered")).to_be_visible()


def answer(page: Page, item: quiz.Item) -> None:
    if item.options:
        page.get_by_role("radiogroup").get_by_text(item.options[0].text, exact=True).click()
    else:
        page.get_by_label("Your number").fill("1")
    page.get_by_role("button", name="Answer", exact=True).click()


def test_an_upload_that_is_cut_leaves_the_page_and_the_next_one_arrives(
    rough: Page, line: CDPSession, app_url: str, tmp_path: Path
) -> None:
    large = tmp_path / "large.npz"
    large.write_bytes(capture(6, words=["a"] * 256, width=512))
    go(rough, f"{app_url}/your_tensors")
    network(line, offline=False, upload=200_000)
    rough.locator("input[type=file]").set_input_files(large)
    rough.wait_for_timeout(1500)
    network(line, offline=True)
    expect(rough.get_by_test_id("stFileUploader")).to_contain_text("Error", timeout=READY)
    network(line, offline=False)
    rough.wait_for_selector(IDLE, timeout=READY)
    small = tmp_path / "small.npz"
    small.write_bytes(capture(1, words=["x", "y"]))
    rough.locator("input[type=file]").set_input_files(small)
    expect(rough.locator("strong", has_text="small.npz, model not named")).to_be_visible(timeout=READY)
    settle(rough)


def test_a_full_disk_is_told_and_the_lesson_goes_on(rough: Page, tmp_path: Path) -> None:
    large, small = tmp_path / "large.npz", tmp_path / "small.npz"
    large.write_bytes(capture(4, words=["a"] * 128, width=512))
    small.write_bytes(capture(1, words=["x", "y"]))
    assert large.stat().st_size > 2_000_000  # by itself Starlette would write what is above 1 MB
    with started(APP) as server:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (SMALL_FILE, SMALL_FILE))
        for query in ("room=Poll", "code=ABCDEF"):
            go(rough, f"{server.url}/teach?{query}")
            expect(rough.get_by_test_id("stAlert")).to_have_text(re.compile("cannot be reached just now"))
        go(rough, f"{server.url}/your_tensors")
        for file in (large, small):
            rough.locator("input[type=file]").set_input_files(file)
            named = rough.locator("strong", has_text=f"{file.name}, model not named")
            expect(named).to_be_visible(timeout=READY)
            settle(rough)
        go(rough, f"{server.url}/clinic")
        upload(rough, large)
        expect(rough.get_by_test_id("stAlert")).to_contain_text("The files cannot be examined", timeout=READY)


def test_a_teacher_who_reloads_still_leads_and_a_learner_still_has_one_vote(new_page, app_url: str) -> None:
    teacher, learner = new_page(), new_page("phone")
    item = quiz.item("S3")
    go(teacher, f"{app_url}/teach?room=Poll&poll=S3")
    teacher.get_by_role("button", name="Open a class").click()
    teacher.get_by_role("button", name="Ask", exact=True).click()
    expect(teacher.get_by_text("0 votes")).to_be_visible()
    link = teacher.locator(".stCode").inner_text().strip()
    assert link.count("=") == 1  # the code and nothing else
    learner.goto(link)
    learner.get_by_text(item.options[0].text, exact=True).click()
    expect(learner.get_by_text("Your vote is counted")).to_be_visible()
    settle(learner)

    learner.reload()
    expect(learner.get_by_text("Your vote is counted")).to_be_visible()
    expect(learner.get_by_role("radio", name=item.options[0].text, exact=True)).to_be_checked()
    learner.get_by_text(item.options[1].text, exact=True).click()
    expect(learner.get_by_role("radio", name=item.options[1].text, exact=True)).to_be_checked()
    settle(learner)

    teacher.reload()
    expect(teacher.get_by_text(re.compile(r"^1 vote$"))).to_be_visible()
    teacher.get_by_role("button", name="Reveal").click()
    expect(learner.locator(".poll")).to_be_visible()
    another = teacher.context.new_page()
    go(another, f"{app_url}/teach?room=Poll&poll=S3")
    expect(another.get_by_role("button", name="Open a class")).to_be_visible()


TURN_ALL = """(times) => {
    for (let turn = 0; turn < times; turn++)
        document.querySelectorAll('[data-testid="stTopNav"] a').forEach((link) => link.click());
}"""


def test_pages_turned_quicker_than_they_are_drawn(page: Page, app_url: str) -> None:
    """new_page fails if the browser misses a file, and the page is in the end the address's."""
    go(page, f"{app_url}/score?seq_len=9")
    for _ in range(3):
        page.evaluate(TURN_ALL, 2)
        page.wait_for_timeout(150)
    page.wait_for_timeout(1000)  # a run that has not begun looks settled
    settle(page)
    address = urlsplit(page.url)
    shown = next(listed for listed in PAGES[1:] if address.path == f"/{listed.slug}")
    assert "seq_len=9" in address.query
    expect(page).to_have_title(re.compile(f"^{re.escape(shown.title)}:"))
    icon = page.locator("link[rel~=icon]").get_attribute("href") or ""
    assert icon.startswith("data:image/png;base64,")


# --- hostile words ---


def capture(n_heads: int, words: list[str], width: int = 8, **more: object) -> bytes:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, n_heads, len(words), width)).astype(np.float32)
    file = io.BytesIO()
    np.savez(file, q=q, k=k, v=v, tokens=np.array(words), **more)
    return file.getvalue()


def safetensors(words: list[str], source: str) -> bytes:
    rng = np.random.default_rng(0)
    tensors = {name: rng.normal(size=(2, len(words), 4)).astype("<f4") for name in "qkv"}
    header, content = {"__metadata__": {"tokens": json.dumps(words), "source": source, "layer": source}}, b""
    for name, tensor in tensors.items():
        stop = len(content) + tensor.nbytes
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(content), stop]}
        content += tensor.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


NOT_WIDER = (
    "() => document.querySelector('.stMain').scrollWidth <= document.querySelector('.stMain').clientWidth"
)


def unhurt(page: Page) -> None:
    """No script ran, nothing became a picture or a frame, and the page is as wide as the window."""
    settle(page)
    assert page.evaluate("window.struck") is None
    page.wait_for_function(NOT_WIDER)
    for node in page.locator(".stMarkdown :is(img, iframe, script, [href^='javascript'])").all():
        pytest.fail(f"markup from a file: {node.evaluate('(node) => node.outerHTML')}")


PLACES = ("", "score", "mask", "break_it", "teach?room=Worksheet", "code")


@pytest.mark.parametrize("words", [[*SCRIPTS, *MARKUP], [*FORMULAS, *STRANGE]], ids=["markup", "strange"])
def test_hostile_words_of_a_file_stay_words_everywhere(new_page, app_url: str, words, tmp_path: Path) -> None:
    page = new_page()
    name = "<img src=x onerror=window.struck=1> **x** $x$ :material:home: \u202e.safetensors"
    file = tmp_path / name
    file.write_bytes(
        safetensors(words, "<script>window.struck=1</script> **b** :material/home: \u202ex" + "W" * 150)
    )
    go(page, f"{app_url}/your_tensors")
    page.locator("input[type=file]").set_input_files(file)
    expect(page).to_have_url(re.compile("example=yours"))
    unhurt(page)
    for place in PLACES:
        follow(page, place)
        unhurt(page)
    page.get_by_text("Look at it and print").click()
    printed = page.frame_locator("iframe").locator("table").first
    expect(printed).to_be_visible()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open to print").click()
    opened.value.wait_for_load_state()
    assert opened.value.evaluate("window.struck") is None
    assert opened.value.locator("img, script, svg, iframe").count() == 0
    for label in ("Program .py", "Program .ipynb", "Tensors .csv", "Tensors .json", "Tensors .npz"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        assert Path(download.value.path()).stat().st_size > 100


def follow(page: Page, place: str) -> None:
    """To another page in the same session, where the file is."""
    page.evaluate(
        """(place) => {
            const address = new URL(place.split('?')[0] || '.', location.href);
            address.search = location.search;
            const more = new URLSearchParams(place.split('?')[1]);
            more.forEach((value, name) => address.searchParams.set(name, value));
            history.pushState({}, '', address);
            dispatchEvent(new PopStateEvent('popstate'));
        }""",
        place,
    )
    page.wait_for_timeout(300)
    settle(page)


def test_hostile_words_in_the_address_stay_words(new_page, app_url: str) -> None:
    page = new_page()
    for word in (SCRIPTS[0], "\u202e" + "W" * 150 + "Z" + "\u0351" * 60):
        escaped = page.evaluate("encodeURIComponent", word)
        go(page, f"{app_url}/real_heads?example=model&sentence={escaped}&edits={escaped}&row={escaped}")
        expect(page.get_by_test_id("stAlert").first).to_contain_text("is not a word of this model")
        unhurt(page)
    for path in (
        "/teach?code=",
        "/clinic?sample=",
        "/break_it?broken=",
    ):
        go(page, f"{app_url}{path}{page.evaluate('encodeURIComponent', SCRIPTS[1])}")
        unhurt(page)


def test_a_hostile_file_name_stays_a_name_in_the_clinic(page: Page, app_url: str, tmp_path: Path) -> None:
    file = tmp_path / "<img src=x onerror=window.struck=1> \u202e[x](javascript:1).npz"
    file.write_bytes(b"PK\x03\x04 cut off")
    go(page, f"{app_url}/clinic")
    upload(page, file)
    expect(page.get_by_test_id("stAlert")).to_contain_text("The files cannot be examined.")
    unhurt(page)
