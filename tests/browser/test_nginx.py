"""The hosted set-up as deploy/ ships it, running: nginx, two processes of the app, a base path, Chromium."""

import re
import socket
import time
import urllib.error
import urllib.request
from collections import Counter
from http.client import HTTPConnection, HTTPMessage, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import streamlit
from playwright.sync_api import Page, expect
from websockets.sync.client import connect
from websockets.typing import Origin

from pages import PAGES
from tests.browser.conftest import go, settle
from tests.deploy import nginx

BASE_PATH = "lessons/attention"
CONNECTED = '[data-testid="stApp"][data-test-connection-state="CONNECTED"]'


@pytest.fixture(scope="module")
def site():
    with nginx.serve(BASE_PATH) as running:
        yield running


def ask(
    url: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, HTTPMessage, bytes]:
    """-> status, headers, body of one request without cookies."""
    request = urllib.request.Request(url, data=body, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()


def scripts(site: nginx.Site) -> list[str]:
    """Addresses of the scripts that the first page names."""
    page = ask(site.url + "/")[2].decode()
    return [f"{site.url}/{found}" for found in re.findall(r'"\./(static/js/[^"]+\.js)"', page)]


def process_of(page: Page) -> str:
    """The port of the process that this browser was given."""
    return next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "tutor_process")


def screen(page: Page) -> list[str]:
    """Every word and number of the matrices and of the line of arithmetic under them."""
    expect(page.locator(".board[data-settled]").first).to_be_visible()
    return page.locator(".board").all_inner_texts() + page.get_by_role("grid").all_inner_texts()


def test_visitors_are_dealt_out_evenly_and_stay(site):
    given = Counter()
    for _ in range(8):
        cookie = ask(site.url + "/")[1]["Set-Cookie"].split(";")[0]
        given[cookie] += 1
        again = [ask(site.url + "/_stcore/host-config", Cookie=cookie)[1] for _ in range(4)]
        set_again = [one for headers in again for one in headers.get_all("Set-Cookie", [])]
        assert not [one for one in set_again if one.startswith("tutor_process")]
    assert given == {f"tutor_process={port}": 4 for port in site.ports}


@pytest.mark.parametrize("made_up", ["1", "newcomers", "process_8501", "127.0.0.1:22", "'\"><", "9" * 3000])
def test_a_made_up_cookie_is_a_newcomers(site, made_up):
    status, headers, _ = ask(site.url + "/", Cookie=f"tutor_process={made_up}")
    assert status == 200
    assert headers["Set-Cookie"].startswith(tuple(f"tutor_process={port};" for port in site.ports))


@pytest.mark.parametrize("path", ["/", "/score", "/_stcore/health", "/_stcore/metrics", "/static/none.js"])
def test_every_answer_carries_the_headers(site, path):
    headers = ask(site.url + path)[1]
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "http:" not in policy
    assert "https:" not in policy
    assert "*" not in policy
    assert "unsafe-eval" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert re.fullmatch("nginx", headers["Server"]), "no version is told"


def test_scripts_travel_compressed(site):
    for url in scripts(site):
        raw = ask(url)
        packed = ask(url, **{"Accept-Encoding": "gzip"})
        if len(raw[2]) > 1000:
            assert packed[1]["Content-Encoding"] == "gzip", url
            assert len(packed[2]) < 0.7 * len(raw[2]), url


def test_messages_travel_compressed(site):
    stream = f"ws{site.url.removeprefix('http')}/_stcore/stream"
    with connect(stream, origin=Origin(site.url.removesuffix(f"/{BASE_PATH}"))) as socket_to_app:
        assert "permessage-deflate" in socket_to_app.response.headers["Sec-WebSocket-Extensions"]


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent"])
def test_what_is_not_for_visitors_is_closed(site, path):
    assert ask(site.url + path)[0] == 404


def test_a_file_that_is_too_large_is_refused_before_the_app_sees_it(site):
    assert ask(f"{site.url}/_stcore/upload_file/a/b", "PUT", bytes(34 * 2**20))[0] == 413
    assert ask(f"{site.url}/_stcore/upload_file/a/b", "PUT", bytes(2**20))[0] == 403, "the app: no XSRF token"
    assert ask(f"{site.url}/score", "POST", bytes(2**17))[0] == 413


def test_the_log_tells_neither_who_asked_nor_what(site):
    ask(f"{site.url}/score?text=private+words")
    logged = (site.folder / "access.log").read_text()
    assert "/score 200" in logged
    assert "private" not in logged
    assert not re.search(r"127\.0\.0\.1(?!:)", logged), "only the processes' own addresses"


def test_a_cold_deep_link_under_the_base_path(site, new_page):
    page = new_page()
    go(page, f"{site.url}/scale?d_k=16&row=3")
    expect(page.get_by_role("grid").first).to_be_visible()
    assert page.url == f"{site.url}/scale?d_k=16&row=3"


def first_answer(site: nginx.Site, path: str) -> tuple[int, HTTPMessage]:
    """-> status and headers; a redirect is not followed."""
    line = HTTPConnection("127.0.0.1", site.port, timeout=30)
    line.request("GET", path)
    answer = line.getresponse()
    line.close()
    return answer.status, answer.headers


@pytest.mark.parametrize("base", ["", f"/{BASE_PATH}"])
@pytest.mark.parametrize("extra", ["/", "/extra", "/a/b.html", "/score/x", "/%20", "/%0D%0AX:%20y"])
def test_something_after_a_page_leads_to_the_page(site, base, extra):
    for listed in PAGES[1:]:
        status, headers = first_answer(site, f"{base}/{listed.slug}{extra}?text=a+%2F+b&row=3")
        assert (status, headers["Location"]) == (302, f"{base}/{listed.slug}?text=a+%2F+b&row=3")
        assert headers["Content-Security-Policy"]
        assert "X" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/score",  # the page itself
        "/static/js/score/index.js",
        "/media/score/x.png",
        "/score/_stcore/health",  # where is the app? Streamlit asks below every part of the address
        "/score/_stcore/host-config",
        "/score/extra/_stcore/health",
        "/_stcore/component/score/index.js",
        "/scores/extra",
        "/%0D%0AX:%20y/score/extra",
        "/a%2F%0D%0AX:%20y/score/extra",
    ],
)
def test_other_addresses_are_the_apps(site, path):
    for base in ("", f"/{BASE_PATH}"):
        status, headers = first_answer(site, base + path)
        assert status in (200, 404), headers["Location"]
        assert "X" not in headers


def test_an_address_with_something_after_the_page_opens_the_page(site, new_page):
    page = new_page()
    go(page, f"{site.url}/scale/extra?d_k=16&row=3")
    expect(page.get_by_role("grid").first).to_be_visible()
    assert page.url == f"{site.url}/scale?d_k=16&row=3"


REFUSED = """
window.refused = [];
addEventListener("securitypolicyviolation", (event) => {
  window.refused.push(`${event.effectiveDirective} ${event.blockedURI}`);
});
"""


def test_every_page_runs_under_the_policy(site, new_page):
    """new_page fails on what the browser says about a refused style, script, image or request.

    What it refuses without a word is one library's question whether WebAssembly is there; it does without.
    """
    page = new_page()
    page.add_init_script(REFUSED)
    seen = Counter()
    for index, listed in enumerate(PAGES):
        go(page, f"{site.url}/{listed.slug if index else ''}")
        expect(page.locator(".katex").first).to_be_visible()
        for kind in (".js-plotly-plot .main-svg", ".board[data-settled]"):
            seen[kind] += page.locator(kind).count()
        assert set(page.evaluate("window.refused")) <= {"script-src wasm-eval"}, listed.slug
    assert min(seen.values()) > 0, f"charts and matrices were drawn: {seen}"
    go(page, f"{site.url}/teach")
    qr = page.locator(".st-key-qr img")
    expect(qr).to_be_visible()
    page.wait_for_function("(image) => image.complete && image.naturalWidth > 0", arg=qr.element_handle())


def test_files_go_up_and_come_down(site, new_page, tmp_path):
    page = new_page()
    arrays = {name: np.ones((1, 4, 3), np.float32) for name in "qkv"}
    np.savez(tmp_path / "mine.npz", **arrays)
    go(page, f"{site.url}/your_tensors")
    page.locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
    expect(page).to_have_url(re.compile("example=yours"))
    go(page, f"{site.url}/code")
    with page.expect_download() as download:
        page.get_by_role("button", name="Tensors .npz").click()
    assert Path(download.value.path()).read_bytes().startswith(b"PK")


def test_the_class_link_can_be_copied(site, new_page):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    go(page, f"{site.url}/teach?seq_len=9")
    shown = page.locator(".stCode").first
    shown.hover()
    shown.get_by_role("button").click()
    page.wait_for_function(
        "async (link) => await navigator.clipboard.readText() === link", arg=f"{site.url}/?seq_len=9"
    )


@pytest.fixture
def full_disk(site):
    """nginx can write no temporary file."""
    folders = [site.folder / "body", site.folder / "proxy"]
    for folder in folders:
        folder.chmod(0)
    yield
    for folder in folders:
        folder.chmod(0o700)


@pytest.mark.usefixtures("full_disk")
def test_what_passes_through_needs_no_disk(site, new_page, tmp_path):
    page = new_page()
    np.savez(tmp_path / "large.npz", **{name: np.ones((4, 128, 512), np.float32) for name in "qkv"})
    go(page, f"{site.url}/your_tensors")
    page.locator("input[type=file]").set_input_files(tmp_path / "large.npz")
    expect(page).to_have_url(re.compile("example=yours"))
    go(page, f"{site.url}/clinic")
    page.locator("input[type=file]").set_input_files(tmp_path / "large.npz")
    expect(page.get_by_test_id("stAlert")).to_contain_text("The files cannot be examined")
    static = Path(streamlit.__file__).parent / "static"
    largest = max(static.glob("static/js/*.js"), key=lambda file: file.stat().st_size)
    url = f"{site.url}/{largest.relative_to(static).as_posix()}"
    assert slowly(site, url) == largest.read_bytes()


def slowly(site: nginx.Site, url: str) -> bytes:
    """The body of an answer, taken by a reader whom everybody else has to wait for."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", site.port))
        line.sendall(f"GET {urlsplit(url).path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode())
        time.sleep(1)
        answer = HTTPResponse(line)
        answer.begin()
        return answer.read()


def test_a_sheet_can_be_looked_at_and_printed(site, new_page):
    page = new_page()
    go(page, f"{site.url}/teach?room=Worksheet&sheet=7")
    inside = page.locator("iframe").element_handle().content_frame()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open to print").click()
    for sheet in (inside, opened.value):
        expect(sheet.get_by_role("heading", name="Answers, variant 7")).to_be_visible()
        sheet.evaluate("window.print = () => { window.printed = true; }")
        sheet.get_by_role("button", name="Print").click()
        assert sheet.evaluate("window.printed")


def test_a_killed_process_loses_only_its_own_sessions_and_they_come_back(site, browser, tmp_path):
    """Contexts of its own: here the browser has every reason to complain on its console."""
    pages = [browser.new_context().new_page() for _ in range(2)]
    reopened = Counter()
    for page in pages:
        go(page, f"{site.url}/score?d_k=16&row=2&col=5")
        page.on("websocket", lambda _, who=page: reopened.update([who]))
    given = [process_of(page) for page in pages]
    assert set(given) == {str(port) for port in site.ports}
    before = [screen(page) for page in pages]
    assert all(before)

    site.kill_process(int(given[0]))
    status, _, _ = ask(f"{site.url}/score?text=private", Cookie=f"tutor_process={given[0]}")
    assert status == 200
    assert "private" not in (site.folder / "error.log").read_text()
    pages[0].wait_for_function(f"() => !document.querySelector('{CONNECTED}')")
    pages[0].wait_for_selector(CONNECTED, timeout=30_000)
    for page, text in zip(pages, before, strict=True):
        settle(page)
        assert screen(page) == text
        assert page.url == f"{site.url}/score?d_k=16&row=2&col=5"
        assert process_of(page) == given[1]
    assert reopened[pages[1]] == 0, "the other session kept its connection"

    # The process is back: who moved away stays, with websocket and uploads alike.
    site.start_process(int(given[0]))
    site.wait_for_process(int(given[0]))
    go(pages[0], f"{site.url}/your_tensors")
    np.savez(tmp_path / "mine.npz", **{name: np.ones((1, 4, 3), np.float32) for name in "qkv"})
    pages[0].locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
    expect(pages[0]).to_have_url(re.compile("example=yours"))
    assert process_of(pages[0]) == given[1]
    for page in pages:
        page.context.close()
