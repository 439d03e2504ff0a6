"""Every page: from a key press on the slider to its board painted and its chart drawn, and the CPU it took.

As in slider_to_paint.py, but at the pages' first states: the floor app and the page are pressed in turn.
"""

import statistics
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from benchmarks.report import Section, Table, ratio, write
from benchmarks.rerun_cpu import CpuLog
from benchmarks.slider_to_paint import ARM
from pages import PAGES
from tests.browser import chromium, server
from tests.browser.conftest import DEVICES, go, settle

HERE = Path(__file__).parent
TIMED, FLOOR_APP = HERE / "timed_app.py", HERE / "floor_app.py"
WARM_UP, ROUNDS = 3, 8
PRESSES = WARM_UP + ROUNDS + 1  # one more: a press's CPU time ends when the next one begins
PAUSE_MS = 150  # after a press: what follows the picture (URL, sidebar) is not in the next one's time
OPENING_MS = 1000  # after the first run: charts are drawn then
PATIENCE_MS = 10_000
Watched = tuple[str, list[str] | None]  # a selector, and the attributes that change (None: the text)
BOARD: Watched = (".st-key-matrices [data-painted]", ["data-painted"])
CHART: Watched = (".js-plotly-plot", None)
FLOOR: Watched = ('[data-testid="stText"]', None)
CHARTS_THAT_FOLLOW = {"softmax"}  # the open lab's chart shows the sequence
STILL = {"check", "real_heads", "your_tensors", "clinic", "teach"}  # show nothing of the sidebar's T
ABOUT = f"""\
A key press on *Sequence length T* (8 to 7 and back), pages as they open, median of {ROUNDS} presses in
turn with the floor app: one slider, one line of text, same server settings. *Painted*: the page's first
board shows the new numbers; *chart*: so does the open lab's chart. *Script*: CPU time of the app's own
code in one rerun; *server*: of the whole process, with sending and clearing up. ×: divided by the
floor's in the same round. *Sent*: to the browser, for one press; *deflated*: as the websocket packs it.
A dash: nothing on the page depends on T. It is run anew all the same."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A page, and the messages that have come to it since the list was last cleared."""

    page: Page
    frames: list[bytes]


class Presser:
    """One open page whose slider is pressed right and left in turn; what each press took."""

    def __init__(self, opened: Opened, watched: list[Watched], log: CpuLog) -> None:
        """`watched`: what must have changed before a press counts as answered; `log`: the server's."""
        page = self.page = opened.page
        self.frames = opened.frames
        self.deflate = websocket_deflate()
        self.sent: list[tuple[int, int]] = []  # bytes for each press, as they are and deflated
        self.slider = page.get_by_role("slider", name="Sequence length")
        self.watched = [(page.locator(selector), attributes) for selector, attributes in watched]
        for locator, _ in self.watched:
            locator.first.wait_for(state="attached")
        self.log = log
        self.times: list[list[float]] = []  # for each press, milliseconds of each of the watched

    def press(self, key: str) -> None:
        """Press once and wait until all that is watched has been painted."""
        self.page.bring_to_front()
        self.slider.focus()
        self.page.evaluate("window.waits = []")
        for locator, attributes in self.watched:
            locator.evaluate_all(ARM, attributes)
            self.page.evaluate("() => { waits.push(painted); }")
        self.log.press()
        self.frames.clear()
        self.page.keyboard.press(key)
        self.times.append(self._painted())
        self.page.wait_for_timeout(PAUSE_MS)
        settle(self.page)
        self.sent.append((sum(map(len, self.frames)), sum(map(self.deflate, self.frames))))

    def _painted(self) -> list[float]:
        """Milliseconds of each. RuntimeError if something that was to change does not."""
        found = self.page.evaluate(
            """patience => Promise.race([
                Promise.all(waits), new Promise(resolve => setTimeout(resolve, patience, null))])""",
            PATIENCE_MS,
        )
        if found is None:
            raise RuntimeError(f"{self.page.url}: what was to change with T did not")
        return found

    def measured(self, index: int) -> list[float]:
        """The times of one of the watched, without the warming up."""
        return [times[index] for times in self.times[WARM_UP:-1]]

    def cpu(self) -> tuple[list[float], list[float]]:
        """Milliseconds of CPU for each press, without the warming up: of the script, of the server."""
        script, process = zip(*self.log.per_press()[WARM_UP:], strict=True)
        return [1e3 * seconds for seconds in script], [1e3 * seconds for seconds in process]

    def kilobytes(self) -> list[str]:
        """The medians, as they are and deflated, without the warming up."""
        return [f"{statistics.median(sent) / 1e3:.0f}" for sent in zip(*self.sent[WARM_UP:], strict=True)]


@dataclass(frozen=True, slots=True)
class Servers:
    """Both apps, each with its log."""

    floor: str
    tutor: str
    folder: Path

    def log(self, name: str) -> CpuLog:
        """A new look at the log of one of them."""
        return CpuLog(self.folder / name)


@contextmanager
def served() -> Generator[Servers]:
    """The floor app and the tutor, both timed."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        with (
            server.serve(TIMED, "--", "floor", str(logs / "floor")) as floor,
            server.serve(TIMED, "--", "tutor", str(logs / "tutor")) as tutor,
        ):
            yield Servers(floor, tutor, logs)


def address(url: str, slug: str) -> str:
    """The first page answers at the app's own address."""
    return f"{url}/{'' if slug == PAGES[0].slug else slug}"


def watched(slug: str) -> list[Watched]:
    """What changes on a page with T."""
    if slug in STILL:
        return []
    return [BOARD, CHART] if slug in CHARTS_THAT_FOLLOW else [BOARD]


def measure(browser: Browser, servers: Servers, floor: Opened, slug: str) -> list[str]:
    """One row of the table; `floor` is the floor app's page, the same for all rows."""
    least = Presser(floor, [FLOOR], servers.log("floor"))
    ours = Presser(opened(browser, address(servers.tutor, slug)), watched(slug), servers.log("tutor"))
    for turn in range(PRESSES):  # an even number: the floor's slider stands then where it stood
        for presser in (least, ours):
            presser.press("ArrowLeft" if turn % 2 == 0 else "ArrowRight")
    ours.page.close()
    cells = [slug]
    for index in (0, 1):
        follows = index < len(ours.watched)
        cells += beside(ours.measured(index), least.measured(0)) if follows else ["–", "–"]
    for ours_ms, least_ms in zip(ours.cpu(), least.cpu(), strict=True):
        cells += beside(ours_ms, least_ms)
    return [*cells, *ours.kilobytes()]


def websocket_deflate() -> Callable[[bytes], int]:
    """-> the bytes that a message becomes on one connection, packed with uvicorn's settings."""
    packer = PerMessageDeflate(False, False, 12, 12, {"memLevel": 5})
    return lambda message: len(packer.encode(Frame(Opcode.BINARY, message)).data)


def opened(browser: Browser, url: str) -> Opened:
    """A page with everything on it that it opens with."""
    page, frames = browser.new_page(**DEVICES["desktop"], reduced_motion="reduce"), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(data)))
    go(page, url)
    page.get_by_role("slider", name="Sequence length").wait_for()
    settle(page)
    page.wait_for_timeout(OPENING_MS)
    return Opened(page, frames)


def beside(ours: list[float], others: list[float], digits: int = 1) -> list[str]:
    """The median in milliseconds, and the ratio."""
    return [f"{statistics.median(ours):.{digits}f}", f"{ratio(ours, others):.2f}"]


def section(slugs: tuple[str, ...] = tuple(page.slug for page in PAGES)) -> Section:
    """One row for each page."""
    columns = [
        "page",
        "painted, ms",
        "×",
        "chart, ms",
        "×",
        "script CPU, ms",
        "×",
        "server CPU, ms",
        "×",
        "sent, kB",
        "deflated",
    ]
    rows = []
    with served() as servers, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        floor = opened(browser, servers.floor)
        for slug in slugs:
            rows.append(measure(browser, servers, floor, slug))
            print(*rows[-1], file=sys.stderr, flush=True)
        browser.close()
    return Section("Pages: slider to paint, and CPU", ABOUT, ("streamlit", "plotly"), [Table(columns, rows)])


if __name__ == "__main__":
    write(section())
