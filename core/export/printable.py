"""The matrices of a state as one page to print."""

from collections.abc import Sequence

import numpy as np

from core.attention import AttentionSteps
from core.edits import parse_edits, written_edits
from core.numbers import number
from core.printed import document, heading, paragraph, row, table
from core.setup import Inputs, Setup, example_of, inputs, run

MOST_ROWS = 16  # rows and columns of a matrix that fit a sheet


def matrices_page(setup: Setup, link: str = "") -> str:
    """Every matrix of every head as HTML tables; `link` is printed as the address of the state.

    A matrix larger than 16 × 16 is cut to its corner, and its caption says so.
    """
    given, steps = inputs(setup), run(setup)
    title = f"Attention, step by step: {example_of(setup).title}"
    parts = [paragraph(_about(setup)), *([paragraph(link, small=True)] if link else [])]
    for head in range(setup.n_heads):
        parts += [heading(f"Head {head}", new_page=head > 0)] if setup.n_heads > 1 else []
        parts += _head_tables(setup, given, steps.heads.head(head))
    side_by_side = [f"h{head} {name}" for head in range(setup.n_heads) for name in given.value_channels]
    model = [str(channel) for channel in range(given.w_o.shape[-1])]
    parts += [heading("The heads joined", new_page=setup.n_heads > 1)]
    parts += [
        _matrix("Concat: the outputs side by side", steps.concat, given.query_tokens, side_by_side),
        _matrix("W_O", steps.w_o, side_by_side, model),
        _matrix("Output after W_O", steps.output, given.query_tokens, model),
        paragraph(
            "Numbers are rounded to three decimals. Weights are 0 only where they are exactly 0.", small=True
        ),
    ]
    return document(title, parts)


def _about(setup: Setup) -> str:
    edits = written_edits(parse_edits(setup.edits))  # what else the address says is nobody's edit
    edited = f" Edited by hand: {edits}." if edits else ""
    return (
        f"T = {setup.seq_len}, d_k = {setup.d_k}, heads = {setup.n_heads}, mask {setup.mask}, seed "
        f"{setup.seed}.{edited}"
    )


def _head_tables(setup: Setup, given: Inputs, one: AttentionSteps) -> list[str]:
    """The matrices of one head in the order in which they are made."""
    queries, keys = given.query_tokens, given.key_tokens
    shown = [
        _matrix("Q: what each word looks for", one.q, queries, given.channels),
        _matrix("K: what each word offers", one.k, keys, given.channels),
        _matrix("V: what each word hands over", one.v, keys, given.value_channels),
        _matrix("S = Q Kᵀ", one.scores, queries, keys),
        _matrix(f"Z = S / √{setup.d_k}", one.scaled_scores, queries, keys),
    ]
    if setup.mask != "none":
        shown.append(_matrix("Z with the mask", one.masked_scores, queries, keys))
    return [
        row(shown[:3]),
        *shown[3:],
        _matrix("A = softmax of each row", one.weights, queries, keys),
        _matrix("O = A V", one.output, queries, given.value_channels),
    ]


def _matrix(caption: str, array: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> str:
    n, m = array.shape
    cut = f", the first {min(n, MOST_ROWS)} × {min(m, MOST_ROWS)}" if max(n, m) > MOST_ROWS else ""
    corner = array[:MOST_ROWS, :MOST_ROWS]
    body = [(rows[i], [number(value) for value in line]) for i, line in enumerate(corner)]
    return table(f"{caption} ({n} × {m}{cut})", list(columns[:MOST_ROWS]), body)
