"""From a key press on the slider to the start page's matrices painted, against the floor app.

Both apps run at once on the same server settings, in one Chromium with reduced motion (a fade is
time that the reader gets, not time that the reader waits), and are pressed in turn, so that
whatever else the machine does falls on both. Trust the ratio, not the milliseconds.
"""

import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.report import Section, Table, write
from tests.browser import chromium, server
from tests.browser.conftest import APP, DEVICES, IDLE, go

FLOOR = Path(__file__).with_name("floor_app.py")
STEP, JUMP = ("ArrowLeft", "ArrowRight"), ("PageDown", "PageUp")
# Sequence length, the keys that are pressed in turn -> the most that the ratio may be.
CASES = {(8, STEP): 1.25, (64, STEP): 2.0, (16, JUMP): None, (64, JUMP): None}
WARM_UP, ROUNDS = 5, 40
ABOUT = f"""\
A key press on *Sequence length T* until the start page's four matrices are painted, against an app with
the same slider and one line of text, on the same server settings. Median of {ROUNDS} presses in turn.

The pictures of one step more and one step less come with the matrices (ui/ahead.py): the browser draws them
without the server, and the floor cannot. A jump (Page Up, Page Down) waits for the server's answer."""

# Sets `painted`, a promise of the milliseconds from the key event until all `watched` are on screen, changed.
ARM = """(watched, attributes) => {
    window.painted = new Promise((resolve) => {
        let pressed;
        addEventListener("keydown", (event) => { pressed = event.timeStamp; }, { once: true, capture: true });
        const now = () => resolve(performance.now() - pressed);
        // The change is drawn in the frame of the first callback and on screen when the next one begins.
        const afterPaint = () => requestAnimationFrame(() => requestAnimationFrame(now));
        const waiting = new Set(watched);
        const text = { characterData: true, childList: true, subtree: true };
        for (const element of watched) {
            const observer = new MutationObserver(() => {
                observer.disconnect();
                if (waiting.delete(element) && waiting.size === 0) afterPaint();
            });
            observer.observe(element, attributes ? { attributeFilter: attributes } : text);
        }
    });
}"""


class Runner:
    """One open page whose slider is pressed right and left in turn."""

    def __init__(self, browser: Browser, url: str, watched: str, attributes: list[str] | None) -> None:
        """`watched`: selector of the elements that change; `attributes`: by which, None = their text."""
        self.page: Page = browser.new_page(**DEVICES["desktop"], reduced_motion="reduce")
        go(self.page, url)
        self.watched, self.attributes = self.page.locator(watched), attributes
        self.watched.first.wait_for(state="attached")
        self.times: list[float] = []

    def press(self, key: str) -> None:
        """Press once and note the milliseconds until the change is painted."""
        self.page.bring_to_front()
        self.page.get_by_role("slider", name="Sequence length").focus()
        self.watched.evaluate_all(ARM, self.attributes)
        self.page.keyboard.press(key)
        self.times.append(self.page.evaluate("painted"))
        # What follows the picture (the server's answer, URL, sidebar) is not in the next one's time.
        self.page.wait_for_timeout(100)
        self.page.wait_for_selector(IDLE)


def measure(
    browser: Browser, floor_url: str, tutor_url: str, seq_len: int, keys: tuple[str, str]
) -> tuple[float, float]:
    """The medians, floor and start page, from one sequence length with two keys in turn."""
    floor = Runner(browser, floor_url, '[data-testid="stText"]', None)
    tutor = Runner(browser, f"{tutor_url}/?seq_len={seq_len}", "[data-painted]", ["data-painted"])
    for turn in range(WARM_UP + ROUNDS):
        for runner in (floor, tutor):
            runner.press(keys[turn % 2])
    floor.page.close()
    tutor.page.close()
    return statistics.median(floor.times[WARM_UP:]), statistics.median(tutor.times[WARM_UP:])


def section() -> Section:
    """One row for each of CASES."""
    columns = ["start page", "floor, ms", "painted, ms", "×", "asked, at most"]
    rows = []
    with server.serve(FLOOR) as floor_url, server.serve(APP) as tutor_url, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        for (seq_len, keys), limit in CASES.items():
            floor_ms, tutor_ms = measure(browser, floor_url, tutor_url, seq_len, keys)
            figures = f"{floor_ms:.1f}", f"{tutor_ms:.1f}", f"{tutor_ms / floor_ms:.2f}", f"{limit or '-'}"
            rows.append([f"T = {seq_len}, {'one step' if keys == STEP else 'a jump'}", *figures])
            print(*rows[-1], file=sys.stderr, flush=True)
        browser.close()
    return Section("Start page: slider to paint", ABOUT, ("streamlit",), [Table(columns, rows)])


if __name__ == "__main__":
    write(section())
