"""From formula to code: the parts of the formula, their lines and their values, joined by colour."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from core.experiments.transcription import line_check
from core.export import MADE_BY, NUMPY_BLANKS, VERSIONS, CodeBlank, check_code, listing
from ui import presenter, stage, tensors, text
from ui.choice import one_of
from ui.view import View

# In the order of the formula as it is written; the labels read together are the formula.
PARTS = {"softmax": "softmax (", "score": "Q Kᵀ", "scale": "/ √d_k", "mask": "+ M )", "blend": "V"}
MOST_LINES = 24  # on a screen for a class; longer programs stand in two columns
_ICONS = {"right": ":material/check:", "wrong": ":material/close:"}


def choose() -> tuple[str, str, bool]:
    """The part of the formula, the version of the code, and whether its blanks are to be filled in."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        part = one_of(
            "Part of the formula", list(PARTS), default="score", format_func=PARTS.__getitem__,
            key="line", label_visibility="collapsed",
        )  # fmt: skip
        version = one_of(
            "Version", list(VERSIONS), default="numpy", format_func=VERSIONS.__getitem__,
            key="version", wrap=True, label_visibility="collapsed",
        )  # fmt: skip
        blanks = st.toggle(
            "Fill in",
            key="fill_in",
            bind="query-params",
            persist_state="session",
            disabled=version != "numpy",
        )
    return part, version, blanks and version == "numpy"


def program(part: str, version: str, *, blanks: bool) -> None:
    """The functions of one version; each line bears the colour of its part, the chosen one's are lit."""
    _listing(listing(version, blanks=blanks), part, VERSIONS[version])


def chosen_lines(part: str, version: str) -> None:
    """The lines of the part alone."""
    lit = [(line.strip(), parts) for line, parts in listing(version) if part in parts]
    _listing(lit, part, "The chosen part's lines")


def _listing(lines: Sequence[tuple[str, tuple[str, ...]]], part: str, label: str) -> None:
    made = "".join(_line(line, parts, part) for line, parts in lines)
    long = " long" if len(lines) > MOST_LINES else ""
    named = f'role="group" aria-label="{escape(label)}"'
    st.html(f'<pre class="listing{long}" tabindex="0" {named}>{made}</pre>')


def value(view: View, part: str) -> None:
    """What the line of the part makes: its tensor, its shape, what was measured about it."""
    tensor, note = MADE_BY[part]
    st.html(f'<div class="made part-{part}"><code>{tensor}</code> <small>{escape(note)}</small></div>')
    row, col = view.selection.row, view.selection.col
    st.markdown(text.literal(line_check(part, view.one, view.inputs, row, col)))
    max_height = presenter.rest(300)
    stage.show(view, [tensors.matrix(view, tensor)], f"The value of {tensor}", max_height=max_height)


def fill_in() -> None:
    """The open places, one a line, checked as they are filled."""
    text.caption("code", "Fill in")
    keys = {blank.id: f"code blank {blank.id}" for blank in NUMPY_BLANKS}
    states = [_blank(blank, keys[blank.id]) for blank in NUMPY_BLANKS]
    if all(state == "right" for state in states):
        st.markdown(f":green[:material/check:] {text.part('code', 'Fill in done')}")


def _blank(blank: CodeBlank, key: str) -> str:
    """One line of code with its open place, and how the answer stands."""
    checked = check_code(blank, st.session_state.get(key, ""))
    code, answer = st.columns([3, 2], vertical_alignment="center")
    code.markdown(f"`{blank.open}`", help=text.literal(blank.about))
    answer.text_input(
        blank.open, key=key, max_chars=60, autocomplete="off", label_visibility="collapsed",
        placeholder="____", icon=_ICONS.get(checked.state), persist_state="session",
    )  # fmt: skip
    if checked.state == "wrong":
        st.markdown(f":orange[{_ICONS['wrong']}] {text.literal(checked.sentence)}")
    return checked.state


def _line(line: str, parts: tuple[str, ...], chosen: str) -> str:
    """One line as markup. The words are our own; they are escaped as every text is."""
    lit = " lit" if chosen in parts else ""
    part = chosen if lit else next(iter(parts), "none")
    return f'<span class="part-{part}{lit}">{escape(line) or " "}</span>'
