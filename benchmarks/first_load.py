"""The first look: what a browser fetches for a page, and how long until its first matrix is on screen.

Cold: a browser with an empty cache, on a server that has run the page before. Warm: the same browser again.
Everything is counted by Chromium itself; times are its own clock, from the start of the navigation.
"""

import base64
import gzip
import sys
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from benchmarks.pages_to_paint import FLOOR_APP, address, beside
from benchmarks.report import Section, Table, write
from pages import PAGES
from tests.browser import chromium, server
from tests.browser.conftest import APP, DEVICES, settle

ROUNDS = 3
QUIET_MS = 1000  # after the script has ended: what is fetched for a chart comes then
PLOTLY = "PlotlyChart"  # in the name of the file that brings Plotly to the browser
BOARD, TEXT, SENTENCE = "[data-painted]", '[data-testid="stText"]', '[data-testid="stMain"] .stMarkdown p'
WITHOUT_BOARD = {"clinic", "teach"}  # their first sight is the page's sentence
ABOUT = f"""\
What Chromium fetches for one page from this machine, without a proxy. *MB*: as Streamlit sends it;
*gzipped*: what a proxy with gzip makes of it. *Socket*: what the app itself sends for the first sight,
in kB. *Cold*: with an empty cache, from the navigation's start to the first matrix painted (on
{" and ".join(sorted(WITHOUT_BOARD))}: to the page's sentence). *Warm*: the second visit, and the kB that
it fetches still. Median of {ROUNDS}; ×: divided by the floor app's in the same round.
*Plotly*: whether its file, which only a chart needs, was fetched."""


@dataclass(slots=True)
class Traffic:
    """What came in while one page loaded, as Chromium tells it."""

    urls: dict[str, str] = field(default_factory=dict)  # by the request's number
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)  # (as it is, gzipped)
    wire: float = 0.0  # bytes that were sent indeed, with their headers
    socket: int = 0

    @property
    def whole(self) -> int:
        """Bytes of all files."""
        return sum(size for size, _ in self.sizes.values())

    @property
    def gzipped(self) -> int:
        """Bytes of all files where each that gets smaller by it is gzipped."""
        return sum(min(sizes) for sizes in self.sizes.values())


@dataclass(frozen=True, slots=True)
class Sight:
    """A page, and the selector of what a reader waits for."""

    name: str
    url: str
    selector: str


def count(context: BrowserContext, sight: Sight) -> Traffic:
    """Open a page, and what it fetched until it was at rest."""
    page = context.new_page()
    session, traffic = context.new_cdp_session(page), Traffic()
    session.on(
        "Network.requestWillBeSent", lambda e: traffic.urls.update({e["requestId"]: e["request"]["url"]})
    )
    session.on("Network.webSocketFrameReceived", lambda e: _add_frame(traffic, e["response"]))
    session.on("Network.loadingFinished", lambda e: _add_wire(traffic, e["encodedDataLength"]))
    session.send("Network.enable", {"maxTotalBufferSize": 100_000_000, "maxResourceBufferSize": 50_000_000})
    page.goto(sight.url)
    page.wait_for_selector(sight.selector, state="attached")
    settle(page)
    page.wait_for_timeout(QUIET_MS)
    for number in traffic.urls:
        body = session.send("Network.getResponseBody", {"requestId": number})
        content = base64.b64decode(body["body"]) if body["base64Encoded"] else body["body"].encode()
        traffic.sizes[number] = (len(content), len(gzip.compress(content, 6)))
    page.close()
    return traffic


def _add_frame(traffic: Traffic, frame: dict[str, Any]) -> None:
    """A message on the websocket; a binary one comes as base64."""
    data = frame["payloadData"]
    traffic.socket += len(base64.b64decode(data)) if frame["opcode"] == 2 else len(data)


def _add_wire(traffic: Traffic, n_bytes: float) -> None:
    traffic.wire += n_bytes


def milliseconds(context: BrowserContext, sight: Sight) -> float:
    """From the start of the navigation until what is waited for is there."""
    page = context.new_page()
    page.goto(sight.url, wait_until="commit")
    found = page.locator(sight.selector).first.evaluate("() => performance.now()")
    settle(page)
    page.close()
    return found


def visits(browser: Browser, sight: Sight) -> tuple[float, float]:
    """Milliseconds of a cold visit and of a warm one."""
    with browser.new_context(**DEVICES["desktop"]) as context:
        return milliseconds(context, sight), milliseconds(context, sight)


def traffic(browser: Browser, sight: Sight) -> tuple[Traffic, Traffic]:
    """What a cold visit fetches, and a warm one."""
    with browser.new_context(**DEVICES["desktop"]) as context:
        return count(context, sight), count(context, sight)


def measure(browser: Browser, floor: Sight, sight: Sight) -> list[str]:
    """One row of the table."""
    cold, warm = traffic(browser, sight)
    rounds = [(visits(browser, floor), visits(browser, sight)) for _ in range(ROUNDS)]
    times = [
        beside([ours[i] for _, ours in rounds], [least[i] for least, _ in rounds], digits=0) for i in (0, 1)
    ]
    return [
        sight.name, str(len(cold.sizes)), f"{cold.whole / 1e6:.2f}", f"{cold.gzipped / 1e6:.2f}",
        f"{cold.socket / 1e3:.0f}", *times[0], *times[1], f"{warm.wire / 1e3:.0f}",
        "yes" if any(PLOTLY in url for url in cold.urls.values()) else "no",
    ]  # fmt: skip


def section() -> Section:
    """The floor app's row, and one for each page."""
    columns = [
        "page", "requests", "MB", "gzipped", "socket, kB", "cold, ms", "×", "warm, ms", "×", "warm, kB",
        "Plotly",
    ]  # fmt: skip
    rows = []
    with server.serve(FLOOR_APP) as floor_url, server.serve(APP) as url, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        floor = Sight("floor", floor_url, TEXT)
        pages = [
            Sight(page.slug, address(url, page.slug), SENTENCE if page.slug in WITHOUT_BOARD else BOARD)
            for page in PAGES
        ]
        for sight in (floor, *pages):
            rows.append(measure(browser, floor, sight))
            print(*rows[-1], file=sys.stderr, flush=True)
        browser.close()
    return Section("First load", ABOUT, ("streamlit", "plotly"), [Table(columns, rows)])


if __name__ == "__main__":
    write(section())
