"""Runnable programs that hold a state's own numbers, and assert that they reproduce its results.

Three versions of the same computation: NumPy from scratch, PyTorch's functions, a PyTorch module.
A program is a list of cells, so that one text makes both the .py file and the notebook.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from core.export import sources
from core.export.literals import UNPACK, assignment, needs_unpack
from core.heads import merge_heads
from core.offered import GIVEN
from core.setup import Setup, allowed, example_of, inputs, run

VERSIONS = {
    "numpy": "NumPy, from scratch",
    "torch": "PyTorch functions",
    "module": "a PyTorch module",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a notebook, one section of a file."""

    kind: str  # "markdown" or "code"
    text: str


def cells(setup: Setup, version: str, *, blanks: bool = False) -> tuple[Cell, ...]:
    """The program of one version. With `blanks`, the NumPy functions have ____ to fill in.

    Raises ValueError for an unknown version, and for blanks in a version that has none.
    """
    if version not in VERSIONS:
        raise ValueError(f"version is {version!r}, but it must be one of {', '.join(VERSIONS)}")
    if blanks and version != "numpy":
        raise ValueError(f"only the NumPy version has blanks, not {version!r}")
    functions = sources.with_blanks(sources.NUMPY_FUNCTIONS) if blanks else sources.FUNCTIONS[version]
    return (
        Cell("markdown", _title(setup, version, blanks)),
        Cell("code", _imports(setup, version)),
        Cell("markdown", sources.ABOUT_INPUTS[version]),
        Cell("code", _inputs(setup, version)),
        Cell("markdown", sources.ABOUT_FUNCTIONS[version]),
        Cell("code", functions),
        Cell("markdown", f"The mask: {sources.ABOUT_MASK[setup.mask]} True = may attend."),
        Cell("code", _mask(setup, version)),
        Cell("code", sources.RUNS[version]),
        Cell("markdown", "The tutor's own results. Each line fails if the numbers differ."),
        Cell("code", _expected(setup, version)),
    )


def as_python(setup: Setup, version: str, *, blanks: bool = False) -> str:
    """The program as the text of a .py file."""
    parts = [
        cell.text if cell.kind == "code" else _comment(cell.text)
        for cell in cells(setup, version, blanks=blanks)
    ]
    return "\n\n".join(parts) + "\n"


def as_notebook(setup: Setup, version: str, *, blanks: bool = False) -> str:
    """The program as the JSON text of a notebook (nbformat 4.5)."""
    notebook = {
        "cells": [_notebook_cell(i, cell) for i, cell in enumerate(cells(setup, version, blanks=blanks))],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def file_name(setup: Setup, version: str, ending: str) -> str:
    """attention_kite_t7_dk4_causal_numpy.py"""
    mask = setup.mask.replace("+", "_")
    return (
        f"attention_{setup.example}_t{setup.seq_len}_dk{setup.d_k}_h{setup.n_heads}_{mask}_{version}.{ending}"
    )


def _comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _notebook_cell(index: int, cell: Cell) -> dict:
    identity = hashlib.sha256(f"{index} {cell.text}".encode()).hexdigest()[:12]
    made = {
        "cell_type": cell.kind,
        "id": identity,
        "metadata": {},
        "source": cell.text.splitlines(keepends=True),
    }
    return made | ({"execution_count": None, "outputs": []} if cell.kind == "code" else {})


def _title(setup: Setup, version: str, blanks: bool) -> str:
    sentence = (
        f"Attention in {VERSIONS[version]}: example “{example_of(setup).title}”, T = {setup.seq_len}, "
        f"d_k = {setup.d_k}, {setup.n_heads} head{'s' if setup.n_heads > 1 else ''}, mask {setup.mask}."
    )
    task = (
        "Fill in each ____, then run it."
        if blanks
        else "Run it: it ends by checking itself against the tutor."
    )
    needs = "numpy" if version == "numpy" else "numpy and torch"
    return f"{sentence}\n\nNeeds {needs}. {task}"


def _imports(setup: Setup, version: str) -> str:
    """The imports, and the reading of packed numbers where some are packed."""
    given, steps = inputs(setup), run(setup)
    arrays = (given.q, given.k, given.v, given.w_o, steps.heads.scores, steps.output)
    if not needs_unpack(*arrays):
        return sources.IMPORTS[version]
    return f"import base64\nimport zlib\n{sources.IMPORTS[version]}\n\n\n{UNPACK}"


def _inputs(setup: Setup, version: str) -> str:
    """The state's inputs: q, k, v for the functions, x and the projections for the module."""
    given = inputs(setup)
    n_q, n_k = len(given.query_tokens), len(given.key_tokens)
    words = f"words = {list(given.key_tokens)!r}"
    if version != "module":
        sizes = (
            f"n_heads, n_q, n_k, d_k, d_v = {setup.n_heads}, {n_q}, {n_k}, {setup.d_k}, {given.v.shape[-1]}"
        )
        return _assignments(words, sizes, {"q": given.q, "k": given.k, "v": given.v, "w_o": given.w_o})
    w_q = np.zeros((n_k, setup.d_model))
    w_q[n_k - n_q :] = merge_heads(given.q)
    projections = {"w_q": w_q, "w_k": merge_heads(given.k), "w_v": merge_heads(given.v), "w_o": given.w_o}
    sizes = f"n_heads, n_q, T, d_k, d_v = {setup.n_heads}, {n_q}, {n_k}, {setup.d_k}, {given.v.shape[-1]}"
    return _assignments(words, sizes, projections)


def _mask(setup: Setup, version: str) -> str:
    """The line that makes `allowed`."""
    rows, columns = ("T", "T") if version == "module" else ("n_q", "n_k")
    n_real = max(1, setup.seq_len - setup.n_pad)
    given = allowed(setup)
    if setup.mask == GIVEN and given is not None:
        made = f"np.array({given.astype(int).tolist()}, dtype=bool)"
    else:
        made = sources.NUMPY_MASKS[setup.mask].format(
            rows=rows, columns=columns, n_real=n_real, window=setup.window
        )
    if version == "numpy" or setup.mask == "none":
        return f"allowed = {made}"
    return f"allowed = torch.from_numpy({made})"


def _expected(setup: Setup, version: str) -> str:
    """The results of the tutor and the assertions."""
    steps = run(setup)
    expected = {
        "expected_scores": steps.heads.scores,
        "expected_weights": steps.heads.weights,
        "expected_output": steps.heads.output,
        "expected_projected": steps.output,
    }
    if version == "module":
        del expected["expected_scores"], expected["expected_output"]
    return _assignments(expected) + "\n\n" + sources.CHECKS[version]


def _assignments(*parts: str | dict[str, np.ndarray]) -> str:
    lines: list[str] = []
    for part in parts:
        lines += [part] if isinstance(part, str) else [assignment(*item) for item in part.items()]
    return "\n".join(lines)
