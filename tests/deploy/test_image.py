"""The image of deploy/Dockerfile: what it holds, and that this is enough to run.

Its steps are done in a folder, with the Python of the tests: no builder of images is needed.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.server import ROOT, free_port

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
IGNORE = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
LET_IN = [line[1:] for line in IGNORE if line.startswith("!")]
START_SECONDS = 30
EVERY_PAGE = """
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from pages import PAGES

for index, page in enumerate(PAGES):
    app = AppTest.from_file("app.py", default_timeout=20)
    app._page_hash = calc_hash(page.slug if index else "")
    app.run()
    assert not app.exception, (page.slug, app.exception)
"""


def instruction(name: str) -> str:
    """What stands behind the last line of the Dockerfile with this instruction."""
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)[-1]


def command(listed: str) -> list[str]:
    """A command in the form of a list, with the Python of the tests."""
    return [sys.executable if word == "python" else word for word in json.loads(listed)]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app's folder as the image has it, built from a clone that nobody but its owner can read."""
    folder = tmp_path_factory.mktemp("image") / "srv"
    for path in LET_IN:
        source, target = ROOT / path, folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    step = re.sub(r"\bpython\b", shlex.quote(sys.executable), instruction("RUN"))
    subprocess.run(step, shell=True, check=True, cwd=folder, umask=0o022)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The image's variables; on a free port of this machine alone, home and cache of the test's own."""
    given = dict(re.findall(r"(\w+)=(\S+)", instruction("ENV")))
    assert given["STREAMLIT_SERVER_ADDRESS"] == "0.0.0.0"  # nginx is in another container
    return {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")} | {
        **given,
        "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        "STREAMLIT_SERVER_PORT": str(free_port()),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
    }


def test_it_holds_the_app_its_licence_and_nothing_else():
    assert [line for line in IGNORE if not line.startswith(("!", "#"))] == ["*", "**/__pycache__"]
    assert set(LET_IN) == {
        *("LICENSE", "app.py", "pages", "ui", "core", "assets", ".streamlit/config.toml"),
        *(f"deploy/{name}" for name in ("__init__.py", "health.py", "requirements.lock", "serve.py")),
    }
    assert all((ROOT / path).exists() for path in LET_IN)


def test_every_builder_finds_what_it_leaves_out():
    """A file beside the Dockerfile is not read by all: an older one would put secrets into the image."""
    assert not list((ROOT / "deploy").glob("*ignore"))


def test_it_runs_as_nobody():
    assert instruction("USER") == "10001"
    assert "useradd --uid 10001 " in DOCKERFILE
    assert "--require-hashes -r deploy/requirements.lock" in DOCKERFILE


def test_its_user_can_read_everything_and_change_nothing(image):
    for path in [image, *image.rglob("*")]:
        mode = path.stat().st_mode & 0o777
        assert mode == (0o755 if path.is_dir() else 0o644), path
    compiled = {path.parent.parent for path in image.rglob("*.pyc")}
    assert {image, image / "core", image / "pages", image / "ui", image / "deploy"} <= compiled


def run(ask: list[str], image: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(ask, cwd=image, env=environment, capture_output=True, text=True, timeout=120)


def test_every_page_opens_from_what_it_holds(image, environment):
    done = run([sys.executable, "-c", EVERY_PAGE], image, environment)
    assert done.returncode == 0, done.stderr


def test_it_starts_is_well_and_stops(image, environment):
    ask = command(instruction("HEALTHCHECK").partition("CMD ")[2])

    def is_well() -> bool:
        return run(ask, image, environment).returncode == 0

    assert not is_well()
    process = subprocess.Popen(command(instruction("CMD")), cwd=image, env=environment)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_well():
            assert process.poll() is None
            assert time.monotonic() < deadline
        process.terminate()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
    assert not is_well()
