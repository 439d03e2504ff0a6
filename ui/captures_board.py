"""Blocks of the page Your tensors: one capture beside another, head by head."""

import math
from functools import partial
from pathlib import Path

import streamlit as st

from core.attention import AttentionSteps
from core.captures import Capture, Errors
from core.experiments.prose import sizes
from core.offered import SEQ_LENS
from core.readouts import map_summary
from ui import charts, figures_heads, presenter, real_controls, stage
from ui.board import MAX_HEIGHT, show_matrices
from ui.matrix import Matrix
from ui.text import literal, table
from ui.view import View

SNIPPET = Path(__file__).parents[1] / "assets" / "snippets" / "capture_transformers.py"
NOTHING = "nothing"
MOST_MAPS, MAPS_A_LINE = 16, 6
MEANS = {
    "entropy": "entropy, nats a row",
    "distance": "distance, positions",
    "first": "weight on the first",
    "previous": "weight on the previous",
    "itself": "weight on itself",
    "following": "weight on the next",
}


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
    steps = capture.head(int(head))
    st.markdown(f"**{literal(real_controls.title(example))}**, head {head}")
    st.caption(literal(_shapes(capture)))
    if len(capture.tokens) <= SEQ_LENS[-1]:
        _small_map(view, capture, steps, key)
    else:
        _large_map(capture, steps, key)
    with presenter.screen("where", key):
        _where(steps, key)


def all_heads(view: View) -> None:
    """Small maps of every head, up to MOST_MAPS: a click chooses the head and the pair."""
    example, chosen = view.setup.example, view.setup.real_head
    capture = real_controls.capture_of(example)
    if capture.n_heads > MOST_MAPS or len(capture.tokens) > SEQ_LENS[-1]:
        st.caption(
            f"Small maps of all heads are drawn for up to {MOST_MAPS} heads and {SEQ_LENS[-1]} tokens."
        )
        return
    show_matrices(
        [
            Matrix(
                id=str(head), title=f"{head}, chosen" if str(head) == chosen else str(head),
                symbol=f"head {head}", values=capture.head(head).weights, row_labels=capture.query_tokens,
                col_labels=capture.tokens, row_axis="query", col_axis="key", colours="share", decimals=2,
                small=True, place=divmod(head, MAPS_A_LINE),
            )
            for head in range(capture.n_heads)
        ],
        _selected(view), key="all_heads", label="The maps of all heads",
        on_pick=partial(stage.pick_real, example), on_choose=partial(real_controls.choose_head, example),
        max_height=presenter.rest(400), scale=presenter.scale(),
    )  # fmt: skip


def about(example: str) -> None:
    """How well the four steps reproduce the file, and what was taken for granted."""
    capture = real_controls.capture_of(example)
    for sentence in (_reproduced(_errors(capture)), *capture.assumed):
        st.caption(literal(sentence))


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


def _small_map(view: View, capture: Capture, steps: AttentionSteps, key: str) -> None:
    """Up to 64 positions: a board with numbers."""
    drawn = Matrix(
        id=key, title="Weights A", symbol="A", values=steps.weights, row_labels=capture.query_tokens,
        col_labels=capture.tokens, row_axis="query", col_axis="key", colours="share", decimals=2,
        shape=sizes(steps.weights),
    )  # fmt: skip
    on_pick = partial(stage.pick_real, view.setup.example) if key == "matrices" else None
    show_matrices(
        [drawn], _selected(view), key=key, label="Weights", on_pick=on_pick,
        max_height=presenter.rest(MAX_HEIGHT), scale=presenter.scale(),
    )  # fmt: skip


def _selected(view: View) -> dict[str, int]:
    return {"query": view.selection.row, "key": view.selection.col}


def _large_map(capture: Capture, steps: AttentionSteps, key: str) -> None:
    names = (capture.query_tokens, capture.tokens)
    chart, block = figures_heads.large_map(steps.weights, names, charts.theme())
    charts.show(chart, key, presenter.FULL)
    if block > 1:
        st.caption(f"Each pixel is the largest weight of {block} × {block} cells.")


def _where(steps: AttentionSteps, key: str) -> None:
    summary = map_summary(steps)
    rows = [[label, *(f"{value:.3f}" for value in getattr(summary, name))] for name, label in MEANS.items()]
    with st.container(key=f"written_{key}", gap="small"):
        st.markdown(table(["mean over the queries", "this head", "uniform"], rows))


def _reproduced(errors: Errors) -> str:
    """What the file lets us check."""
    held = {"weights": errors.weights, "output": errors.output}
    known = {name: error for name, error in held.items() if error is not None}
    if lost := [name for name, error in known.items() if not math.isfinite(error)]:
        return f"The file's own {' and '.join(lost)} cannot be compared: not all their numbers are finite."
    found = [f"{name} within {error:.1e}" for name, error in known.items()]
    if not found:
        return "The file holds neither weights nor output, so the four steps cannot be checked against it."
    return f"The four steps, run on q, k and v, give the file's own {' and '.join(found)} in all heads."


def _errors(capture: Capture) -> Errors:
    """Computed once a visit for each capture, since every head is run."""
    known = st.session_state.setdefault("capture_errors", [])
    for one, errors in known:
        if one is capture:
            return errors
    errors = capture.errors()
    known[:] = [*known[-3:], (capture, errors)]
    return errors
