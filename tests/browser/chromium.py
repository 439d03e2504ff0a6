"""Find a Chromium on this machine, install one where that is possible, or say plainly what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = (
    "The browser tests need a Chromium and none was found: install one (Debian and Ubuntu: "
    "`apt-get install chromium`; elsewhere: `python -m playwright install chromium`, or Google Chrome), "
    "or name one by the environment variable CHROMIUM=/path/to/chromium."
)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium without a window. RuntimeError, in one sentence, if there is none to be had."""
    executable = _find(playwright) or _install(playwright)
    if executable is None:
        raise RuntimeError(MISSING)
    return playwright.chromium.launch(executable_path=executable, args=list(FLAGS))


def _find(playwright: Playwright) -> str | None:
    """The first of: the variable CHROMIUM, a command on the PATH, a usual folder, Playwright's own."""
    if named := os.environ.get("CHROMIUM"):
        if shutil.which(named) is None:
            raise RuntimeError(f"CHROMIUM={named} is not a program that can be run.")
        return named
    on_path = next(filter(None, map(shutil.which, NAMES)), None)
    places = (_mac_or_windows(), playwright.chromium.executable_path)
    return on_path or next((place for place in places if Path(place).is_file()), None)


def _mac_or_windows() -> str:
    if sys.platform == "darwin":
        return "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    return os.path.expandvars(r"%ProgramFiles%\Google\Chrome\Application\chrome.exe")


def _install(playwright: Playwright) -> str | None:
    """Debian's package when we are root there, else Playwright's download; None if neither works."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and shutil.which("apt-get"):
        _run("apt-get", "update")
        _run("apt-get", "install", "--yes", "--no-install-recommends", "chromium")
    else:
        _run(sys.executable, "-m", "playwright", "install", "chromium")
    return _find(playwright)


def _run(*command: str) -> None:
    """Run and show what it says; a failure is noticed by whoever looks for the browser next."""
    print("No Chromium found, trying:", " ".join(command), flush=True)
    subprocess.run(command, check=False, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
