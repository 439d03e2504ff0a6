"""Blocks of the page Your tensors: one capture beside another, head by head."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from core.attention import AttentionSteps
from core.capture_errors import own_tensor
from core.captures import Capture
from core.experiments.prose import sizes
from core.offered import SEQ_LENS
from core.readouts import map_summary
from ui import charts, figures_heads, presenter, real_controls, stage
from ui.board import MAX_HEIGHT, show_matrices
from ui.choice import one_of
from ui.matrix import Matrix
from ui.text import literal, table
from ui.view import View

SNIPPET = Path(__file__).parents[1] / "assets" / "snippets" / "capture_transformers.py"
NOTHING = "nothing"
OWN, COMPUTED = "from the file", "from q and k"
MOST_MAPS, MAPS_A_LINE = 16, 6
MEANS = {
    "entropy": "entropy, bits a row",
    "distance": "distance, positions",
    "first": "weight on the first",
    "previous": "weight on the previous",
    "itself": "weight on itself",
    "following": "weight on the next",
}


def ask_drawn(example: str) -> None:
    """Which weights the maps show, where the file holds its own; else a word on what they are."""
    if real_controls.capture_of(example).weights is None:
        st.caption("The file holds no weights: the maps are computed from q and k.")
    else:
        one_of("Weights drawn", (OWN, COMPUTED), key="drawn")


def ask_other() -> tuple[str, str]:
    """What to compare with, and which of its heads; ("", "") for nothing."""
    which, head = st.columns([3, 2])
    with which:
        other = st.selectbox(
            "Compare with", [NOTHING, *real_controls.captures_offered()], key="other", bind="query-params"
        )
    if other == NOTHING:
        return "", ""
    with head:
        names = [str(index) for index in range(real_controls.capture_of(other).n_heads)]
        return other, st.selectbox("Its head", names, key="other_head", bind="query-params")


def show(view: View, example: str, head: str, key: str) -> None:
    """One head of one capture: what the file is, the map, where the head looks."""
    capture = real_controls.capture_of(example)
    weights, steps = _weights(capture, int(head)), capture.head(int(head))
    st.markdown(f"**{literal(real_controls.title(example))}**, head {head}")
    st.caption(literal(_shapes(capture)))
    if len(capture.tokens) <= SEQ_LENS[-1]:
        _small_map(view, capture, weights, key)
    else:
        _large_map(capture, weights, key)
    with presenter.screen("where", key):
        _where(replace(steps, weights=weights), key)


def all_heads(view: View) -> None:
    """Small maps of every head, up to MOST_MAPS: a click chooses the head and the pair."""
    example, chosen = view.setup.example, view.setup.real_head
    capture = real_controls.capture_of(example)
    if capture.n_heads > MOST_MAPS or len(capture.tokens) > SEQ_LENS[-1]:
        st.caption(
            f"Small maps of all heads are drawn for up to {MOST_MAPS} heads and {SEQ_LENS[-1]} tokens."
        )
        return
    maps = [_weights(capture, head) for head in range(capture.n_heads)]
    show_matrices(
        [
            Matrix(
                id=str(head), title=f"{head}, chosen" if str(head) == chosen else str(head),
                symbol=f"head {head}", values=weights, row_labels=capture.query_tokens,
                col_labels=capture.tokens, row_axis="query", col_axis="key", decimals=2, small=True,
                place=divmod(head, MAPS_A_LINE), **_colours(maps),
            )
            for head, weights in enumerate(maps)
        ],
        _selected(view), key="all_heads", label=f"The maps of all heads, {_drawn(capture)}",
        on_pick=partial(stage.pick_real, example), on_choose=partial(real_controls.choose_head, example),
        main=chosen, max_height=presenter.rest(400), scale=presenter.scale(),
    )  # fmt: skip


def snippet() -> None:
    """The snippet that makes such files."""
    code = SNIPPET.read_text(encoding="utf-8")
    with st.expander("Capture your own model: a snippet for Hugging Face transformers"):
        st.download_button(
            "Download the snippet", code, SNIPPET.name, "text/x-python", on_click="ignore", key="snippet"
        )
        st.code(code, language="python")


def _shapes(capture: Capture) -> str:
    """The tensors' shapes, and how heads share keys and values."""
    shapes = ", ".join(
        f"{name} {' × '.join(map(str, array.shape))}"
        for name, array in (("q", capture.q), ("k", capture.k), ("v", capture.v))
    )
    if capture.n_heads == capture.n_kv_heads:
        return shapes
    return f"{shapes}; {capture.n_heads // capture.n_kv_heads} query heads share each key/value head"


def _weights(capture: Capture, head: int) -> np.ndarray:
    """The weights (n_q, n_k) of one head that the reader chose to see."""
    if _drawn(capture) == OWN:
        return own_tensor(capture, "weights", head)
    return capture.head(head).weights


def _drawn(capture: Capture) -> str:
    """OWN or COMPUTED: which weights of this capture are drawn."""
    return COMPUTED if capture.weights is None else st.session_state.get("drawn") or OWN


def _colours(maps: Sequence[np.ndarray]) -> dict[str, Any]:
    """One range of colours for maps that stand side by side: of shares, unless a file's own are below 0."""
    finite = [weights[np.isfinite(weights)] for weights in maps]
    low, high = min(each.min(initial=0.0) for each in finite), max(each.max(initial=1.0) for each in finite)
    return {"colours": "diverging" if low < 0 else "share", "limits": (low, high)}


def _small_map(view: View, capture: Capture, weights: np.ndarray, key: str) -> None:
    """Up to 64 positions: a board with numbers."""
    drawn = Matrix(
        id=key, title=f"Weights A, {_drawn(capture)}", symbol="A", values=weights,
        row_labels=capture.query_tokens, col_labels=capture.tokens, row_axis="query", col_axis="key",
        decimals=2, shape=sizes(weights), **_colours([weights]),
    )  # fmt: skip
    on_pick = partial(stage.pick_real, view.setup.example) if key == "matrices" else None
    show_matrices(
        [drawn], _selected(view), key=key, label="Weights", on_pick=on_pick,
        max_height=presenter.rest(MAX_HEIGHT), scale=presenter.scale(),
    )  # fmt: skip


def _selected(view: View) -> dict[str, int]:
    return {"query": view.selection.row, "key": view.selection.col}


def _large_map(capture: Capture, weights: np.ndarray, key: str) -> None:
    names = (capture.query_tokens, capture.tokens)
    st.markdown(f"Weights A, {_drawn(capture)}")
    chart, block = figures_heads.large_map(weights, names, charts.theme())
    charts.show(chart, key, presenter.FULL)
    if block > 1:
        st.caption(f"Each pixel is the largest weight of {block} × {block} cells.")


def _where(steps: AttentionSteps, key: str) -> None:
    summary = map_summary(steps)
    rows = [[label, *(f"{value:.3f}" for value in getattr(summary, name))] for name, label in MEANS.items()]
    with st.container(key=f"written_{key}", gap="small"):
        st.markdown(table(["mean over the queries", "this head", "uniform"], rows))
