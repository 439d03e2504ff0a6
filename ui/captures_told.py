"""What is told of a capture: whether its own weights and output are what its q, k and v give."""

import math
from collections.abc import Sequence

import streamlit as st

from core.capture_errors import Beyond, Errors, errors
from core.captures import Capture
from core.experiments.prose import fixed, listed, significant
from ui import controls, real_controls
from ui.frame import page_link
from ui.text import literal

TOO_LONG = 1e6  # for a number with all its decimals


def beyond(example: str) -> None:
    """A warning where the file's own numbers are not what its q, k and v give, and where to find out why."""
    found = _errors(example)
    lines = [*_not_finite(found), *_differing(real_controls.capture_of(example), found)]
    if not lines:
        return
    st.warning("  \n".join(lines), icon=":material/warning:")
    with st.container(horizontal=True, vertical_alignment="center"):
        for cell in found.beyond:
            if cell.tensor == "weights":
                st.button(
                    "Show the cell", on_click=_show_cell, args=(example, cell), key=f"worst_{example}"
                )  # fmt: skip
        st.markdown("Which step is it? Bring the same file to the", width="content")
        page_link("clinic", "Clinic", icon=":material/medical_services:")


def about(example: str) -> None:
    """How well the four steps reproduce the file, and what was taken for granted."""
    for sentence in (_reproduced(_errors(example)), *real_controls.capture_of(example).assumed):
        if sentence:
            st.caption(literal(sentence))


def _reproduced(found: Errors) -> str:
    """What the file lets us check; "" where a warning has told it."""
    known = _known(found)
    if found.beyond or _not_finite(found):
        return ""
    if not known:
        return "The file holds neither weights nor output, so the four steps cannot be checked against it."
    within = listed([f"{name} within {error:.1e}" for name, error in known.items()])
    return (
        f"The four steps, run on q, k and v, give the file's own {within} in all heads: "
        f"no more than rounding in {found.number_format}."
    )


def _known(found: Errors) -> dict[str, float]:
    held = {"weights": found.weights, "output": found.output}
    return {name: error for name, error in held.items() if error is not None}


def _not_finite(found: Errors) -> list[str]:
    lost = [name for name, error in _known(found).items() if not math.isfinite(error)]
    if not lost:
        return []
    told = f"The file's own {listed(lost)} cannot be compared everywhere: not all their numbers are finite."
    return [literal(told)]


def _differing(capture: Capture, found: Errors) -> list[str]:
    """What differs by more than rounding, each tensor's worst cell with both numbers."""
    if not found.beyond:
        return []
    names = listed([cell.tensor for cell in found.beyond])
    verb = "are" if names != "output" else "is"
    told = f"The file's own {names} {verb} not what q, k and v give"
    why = f": the difference is more than rounding in {found.number_format} explains. Where it is largest:"
    return [f"**{literal(told)}**{literal(why)}", *(literal(_worst(capture, one)) for one in found.beyond)]


def _worst(capture: Capture, cell: Beyond) -> str:
    """The worst cell of one tensor, with both numbers."""
    query = _named(cell.row, capture.query_tokens)
    where = f"key {_named(cell.col, capture.tokens)}" if cell.tensor == "weights" else f"channel {cell.col}"
    own, computed = _both(cell)
    place = f"{cell.tensor.capitalize()}, head {cell.head}, query {query}, {where}"
    return f"{place}: the file holds {own}, the four steps give {computed}."


def _named(index: int, tokens: Sequence[str]) -> str:
    """3 (word); the number alone where the tokens are numbers themselves."""
    return str(index) if tokens[index] == str(index) else f"{index} ({tokens[index]})"


def _both(cell: Beyond) -> tuple[str, str]:
    """Both numbers, with as many decimals as it takes to tell them apart."""
    decimals = max(3, 1 - math.floor(math.log10(abs(cell.own - cell.computed))))
    if abs(cell.own) >= TOO_LONG:
        return significant(cell.own, 3), significant(cell.computed, 3)
    return fixed(cell.own, decimals), fixed(cell.computed, decimals)


def _show_cell(example: str, cell: Beyond) -> None:
    """Callback: the worst cell becomes the selected one."""
    real_controls.choose_head(example, str(cell.head))
    controls.pick({"query": cell.row, "key": cell.col})


def _errors(example: str) -> Errors:
    """Computed once a visit for each capture, since every head is run."""
    capture = real_controls.capture_of(example)
    known = st.session_state.setdefault("capture_errors", [])
    for one, found in known:
        if one is capture:
            return found
    found = errors(capture)
    known[:] = [*known[-3:], (capture, found)]
    return found
