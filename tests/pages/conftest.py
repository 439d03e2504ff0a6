"""Open any page of the app without a browser, and read the tensors that it draws."""

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages import PAGES
from tests.browser.server import ROOT


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """open_page(slug, **URL parameters) -> the page after its first run, which must not throw."""

    def open_page(slug: str, **parameters: object) -> AppTest:
        app = AppTest.from_file(ROOT / "app.py", default_timeout=20)
        # AppTest opens pages by file; ours are functions, which Streamlit knows by the hash of their address.
        app._page_hash = calc_hash("" if slug == PAGES[0].slug else slug)
        for name, value in parameters.items():
            app.query_params[name] = str(value)
        app.run()
        assert not app.exception
        return app

    return open_page


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A poll of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def drawn(app: AppTest, of_lab: bool = False) -> dict[str, dict]:
    """Every matrix of the page, or of its open lab, as the browser receives it, by its id, decoded."""
    boards = [
        json.loads(board.proto.json)
        for board in app.get("bidi_component")
        if board.proto.id.rpartition("-")[2].startswith("lab_") == of_lab
    ]
    return {
        matrix["id"]: matrix | {"values": _values(matrix)}
        for board in boards
        for matrix in board.get("matrices", ())
    }


def words(app: AppTest) -> str:
    """All text that stands on the page, as it is read: without Markdown's backslashes."""
    elements = [element for kind in ("markdown", "caption", "code") for element in app.get(kind)]
    return read("\n".join(element.value for element in elements))


def read(markdown: str) -> str:
    """Markdown as it is read: without its backslashes and entities."""
    return html.unescape(re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", markdown))


def _values(matrix: dict) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(matrix["values"]), "<f8")
    return values.reshape(matrix["rows"], matrix["cols"])
