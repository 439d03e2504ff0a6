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
# Claims about the labs; 54, 55 and 65 are drawings and real heads, other pages' work.
LAB_CLAIMS = {*range(13, 17), 20, *range(22, 33), *range(37, 54), *range(56, 65), 66, 67, 68}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[3]}")
def test_a_claim_names_what_exists(row):
    _, claim, page, lab, test = row
    assert claim
    assert page in {one.slug for one in PAGES}
    module, function = lab.split(".")
    assert callable(getattr(importlib.import_module(f"core.experiments.{module}"), function))
    path, name = test.split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_claim_of_the_labs_has_its_line():
    assert {int(row[0]) for row in ROWS} == LAB_CLAIMS
