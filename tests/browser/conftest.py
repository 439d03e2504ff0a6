"""Fixtures of the browser tests: a served app, and pages that watch for anything going wrong.

    def test_something(app_url, new_page):
        page = new_page("phone", "dark")
        go(page, f"{app_url}/score?row=4")

`from tests.browser.conftest import go, settle` for the two waits.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.browser import chromium, server

DEVICES: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1366, "height": 768}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
APP = server.ROOT / "app.py"
IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
PROBES = ("/_stcore/health", "/_stcore/host-config")
EXCEPTION = '[data-testid="stException"]'


def go(page: Page, url: str) -> None:
    """Open an address and wait until the page stands."""
    page.goto(url)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the script has run to its end, and fail if it shows an exception.

    To wait for what an action brings about, `expect(...)` that: a run that has not begun looks settled.
    """
    page.wait_for_selector(IDLE, timeout=30_000)
    assert not (texts := page.locator(EXCEPTION).all_inner_texts()), f"exception on the page: {texts}"


def listen(page: Page, slug: str) -> None:
    """Wait until keys, and links in the text, are heard on this page; "" is the first."""
    expect(page.locator("html")).to_have_attribute("data-heard", slug, timeout=30_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all browser tests."""
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def app_url() -> Iterator[str]:
    """Address of the tutor, on one server for all browser tests."""
    with server.serve(APP) as url:
        yield url


@pytest.fixture
def fresh_server() -> Iterator[str]:
    """Address of the tutor, on a server that has not answered any request for a page yet."""
    with server.serve(APP) as url:
        yield url


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., str]]:
    """serve(path, *options) -> address of another app, stopped after the module's last test."""
    with ExitStack() as servers:
        yield lambda app, *options: servers.enter_context(server.serve(app, *options))


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """new_page(device="desktop", theme="light", **context options) -> a page in a context of its own.

    The test fails afterwards if any of its pages logged an error, threw, asked another machine
    for anything, or shows an exception.
    """
    with ExitStack() as contexts:
        pages: list[Page] = []
        faults: list[str] = []

        def open_page(device: str = "desktop", theme: str = "light", **options) -> Page:
            context = browser.new_context(**DEVICES[device], color_scheme=theme, **options)
            contexts.callback(context.close)
            page = context.new_page()
            page.on("console", lambda message: faults.extend(_logged(message)))
            page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
            page.on("request", lambda request: faults.extend(_foreign(request)))
            pages.append(page)
            return page

        yield open_page
        for page in pages:
            faults += [f"exception on the page: {text}" for text in page.locator(EXCEPTION).all_inner_texts()]
    assert not faults, "\n".join(faults)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page at 1366x768 in light colours."""
    return new_page()


def _logged(message: ConsoleMessage) -> list[str]:
    """An error on the console, unless it is Streamlit looking for its own base path on a deep link."""
    url = message.location["url"]
    if message.type != "error" or (urlsplit(url).path.endswith(PROBES) and "404" in message.text):
        return []
    return [f"console: {message.text} ({url})"]


def _foreign(request: Request) -> list[str]:
    """A request that leaves this machine: the tutor works offline and tells nobody who reads it."""
    inside = urlsplit(request.url).hostname in (None, "127.0.0.1")
    return [] if inside else [f"request to another machine: {request.url}"]
