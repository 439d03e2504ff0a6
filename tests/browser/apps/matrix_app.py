"""Boards for the tests of the matrix component. ?case= chooses one, ?n= the number of rows and columns."""

import time
from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.attention import AttentionSteps, attention
from ui.board import show_matrices
from ui.matrix import Matrix

WORDS = ("The", "kite", "fell", "because", "it", "was", "wet")
CHANNELS = ("thing", "action", "state", "glue")
VALUES = ("who", "event", "state")
Q = [[2, 0, 0, 0], [0, 2, 2, -2], [2, 0, 0, -2], [0, 2, 2, 0], [3, -1, 1, -1], [2, 0, 2, 0], [2, 0, -2, -2]]
K = [[0, 0, 0, 2], [2, 0, 1, -1], [0, 2, 1, -1], [0, 0, 0, 2], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 2, -1]]
V = [[1, 0, 0], [9, 0, 1], [0, 9, 1], [0, 2, 0], [2, 0, 0], [0, 2, 2], [1, 0, 9]]


def main() -> None:
    st.set_page_config(layout="wide", initial_sidebar_state="collapsed")
    case = st.query_params.get("case", "walk")
    state = st.session_state
    state.setdefault("selected", {"query": 4, "key": 1, "channel": 0, "value_channel": 0})
    state.setdefault("edits", {})
    if "scale" not in state:
        state.scale = 1
    st.slider("scale", 1, 9, key="scale")
    st.button("Select the last", on_click=pick, args=({"query": 6, "key": 6},))
    CASES[case]()
    st.text(f"selected {sorted(state.selected.items())}")
    st.text(f"edits {sorted(state.edits.items())}")


def steps(allowed=None):
    q = np.array(Q, dtype=float) * st.session_state.scale
    for (row, col), value in st.session_state.edits.items():
        q[row, col] = value
    return attention(q, np.array(K, dtype=float), np.array(V, dtype=float), allowed)


def pick(axes: dict[str, int]) -> None:
    st.session_state.selected = {**st.session_state.selected, **axes}


def edit(_id: str, row: int, col: int, value: float) -> None:
    st.session_state.edits = {**st.session_state.edits, (row, col): value}


def board(*matrices: Matrix, key: str = "board") -> None:
    show_matrices(
        matrices, st.session_state.selected, key=key, label="Test board", on_pick=pick, on_edit=edit
    )


def walk(s=None) -> None:
    pipeline(s or steps(), WORDS, VALUES)


def pipeline(s: AttentionSteps, words: Sequence[str], values: Sequence[str]) -> None:
    """Scores, scaled scores, weights and output in one line."""
    maps = {
        "row_labels": words, "col_labels": words, "row_axis": "query", "col_axis": "key",
        "shape": f"{len(words)} × {len(words)}",
    }  # fmt: skip
    board(
        Matrix("scores", "Scores S", s.scores, **maps, colours="diverging", symbol="S"),
        Matrix(
            "scaled_scores", "Scaled scores Z", s.masked_scores, **maps, colours="diverging", symbol="Z",
            decimals=1, place=(0, 1), lead="÷ √d_k", sources={"scores": ("query", "key")},
        ),
        Matrix(
            "weights", "Weights A", s.weights, **maps, colours="share", symbol="A",
            decimals=2, place=(0, 2), lead="softmax", sources={"scaled_scores": ("query",)},
        ),
        Matrix(
            "output", "Output O", s.output, words, values, "query", "value_channel", "sequential", symbol="O",
            decimals=1, place=(0, 3), lead="· V", shape=f"{len(words)} × {len(values)}",
            sources={"weights": ("query",)},
        ),
    )  # fmt: skip


def masked() -> None:
    walk(steps(np.tri(7, dtype=bool)))


def score() -> None:
    s = steps()
    changed = np.any(s.q != np.array(Q), axis=1, keepdims=True)
    left, _ = st.columns([37, 60])
    with left:
        board(
            Matrix(
                "q",
                "Queries Q",
                s.q,
                WORDS,
                CHANNELS,
                "query",
                "channel",
                "diverging",
                (1, 0),
                shape="7 × 4",
                symbol="Q",
                decimals=1,
                editable=True,
                changed=s.q != np.array(Q),
            ),
            Matrix(
                "k",
                "Keys Kᵀ",
                s.k.T,
                CHANNELS,
                WORDS,
                "channel",
                "key",
                "diverging",
                (0, 1),
                shape="4 × 7",
                symbol="Kᵀ",
            ),
            Matrix(
                "scores",
                "Scores S",
                s.scores,
                WORDS,
                WORDS,
                "query",
                "key",
                "diverging",
                (1, 1),
                shape="7 × 7",
                symbol="S",
                sources={"q": ("query",), "k": ("key",)},
                changed=changed & np.full((7, 7), True),
            ),
        )


def odd() -> None:
    """Numbers that are easily drawn wrong."""
    numbers = np.array(
        [[-np.inf, np.inf, np.nan], [-0.0, 0.0, 1.0], [0.004, -0.004, 0.9999], [0.5, 12.25, 1e9]]
    )
    rows, cols = ("a", "b", "c", "c"), ("x", "y", "z")
    board(
        Matrix("odd", "Odd numbers", numbers, rows, cols, "query", "key", "diverging", decimals=2),
        Matrix(
            "shares",
            "Shares",
            np.clip(np.nan_to_num(numbers), 0, 1),
            rows,
            cols,
            "query",
            "key",
            "share",
            (0, 1),
            decimals=2,
        ),
    )


def large() -> None:
    n = int(st.query_params.get("n", "64"))
    d = int(st.query_params.get("d", "3"))
    random = np.random.default_rng(0)
    words = [f"{WORDS[i % 7]}" for i in range(n)]
    q, k, v = (random.normal(size=(n, width)) for width in (8, 8, d))
    s = attention(
        q * st.session_state.scale, k, v, np.tri(n, dtype=bool) if "causal" in st.query_params else None
    )
    pipeline(s, words, [f"v{i}" for i in range(d)])


def heads() -> None:
    """Eight heads in two lines; a second board below hears the same pointer."""
    random = np.random.default_rng(1)
    n = int(st.query_params.get("n", "7"))
    words = [WORDS[i % 7] for i in range(n)]
    board(
        *(
            Matrix(
                f"head{i}",
                f"Head {i}",
                attention(*random.normal(size=(3, n, 4))).weights,
                words,
                words,
                "query",
                "key",
                "share",
                divmod(i, 4),
                decimals=2,
            )
            for i in range(8)
        )
    )
    board(
        Matrix(
            "ladder",
            "Elements",
            np.arange(24).reshape(3, 8),
            WORDS[:3],
            [str(i) for i in range(8)],
            "query",
            "channel",
            "origin",
            origin=np.arange(24).reshape(3, 8) // 2,
        ),
        key="below",
    )


def blocks() -> None:
    """Every category, and every step of the other scales."""
    numbers = np.arange(48.0).reshape(6, 8)
    labels = ("abcdef", "abcdefgh", "query", "channel")
    board(
        Matrix("origin", "Origin", numbers, *labels, "origin", origin=numbers.astype(int)),
        Matrix("signs", "Signs", numbers - 24, *labels, "diverging", (0, 1)),
        Matrix("shares", "Shares", numbers / 48, *labels, "share", (1, 0), decimals=2),
        Matrix("values", "Values", numbers, *labels, "sequential", (1, 1)),
    )


def hostile() -> None:
    labels = ("<img src=x onerror=alert(1)>", "&amp;")
    board(
        Matrix(
            "hostile",
            "<b>S</b>",
            np.eye(2),
            labels,
            ("**bold**", "\\"),
            "query",
            "channel",
            "diverging",
            row_start=4,
        )
    )


def slow() -> None:
    time.sleep(0.4)
    walk()


CASES = {
    "walk": walk,
    "masked": masked,
    "score": score,
    "odd": odd,
    "large": large,
    "heads": heads,
    "blocks": blocks,
    "hostile": hostile,
    "slow": slow,
}

main()
