"""Take docs/walk.png, the README's picture, from the running app."""

from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser import chromium, server
from tests.browser.conftest import APP, DEVICES, go

PICTURE = Path(__file__).with_name("walk.png")


def main() -> None:
    """The start page at 1366x768 in light colours, at double resolution."""
    with server.serve(APP) as url, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page(**DEVICES["desktop"], device_scale_factor=2, reduced_motion="reduce")
        go(page, url)
        page.wait_for_load_state("networkidle")
        expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0, timeout=30_000)
        expect(page.locator(".board[data-settled]")).to_be_visible()
        page.screenshot(path=PICTURE)
        browser.close()
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
