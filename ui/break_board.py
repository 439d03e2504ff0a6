"""Blocks of the page Break it: right beside wrong, the checks, the code, what only looks wrong."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.experiments.prose import significant, sizes
from core.faults.broken import SHOWN, STEPS, Broken, hidden_fault, setup_for
from core.faults.checks import Check, six_checks
from core.faults.false_alarms import false_alarms
from core.real import MODEL
from core.setup import Setup, allowed, key_is_real
from ui import controls, instead, presenter, tensors, text
from ui.clinic_answer import lines
from ui.frame import page_link
from ui.matrix import Matrix
from ui.view import View

MOST_MYSTERIES = 9999
A_SCREEN = 3  # false alarms that a class sees at once


def ask_fault() -> str:
    """Which fault, by its label; the label's first word is the step."""
    return st.selectbox("Fault (step.kind)", SHOWN, key="broken", bind="query-params")


def ask_mystery() -> int:
    """The number of the mystery; 0 for none. The same number hides the same fault in the same example."""
    number, another = st.columns([3, 4], vertical_alignment="bottom")
    with number:
        seed = st.number_input(
            "Mystery number", 0, MOST_MYSTERIES, 0, key="mystery", bind="query-params", on_change=_hide,
            help="0: you choose the fault. Any other number hides one.",
        )  # fmt: skip
    with another:
        st.button(
            "Another mystery" if seed else "Hide a fault from me", key="another", on_click=_another,
            icon=":material/casino:",
        )  # fmt: skip
    return seed


def mystery_label(setup: Setup, seed: int) -> str:
    """The fault behind a mystery number, worked out once for one example and number."""
    asked = (setup, seed)
    if st.session_state.get("hidden_fault", (None, ""))[0] != asked:
        st.session_state["hidden_fault"] = (asked, hidden_fault(setup, seed))
    return st.session_state["hidden_fault"][1]


def ask_step(label: str) -> bool:
    """Let the reader name the step; -> whether the fault may be shown now."""
    st.markdown("**Which step is broken?**")
    named = st.segmented_control("Step", STEPS, key="named", label_visibility="collapsed", wrap=True)
    step = label.split(".")[0]
    if named and named != step:
        st.warning(f"Not the {named}: look at the checks again, then at the first matrix that differs.",
                   icon=":material/close:")  # fmt: skip
    if named == step:
        st.success(f"Yes, the {step}.", icon=":material/check_circle:")
    return named == step or st.toggle("Show the answer", key="reveal")


def view_for(view: View, label: str) -> View:
    """The view with what the fault needs to show, and what was added in words."""
    setup = setup_for(view.setup, label)
    if setup == view.setup:
        return view
    if setup.mask != view.setup.mask:
        instead.tell("break_it", "No mask chosen", "Choose causal", mask=setup.mask)
    if setup.n_heads != view.setup.n_heads:
        st.caption(f"Shown with {setup.n_heads} heads: with one head this fault cannot be made.")
    made = view.but(mask=setup.mask, n_heads=setup.n_heads)
    return replace(made, selection=replace(view.selection, head=_head(view, made.setup.n_heads)))


def _head(view: View, n_heads: int) -> int | None:
    """Among `n_heads` heads of its layer, which one a head of the tiny model is: L1H2 is the third."""
    if view.setup.example != MODEL or view.setup.n_heads == n_heads:
        return view.selection.head
    return int(view.setup.real_head.rpartition("H")[2])


def matrices(view: View, made: Broken) -> list[Matrix]:
    """Weights and output, right beside wrong, each pair in one range of colours."""
    head = view.head
    pairs = (
        ("weights", made.right.weights, made.wrong.weights),
        ("output", made.right.output, made.wrong.output),
    )
    drawn = []
    for name, right, wrong in pairs:
        finite = np.concatenate([right[head].ravel(), wrong[head].ravel()])
        finite = finite[np.isfinite(finite)]
        for title, values in (("Right", right[head]), ("Broken", wrong[head])):
            drawn.append(_matrix(view, name, title, values, (finite.min(), finite.max()), len(drawn)))
    return drawn


def _matrix(
    view: View, name: str, title: str, values: np.ndarray, limits: tuple[float, float], column: int
) -> Matrix:
    more: dict[str, Any] = {
        "values": values, "title": f"{title} {tensors.TENSORS[name].symbol}", "sources": {}, "changed": None,
        "editable": False, "shape": sizes(values), "id": f"{title.lower()}_{name}",
    }  # fmt: skip
    if name == "weights":
        more["colours"] = "diverging" if limits[0] < 0 or limits[1] > 1 + 1e-9 else "share"
        more["limits"] = limits
        return tensors.matrix(view, name, (0, column), **more)
    more |= {"colours": "diverging" if limits[0] < 0 else "sequential", "limits": limits}
    if values.shape[1] == len(view.inputs.value_channels):
        return tensors.matrix(view, name, (0, column), **more)
    drawn = values[:, : tensors.MOST_CHANNELS]  # as wide as something else: its columns are no value channels
    more |= {"values": drawn, "col_labels": view.inputs.channels[: drawn.shape[1]], "col_axis": "channel"}
    more |= {"symbol": "O", "decimals": 1}
    return tensors.matrix(view, "weights", (0, column), **more)


def unseen(made: Broken) -> bool:
    """Whether the fault changes nothing here."""
    right, wrong = made.right.output, made.wrong.output
    return right.shape == wrong.shape and np.allclose(right, wrong, equal_nan=True)


def checks(view: View, made: Broken) -> None:
    """The six checks of the shown head: what was found, and a way to the cell where one fails."""
    found = six_checks(made, view.head, view.inputs.query_tokens, view.inputs.key_tokens)
    failed = sum(not check.passed for check in found)
    st.markdown(f"**Six checks of the broken one**: {failed} of {len(found)} fail")
    with st.container(key="checks", gap="xxsmall"):
        for index, check in enumerate(found):
            _check(index, check)


def _check(index: int, check: Check) -> None:
    icon, word = (":green[:material/check:]", "pass") if check.passed else (":red[:material/close:]", "FAIL")
    told, show = st.columns([6, 1], vertical_alignment="center")
    with told:
        st.markdown(f"{icon} **{check.name}**: {word}. {text.literal(check.finding)}")
    if check.cell is not None and not check.passed:
        cell = dict(zip(("query", "key"), check.cell, strict=True))
        with show:
            st.button(
                "Show", key=f"check_{index}", type="tertiary", on_click=partial(controls.pick, cell),
                help=f"Select the cell where the check fails: {check.name}",
            )  # fmt: skip


def code(made: Broken) -> None:
    """The faulty line beside the right one, where it is taught, who met it."""
    fault = made.fault
    st.markdown(f"**{text.literal(fault.title)}**  \nStep: {fault.step}")
    lines(fault.faulty_line, fault.right_line)
    page_link(fault.page, f"Taught on the page {fault.page.capitalize()}", icon=":material/menu_book:")
    if fault.stories:
        st.markdown("Met in public: " + ", ".join(map(_story, fault.stories)))


def _story(story: str) -> str:
    repository, _, number = story.partition("#")
    return f"[{text.literal(story)}](https://github.com/{repository}/issues/{number})"


def looks_wrong(view: View) -> None:
    """Code that is reported as a bug and is none, with the difference measured on this example."""
    setup = setup_for(view.setup, None)
    hidden = allowed(setup)
    assert hidden is not None, "setup_for gives every setup a mask"
    one = view.one
    alarms = false_alarms(one.q, one.k, one.v, hidden, key_is_real(setup)[: one.k.shape[0]])
    first, rest = st.container(), presenter.screen("looks_wrong_too")
    for index, alarm in enumerate(alarms):
        with first if index < A_SCREEN else rest:
            told, line = st.columns([5, 6], gap="medium")
        with told:
            st.markdown(
                f"**{text.literal(alarm.title)}.** {text.literal(alarm.why)}  \n"
                f"Largest difference in the output: **{_difference(alarm.difference)}**"
            )
        with line:
            st.code(alarm.line, language="python", wrap_lines=True)


def _difference(value: float) -> str:
    if np.isnan(value):
        return "NaN, for every weight that is left in a row had already underflowed to 0"
    return "exactly 0" if value == 0 else significant(value)


def _another() -> None:
    """The next mystery, with nothing named yet."""
    st.session_state["mystery"] = st.session_state.get("mystery", 0) % MOST_MYSTERIES + 1
    _hide()


def _hide() -> None:
    st.session_state.update(named=None, reveal=False)
