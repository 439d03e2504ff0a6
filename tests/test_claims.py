"""docs/claims.md names addresses, labs and tests that exist, and belong together."""

import ast
import importlib
import inspect
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from core.setup import Setup
from pages import PAGES
from ui import labs

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8").splitlines()
ROWS = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in LINES if line.startswith("| ")][
    1:
]
CLAIMS = {*range(1, 71)}
OF_PAGES = (
    "by_hand",
    "line",
    "version",
    "fill_in",
    "broken",
    "mystery",
)  # parameters of pages, beside those of the state


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[3]}")
def test_a_claim_names_what_exists(row):
    _, claim, address, lab, test = row
    assert claim
    module, _, function = lab.rpartition(".")
    module = module if "." in module else f"core.experiments.{module}"
    assert callable(getattr(importlib.import_module(module), function))
    path, name = test.split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert _slug(address) in {one.slug for one in PAGES}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]}")
def test_a_claims_address_opens_the_lab_that_measures_it(row):
    _, _, address, lab, _ = row
    slug, state = _slug(address), dict(parse_qsl(urlsplit(address).query))
    if name := state.pop(f"{slug}_lab", None):
        show = getattr(labs, slug).LABS[name]
        assert lab.split(".")[-1] in _named_in(inspect.getmodule(show), show)
    else:
        assert lab.count(".") > 1, "what is no lab is named in full"
    for name in OF_PAGES:
        state.pop(name, None)
    Setup(**{field: int(value) if value.isdigit() else value for field, value in state.items()})


def _slug(address: str) -> str:
    """The page that an address opens; the first page stands at "/"."""
    return urlsplit(address).path.strip("/") or PAGES[0].slug


def _named_in(module, show) -> set[str]:
    """Every name that a lab's function and the helpers it calls use, without leading underscores."""
    found, waiting = set(), [show.__name__]
    while waiting:
        function = getattr(module, waiting.pop())
        tree = ast.parse(inspect.getsource(function))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - found
        found |= names
        waiting += [name for name in names if inspect.isfunction(getattr(module, name, None))]
    return {name.lstrip("_") for name in found}


def test_every_claim_has_its_line():
    assert {int(row[0]) for row in ROWS} == CLAIMS


def test_the_claims_stand_in_order():
    numbers = [int(row[0]) for row in ROWS]
    assert numbers == sorted(numbers)
