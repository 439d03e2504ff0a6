"""The first look: what a browser fetches for a page, and how long until its first matrix is on screen.

Everything is counted by Chromium itself; times are its own clock, from the start of the navigation.
"""

import base64
import gzip
import json
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
QUIET_MS = 1500  # a page that has fetched nothing for so long has all that it needs
PLOTLY = "PlotlyChart"  # in the name of the file that brings Plotly to the browser
BOARD, TEXT, SENTENCE = "[data-painted]", '[data-testid="stText"]', '[data-testid="stMain"] .stMarkdown p'
TIMED = {"start", "softmax", "real_heads"}  # without a chart, with one, with one and a model
WITHOUT_BOARD = {"clinic", "teach"}  # their first sight is the page's sentence
ABOUT = """\
What Chromium fetches for one page from this machine, without a proxy, with an empty cache. *MB*: as
Streamlit sends it; *gzipped*: what a proxy with gzip makes of it. *Socket*: what the app itself sends for
the first sight, in kB, before the websocket packs it. *Plotly*: whether its file, which only a chart
needs, was fetched."""
TIMES = f"""\
Milliseconds from the navigation's start to the first matrix painted, median of {ROUNDS} visits in turn.
*Cold*: with an empty cache, on a server that has shown the page before. *Warm*: the second visit, and the
kB that it fetches still. ×: divided by the floor app's in the same round."""


# Sets `sight`, a promise of the milliseconds until something that fits the selector is on screen, also inside
# of a component. Asked by a promise, since a question from outside would wait until the page has time for it.
FIRST_SIGHT = """((selector) => {
    window.sight = new Promise((resolve) => {
        const now = () => resolve(performance.now());
        // It is drawn in the frame of the first callback and on screen when the next one begins.
        const afterPaint = () => requestAnimationFrame(() => requestAnimationFrame(now));
        const look = (root) => {
            const observer = new MutationObserver(() => {
                if (!root.querySelector(selector)) return;
                observer.disconnect();
                afterPaint();
            });
            observer.observe(root, { childList: true, subtree: true, attributeFilter: ["data-painted"] });
        };
        const attach = Element.prototype.attachShadow;
        Element.prototype.attachShadow = function (options) {
            const root = attach.call(this, options);
            look(root);
            return root;
        };
        look(document);
    });
})"""


@dataclass(slots=True)
class Traffic:
    """What came in while one page loaded, as Chromium tells it."""

    urls: dict[str, str] = field(default_factory=dict)  # by the request's number
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)  # (as it is, gzipped)
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
    session.send("Network.enable", {"maxTotalBufferSize": 100_000_000, "maxResourceBufferSize": 50_000_000})
    page.goto(sight.url)
    page.wait_for_selector(sight.selector, state="attached")
    settle(page)
    before = 0
    while before < len(traffic.urls):
        before = len(traffic.urls)
        page.wait_for_timeout(QUIET_MS)
    for number in list(traffic.urls):
        body = session.send("Network.getResponseBody", {"requestId": number})
        content = base64.b64decode(body["body"]) if body["base64Encoded"] else body["body"].encode()
        traffic.sizes[number] = (len(content), len(gzip.compress(content, 6)))
    page.close()
    return traffic


def _add_frame(traffic: Traffic, frame: dict[str, Any]) -> None:
    """A message on the websocket; a binary one comes as base64."""
    data = frame["payloadData"]
    traffic.socket += len(base64.b64decode(data)) if frame["opcode"] == 2 else len(data)


def visit(context: BrowserContext, sight: Sight) -> tuple[float, float]:
    """Milliseconds until what is waited for is there, and the kB that were fetched until the page stood."""
    page = context.new_page()
    session, wire = context.new_cdp_session(page), []
    session.on("Network.loadingFinished", lambda event: wire.append(event["encodedDataLength"]))
    session.send("Network.enable")
    page.add_init_script(f"{FIRST_SIGHT}({json.dumps(sight.selector)})")
    page.goto(sight.url, wait_until="commit")
    found = page.evaluate("sight")
    settle(page)
    page.close()
    return found, sum(wire) / 1e3


def visits(browser: Browser, sight: Sight) -> tuple[float, float, float]:
    """Milliseconds of a cold visit and of a warm one, and the kB of the warm one."""
    with browser.new_context(**DEVICES["desktop"]) as context:
        cold, _ = visit(context, sight)
        return cold, *visit(context, sight)


def weight(browser: Browser, sight: Sight) -> list[str]:
    """One row of the first table: what a cold visit fetches."""
    with browser.new_context(**DEVICES["desktop"]) as context:
        cold = count(context, sight)
    return [
        sight.name, str(len(cold.sizes)), f"{cold.whole / 1e6:.2f}", f"{cold.gzipped / 1e6:.2f}",
        f"{cold.socket / 1e3:.0f}", "yes" if any(PLOTLY in url for url in cold.urls.values()) else "no",
    ]  # fmt: skip


def times(browser: Browser, sights: list[Sight]) -> list[list[str]]:
    """The rows of the second table; the first of `sights` is the floor, which the others are divided by."""
    rounds = [[visits(browser, sight) for sight in sights] for _ in range(ROUNDS)]
    rows = []
    for index, sight in enumerate(sights):
        cells = [sight.name]
        for way in (0, 1, 2):
            ours, least = ([each[i][way] for each in rounds] for i in (index, 0))
            cells += beside(ours, least, digits=0)
        rows.append(cells[:-1])  # kilobytes need no ratio
    return rows


def section() -> Section:
    """The floor app, and each page."""
    with server.serve(FLOOR_APP) as floor_url, server.serve(APP) as url, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        sights = [Sight("floor", floor_url, TEXT)] + [
            Sight(page.slug, address(url, page.slug), SENTENCE if page.slug in WITHOUT_BOARD else BOARD)
            for page in PAGES
        ]
        weights = []
        for sight in sights:
            weights.append(weight(browser, sight))
            print(*weights[-1], file=sys.stderr, flush=True)
        timed = times(browser, [sight for sight in sights if sight.name in {"floor", *TIMED}])
        browser.close()
    fetched = Table(["page", "requests", "MB", "gzipped", "socket, kB", "Plotly"], weights)
    waited = Table(["page", "cold, ms", "×", "warm, ms", "×", "warm, kB"], timed)
    return Section("First load", ABOUT, ("streamlit", "plotly"), [fetched, TIMES, waited])


if __name__ == "__main__":
    write(section())
