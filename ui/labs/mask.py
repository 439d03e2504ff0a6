"""The Mask page's labs: one right way to hide a key among many wrong ones."""

import numpy as np
import streamlit as st

from core.checks import ShapeError
from core.experiments.conventions import convention_lab, torch_table
from core.experiments.formats import FORMATS, fills_caption, fills_lab, fills_table
from core.experiments.masking import RIGHT, VARIANTS, mask_lab
from core.experiments.painting import painted_lab, with_flip
from core.experiments.prefixes import prefix_lab
from core.setup import allowed
from ui import charts, controls, figures, presenter, text
from ui.board import show_matrices
from ui.choice import one_of
from ui.labs import bench
from ui.matrix import Matrix
from ui.view import View

FIRST_PAINTED = "4.1"  # the kite is hidden from it


def show(view: View) -> None:
    """The chooser and the open lab; `view` has a mask."""
    bench.choose("mask", LABS, view)


def _allowed(view: View) -> np.ndarray:
    """The mask that the page shows."""
    mask = allowed(view.setup)
    if mask is None:
        raise ValueError("the labs on masks need a view with a mask, but its mask is none")
    return mask


def variants(view: View) -> None:
    """The right mask beside another one, and all of them in a table."""
    others = [name for name in VARIANTS if name != RIGHT]
    chosen = st.selectbox(
        "Beside the right one", others, others.index("0 before softmax"), key="variant", bind="query-params"
    )
    lab = mask_lab(view.one.q, view.one.k, view.one.v, _allowed(view), view.inputs.query_tokens)
    found = {one.name: one for one in lab.variants}
    shown = [found[name] for name in (RIGHT, chosen) if name in found]
    bench.board(
        view,
        [
            _weights(view, one.weights, (0, slot), f"variant{slot}", one.name)
            for slot, one in enumerate(shown)
        ],
        "Weights under two masks",
    )
    with presenter.screen("read"):
        for one in shown[1:]:
            st.markdown(text.literal(one.caption))
        bench.tell(lab)
    with presenter.screen("numbers"):
        bench.table(lab.table)


def _weights(view: View, weights: np.ndarray, place: tuple[int, int], id: str, title: str) -> Matrix:
    """Weights of this head under some mask."""
    return bench.matrix(view, "weights", weights, place, id=id, title=title)


def prefixes(view: View) -> None:
    """One masked pass against a pass over every prefix alone."""
    try:
        lab = prefix_lab(view.one.q, view.one.k, view.one.v)
    except ShapeError:
        st.info(text.part("labs/labs", "One query"))
        return
    passes = {"full": ("One masked pass", lab.full), "one_by_one": ("Word by word", lab.one_by_one)}
    bench.board(
        view,
        [
            bench.matrix(view, "output", values, (0, slot), id=id, title=title)
            for slot, (id, (title, values)) in enumerate(passes.items())
        ],
        "Outputs of one pass, and word by word",
    )
    with presenter.screen("read"):
        picture, words = bench.halves()
    with picture:
        series = {"with the mask": lab.masked_differences, "without": lab.unmasked_differences}
        charts.show(
            figures.grouped_bars(
                view.inputs.query_tokens, series, charts.theme(), y_title="difference from the prefix alone"
            )
        )
    with words:
        bench.tell(lab)


def painting(view: View) -> None:
    """A mask painted by hand, kept in the URL as text."""
    n_q, n_k = view.one.weights.shape
    cells = st.text_input(
        "Painted cells, row.column",
        FIRST_PAINTED,
        key="painted",
        bind="query-params",
        placeholder="none",
        max_chars=2000,
    )
    lab = painted_lab(view.one.q, view.one.k, view.one.v, _allowed(view), cells)

    def turn(_: str, row: int, col: int, value: float) -> None:  # noqa: ARG001 - each message is one turn
        st.session_state["painted"] = with_flip(st.session_state["painted"], row, col, n_q, n_k)

    mask = bench.matrix(
        view, "weights", lab.allowed.astype(float), (0, 0), id="painted_mask", title="Mask: 1 = may attend",
        symbol="allowed", switches=True, decimals=0,
    )  # fmt: skip
    show_matrices(
        [mask, _weights(view, lab.weights, (0, 1), "painted_weights", "Weights under it")],
        {"query": view.selection.row, "key": view.selection.col},
        key="lab_painting", label="Painted mask", on_pick=controls.pick, on_edit=turn,
        max_height=presenter.rest(320), scale=presenter.scale(),
    )  # fmt: skip
    bench.tell_below(lab)


def conventions(view: View) -> None:
    """One boolean array, read both ways."""
    lab = convention_lab(view.one.scaled_scores, _allowed(view))
    readings = (("may attend", lab.may_attend), ("is blocked", lab.blocked))
    bench.board(
        view,
        [
            _weights(view, weights, (0, slot), f"reading{slot}", f"True: {meaning}")
            for slot, (meaning, weights) in enumerate(readings)
        ],
        "The same array, read both ways",
    )
    bench.tell_below(lab)
    with presenter.screen("numbers"):
        bench.table(torch_table())


def fills(view: View) -> None:
    """What the usual fill values do in each number format."""
    names = [form.name for form in FORMATS]
    form = one_of("Number format", names, default="float16", key="format")
    found = fills_lab(view.one.scaled_scores[view.selection.row])
    bench.table(fills_table(tuple(one for one in found if one.format == form)))
    st.markdown(text.literal(fills_caption(found)))
    st.caption(text.part("labs/mask", "Fills note"))


LABS = {
    "Ways to mask": variants,
    "Word by word": prefixes,
    "Paint a mask": painting,
    "Two readings": conventions,
    "Fill values": fills,
}
