"""What the clinic page is given: the files, and what their owner believes about them."""

from typing import Any

import streamlit as st

from core.clinic.beliefs import AXES
from core.clinic.loading import ENDINGS
from core.clinic.samples import SAMPLES
from ui import uploads

MAX_FILE_MB = 32  # as server.maxUploadSize in .streamlit/config.toml
NOT_SAID = "not said"
NO_SAMPLE = "no example"
LAYOUT_OF = {axes: layout for layout, axes in AXES.items()}  # by the option, which is what the URL holds
CAUSAL = {"causal": True, "not causal": False}
YES_NO = {"yes": True, "no": False}
TRUE_MEANS = {"may attend": "keep", "is hidden": "hide"}
ALIGNMENTS = {"at the last key": "lower_right", "at the first key": "top_left"}
PRODUCTS = {"x @ w": "x @ w", "x @ w.T": "x @ w.T"}

Files = list[tuple[str, bytes]]


def ask_files() -> Files:
    """The uploaded files, or else the example that was chosen: (name, content) pairs."""
    given = uploads.ask(
        "Your q, k, v and output, in one file or several",
        [ending.removeprefix(".") for ending in ENDINGS],
        "clinic_files", MAX_FILE_MB, _forget_sample, accept_multiple_files=True,
    )  # fmt: skip
    files = [(file.name, file.getvalue()) for file in given]
    title = st.selectbox(
        "Or try an example file", [NO_SAMPLE, *SAMPLES], key="sample", bind="query-params",
        disabled=bool(files),
    )  # fmt: skip
    if files or title not in SAMPLES:
        return files
    chosen = SAMPLES[title]
    files = [(chosen.file_name, chosen.make())]
    st.download_button(
        f"Download {chosen.file_name}", files[0][1], chosen.file_name, key="sample_file", on_click="ignore",
        icon=":material/download:",
    )  # fmt: skip
    return files


def ask_beliefs() -> dict[str, Any]:
    """What the attention was meant to be, as keywords of diagnose(); None where nothing is said."""
    causal = _one_of("Is it meant to be causal?", CAUSAL, "causal")
    with st.expander("More of what you meant"):
        left, right = st.columns(2)
        with left:
            heads = _count("Heads", "num_heads")
            mask_true = _one_of("True in your mask means", TRUE_MEANS, "mask_true")
        with right:
            kv_heads = _count("Key/value heads", "num_kv_heads")
            layout = _one_of("Axes of q, k and v", LAYOUT_OF, "layout")
        special = _special_beliefs(left, right)
    stated = {"causal": causal, "mask_true": mask_true, "layout": layout}
    return stated | {"n_heads": heads, "n_kv_heads": kv_heads} | special


def _special_beliefs(left: Any, right: Any) -> dict[str, Any]:
    """What few files need."""
    with left:
        rope = _one_of("q, k still need rotary positions", YES_NO, "rope")
        alignment = _one_of("If n_q ≠ n_k, the triangle ends", ALIGNMENTS, "causal_alignment")
    with right:
        alibi = _one_of("The scores get an ALiBi bias", YES_NO, "alibi")
        weights_as = _one_of("Projections are used as", PRODUCTS, "weights_as")
        sink = _number("Constant in softmax's sum (a sink)", "sink")
    with left:
        softcap = _number("Soft cap on the scores", "softcap")
    scale = _number("Factor on the scores, if it is not 1/√d_k", "factor")
    return {
        "rope": rope, "causal_alignment": alignment, "alibi": alibi, "weights_as": weights_as,
        "scale": scale, "softcap": softcap, "sink": sink,
    }  # fmt: skip


def _number(label: str, key: str) -> float | None:
    """A positive number, or None where nothing is said."""
    return st.number_input(
        label, 0.0, 1e5, None, format="%g", key=key, bind="query-params", placeholder=NOT_SAID
    ) or None  # fmt: skip


def _one_of(label: str, options: dict[str, Any], key: str) -> Any:
    """One of the values, or None where nothing is said."""
    return options.get(st.selectbox(label, [NOT_SAID, *options], key=key, bind="query-params"))


def _count(label: str, key: str) -> int | None:
    return st.number_input(label, 1, 4096, None, key=key, bind="query-params", placeholder=NOT_SAID)


def _forget_sample() -> None:
    """One's own files take the place of the example."""
    st.session_state["sample"] = NO_SAMPLE
