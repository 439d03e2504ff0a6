"""The clinic's answer on the page: verdict, explanations first to last, what the data cannot tell."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.clinic import Diagnosis, Explanation, diagnose_uploads, probe_npz
from ui import text
from ui.clinic_input import Files
from ui.frame import page_link

ANSWER = "clinic_answer"  # session state: (what was asked, its Diagnosis), for this visit only
HEADLINES: dict[str, tuple[str, str, Callable[..., object]]] = {
    "correct": ("Correct", ":material/check_circle:", st.success),
    "fault": ("Something is wrong", ":material/error:", st.error),
    "unexplained": ("Not attention as described, and no known fault", ":material/help:", st.error),
    "undetermined": ("This data cannot tell", ":material/help:", st.warning),
    "bad_input": ("The files cannot be examined", ":material/block:", st.warning),
}
MOST_SHOWN = 6  # explanations; more ties than that tell less
SIZES = {
    "batch": "B", "n_heads": "heads", "n_kv_heads": "key/value heads", "n_q": "queries", "n_k": "keys",
    "d_k": "d_k", "d_v": "d_v",
}  # fmt: skip


def examine(files: Files, beliefs: dict[str, Any]) -> Diagnosis:
    """The diagnosis of these files under these beliefs, with progress; made once a visit, then kept."""
    asked = (files, beliefs)
    if ANSWER in st.session_state and st.session_state[ANSWER][0] == asked:
        return st.session_state[ANSWER][1]
    bar = st.progress(0.0, "Reading the files")
    diagnosis = diagnose_uploads(
        files, **beliefs, progress=lambda part, what: bar.progress(min(1.0, part), f"Trying: {what}")
    )
    bar.empty()
    st.session_state[ANSWER] = (asked, diagnosis)
    return diagnosis


def forget() -> None:
    """Nothing is kept of files that were taken away."""
    st.session_state.pop(ANSWER, None)


def show(diagnosis: Diagnosis) -> None:
    """All of it."""
    _verdict(diagnosis)
    if diagnosis.verdict == "fault":
        _explanations(diagnosis.explanations)
    _understood(diagnosis)
    _not_tested(diagnosis)
    if diagnosis.verdict != "bad_input":
        st.download_button(
            "Download the answer as JSON", diagnosis.as_json(), "diagnosis.json", "application/json",
            key="diagnosis", on_click="ignore", icon=":material/download:",
        )  # fmt: skip


def _verdict(diagnosis: Diagnosis) -> None:
    headline, icon, box = HEADLINES[diagnosis.verdict]
    if diagnosis.verdict == "fault" and all(one.number_format for one in diagnosis.explanations):
        headline = "The maths is right, the number format is not"
    elif diagnosis.verdict == "fault" and diagnosis.explanations[0].often_meant:
        headline = "Something is wrong, or was not stated"
    headline += diagnosis.condition
    box(f"**{headline}.** {text.literal(_sentence(diagnosis.message))}", icon=icon)


def _sentence(message: str) -> str:
    """With a capital and a full stop."""
    return message[:1].upper() + message[1:] + ("" if message.endswith(".") else ".")


def _explanations(explanations: tuple[Explanation, ...]) -> None:
    """The fewest faults first; several explain the numbers equally."""
    if len(explanations) > 1:
        text.caption("clinic", "Ties")
    for number, explanation in enumerate(explanations[:MOST_SHOWN], 1):
        with st.container(border=True):
            _explanation(f"{number}. " if len(explanations) > 1 else "", explanation)
    if len(explanations) > MOST_SHOWN:
        st.caption(f"and {len(explanations) - MOST_SHOWN} more, in the JSON")


def _explanation(number: str, explanation: Explanation) -> None:
    """One computation that gives the reader's numbers: each of its faults, then how close it comes."""
    for index, label in enumerate(explanation.faults):
        detail = f" ({explanation.details[index]})" if explanation.details[index] else ""
        lead = number if index == 0 else "and "
        st.markdown(
            f"**{text.literal(lead + explanation.titles[index])}**{text.literal(detail)}  \n"
            f"Step: {explanation.steps[index]}. Label: {text.literal(label)}"
        )
        lines(explanation.faulty_lines[index], explanation.right_lines[index])
        if explanation.pages[index] != "clinic":
            page = explanation.pages[index]
            page_link(page, f"Taught on the page {page.capitalize()}", icon=":material/menu_book:")
    if explanation.if_meant:
        st.markdown(text.literal(explanation.if_meant))
    if explanation.reading:
        st.caption(text.literal(f"Only if your file means this: {explanation.reading}."))
    st.caption(text.literal(f"Gives your numbers to within {explanation.max_error:.2g}."))


def lines(faulty: str, right: str) -> None:
    """The faulty line of code beside the right one."""
    left, beside = st.columns(2)
    with left:
        st.caption(":material/close: Faulty")
        st.code(faulty, language="python", wrap_lines=True)
    with beside:
        st.caption(":material/check: Right")
        st.code(right, language="python", wrap_lines=True)


def _understood(diagnosis: Diagnosis) -> None:
    """How the files were read, so that a wrong reading shows."""
    facts = diagnosis.facts
    if not facts:
        return
    sizes = ", ".join(f"{name} {facts[key]}" for key, name in SIZES.items())
    causal = "causal" if facts["causal"] else "not causal"
    st.caption(text.literal(f"Read as: {sizes}; {causal}."))
    for note in (*diagnosis.notes, *([diagnosis.sampled] if diagnosis.sampled else [])):
        st.caption(text.literal(_sentence(note)))


def _not_tested(diagnosis: Diagnosis) -> None:
    """What a fault could hide behind, and an input on which it could not."""
    if not diagnosis.not_tested:
        return
    with st.expander("What this data cannot test", expanded=diagnosis.verdict == "undetermined"):
        st.markdown("\n".join(f"- {text.literal(reason)}" for reason in diagnosis.not_tested))
        probe(bool(diagnosis.facts.get("causal")))


def probe(causal: bool) -> None:
    """An input on which every known fault shows."""
    st.markdown(text.part("clinic", "Probe"))
    name = "probe_causal.npz" if causal else "probe.npz"
    st.download_button(
        f"Download {name}", probe_npz(causal=causal), name, key="probe", on_click="ignore",
        icon=":material/download:",
    )  # fmt: skip
