"""The documents: what they link to and name is there, and their numbers are the core's."""

import re
from pathlib import Path

import pytest

from core.examples import EXAMPLES
from core.setup import Setup, run
from pages import PAGES
from ui import labs

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "docs" / "measured", ROOT / "deploy", ROOT / ".github")
    for path in folder.glob("*.md")
)
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    missing = [link for link in links if not (document.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_paths_and_targets_that_are_named_exist(document: Path) -> None:
    code = re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))
    paths = [name for name in code if re.fullmatch(r"(core|ui|pages|assets|tests|docs|deploy)/[\w./]*", name)]
    assert [name for name in paths if not (ROOT / name).exists()] == []
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = {name.split()[1] for name in code if re.match(r"make [a-z-]+$", name)}
    assert asked <= targets


def test_the_learners_first_row_holds_the_cores_numbers() -> None:
    kite = EXAMPLES["kite"]
    steps = run(Setup()).heads.head(0)
    cell = kite.row, kite.col
    score, scaled, weight = steps.scores[cell], steps.scaled_scores[cell], steps.weights[cell]
    output = steps.output[kite.row, 0]
    told = f"are {score:g}, {scaled:g}, {weight:.2f} and {output:.1f}"
    assert told in (ROOT / "docs" / "learner.md").read_text(encoding="utf-8")


def test_the_readme_says_what_is_on_each_page() -> None:
    table = re.findall(r"^\| (\w[\w ]*) \| ", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(table[1:]) == sorted(page.title for page in PAGES)


def test_the_learner_is_told_which_pages_have_labs() -> None:
    titles = [page.title for page in PAGES if page.slug in labs.__all__]
    told = f"{', '.join(titles[:-1])} and {titles[-1]} are labs"
    assert told in (ROOT / "docs" / "learner.md").read_text(encoding="utf-8")
