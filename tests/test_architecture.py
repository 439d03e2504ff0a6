"""The house: who may import whom, and what every page, list and text file owes the others.

app -> pages -> ui -> core          never back
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages import PAGES

ROOT = Path(__file__).parents[1]
ROOMS = ("app", "pages", "ui", "core")
SOURCES = [ROOT / "app.py", *sorted(path for room in ROOMS[1:] for path in (ROOT / room).rglob("*.py"))]
PAGE_FILES = sorted(path for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__")
TAIL = ast.dump(ast.parse('if __name__ == "__main__":\n    from app import main\n\n    main()').body[0])

# What a file may import besides the standard library. The first line that fits counts.
MAY_IMPORT = {
    "core/": {"numpy", "core"},
    "ui/figures": {"numpy", "plotly", "ui"},
    "ui/poll_": {"sqlalchemy", "ui"},
    "ui/qr.py": {"segno"},
    "ui/uploads.py": {"streamlit", "starlette"},
    "ui/": {"numpy", "plotly", "streamlit", "core", "ui"},
    "pages/": {"streamlit", "core", "ui", "pages"},
    "app.py": {"streamlit", "core", "ui", "pages"},
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST) -> Iterator[str]:
    """The first part of every imported name, wherever in the file the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield (node.module or "").split(".")[0]


def without_tail(path: Path) -> ast.Module:
    """A file's tree without the tail of a page, the one place that may name app."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if ast.dump(node) != TAIL]
    return tree


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_imports_follow_the_arrows(path: Path) -> None:
    allowed = next(names for place, names in MAY_IMPORT.items() if name(path).startswith(place))
    foreign = set(imports(without_tail(path))) - allowed - sys.stdlib_module_names
    assert not foreign, f"{name(path)} must not import {foreign}"


def test_requirements_are_what_the_app_imports() -> None:
    imported = {module for path in SOURCES for module in imports(without_tail(path))}
    needed = imported - sys.stdlib_module_names - set(ROOMS)
    assert set(requirements("requirements.txt")) == needed


@pytest.mark.parametrize("file", sorted(path.name for path in ROOT.glob("requirements*.txt")))
def test_requirements_are_pinned(file: str) -> None:
    assert all(re.fullmatch(r"\d+(\.\d+)+", version) for version in requirements(file).values())


def requirements(file: str) -> dict[str, str]:
    """Package -> version of one list; a list that it includes must exist."""
    lines = [line.split("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    for included in (line.removeprefix("-r ") for line in lines if line.startswith("-r ")):
        assert ((ROOT / file).parent / included).is_file()
    packages = [line for line in lines if line and not line.startswith("-r ")]
    return {package: version for package, _, version in (line.partition("==") for line in packages)}


def test_pages_lists_every_page_file_once() -> None:
    modules = [page.render.__module__ for page in PAGES]
    assert sorted(modules) == [f"pages.{path.stem}" for path in PAGE_FILES]
    assert len({page.slug for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("path", PAGE_FILES, ids=name)
def test_page_file_ends_with_the_tail(path: Path) -> None:
    """Without it a deep link as the first request to a server shows a blank page."""
    last = ast.parse(path.read_text(encoding="utf-8")).body[-1]
    assert ast.dump(last) == TAIL


@pytest.mark.parametrize("path", PAGE_FILES, ids=name)
def test_page_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 45, f"{node.name} in {name(path)} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_page_trusts_markup(path: Path) -> None:
    assert "unsafe_allow" not in path.read_text(encoding="utf-8")


def test_the_app_starts_without_what_only_a_poll_needs() -> None:
    """The database library is a fifth of the app's start and 12 MB of every process."""
    command = "import app, sys; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True).returncode == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_page_has_its_text(page) -> None:
    assert (ROOT / "assets" / "text" / f"{page.slug}.md").read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md"])
def test_every_file_that_is_pointed_at_exists(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert targets
    assert not [target for target in targets if not (ROOT / target).exists()]
