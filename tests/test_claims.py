"""docs/claims.md names pages, labs and tests that exist."""

import ast
import importlib
from pathlib import Path

import pytest

from pages import PAGES

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8").splitlines()
ROWS = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in LINES if line.startswith("| ")][
    1:
]
# 17 and 18 are the faults' own page, 54 and 55 drawings, 65 real heads: other pages' work.
CLAIMS = {*range(1, 71)} - {17, 18, 54, 55, 65}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[3]}")
def test_a_claim_names_what_exists(row):
    _, claim, page, lab, test = row
    assert claim
    assert page in {one.slug for one in PAGES}
    module, _, function = lab.rpartition(".")
    module = module if "." in module else f"core.experiments.{module}"
    assert callable(getattr(importlib.import_module(module), function))
    path, name = test.split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_claim_has_its_line():
    assert {int(row[0]) for row in ROWS} == CLAIMS


def test_the_claims_stand_in_order():
    numbers = [int(row[0]) for row in ROWS]
    assert numbers == sorted(numbers)
