"""What surrounds every page: settings, style, Back / formula / Next."""

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from core.real import REAL
from core.setup import Setup
from ui import presenter, where
from ui.teaching import terms_of
from ui.view import View

ASSETS = Path(__file__).parents[1] / "assets"
# In the page itself: a file's address dies with each run that the next one cuts short, and an emoji's picture
# comes from the web.
ICON = f"data:image/png;base64,{b64encode((ASSETS / 'icon.png').read_bytes()).decode()}"
# Read once, not at every run.
STYLE, LARGE = (
    f"<style>{(ASSETS / name).read_text(encoding='utf-8')}</style>" for name in ("style.css", "present.css")
)

# The parts of softmax(Q Kᵀ / √d_k + M) V, in the order of the formula, as KaTeX.
_SCORE, _SCALE, _MASK, _VALUES = r"QK^{\mathsf T}", r"/\,\sqrt{d_k}", r"\,+\,M", r"\,V"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the tutor."""

    slug: str  # its address and the name of its text file
    title: str
    part: str  # the part of the formula that it lights
    render: Callable[[View], None]
    own_inputs: bool = False  # what the page shows comes from the sidebar only where a trained head is chosen


def say_whose_inputs(page: Page, setup: Setup) -> None:
    """For the top of the sidebar, where a reader would move an input and see nothing happen."""
    if page.own_inputs and setup.example not in REAL:
        st.caption("These inputs belong to the walk. This page has its own.")


def configure(page: Page) -> None:
    """Settings of the window; its title tells which page it shows."""
    _leave_out_infinities()
    st.set_page_config(
        page_title=f"{page.title}: attention, step by step",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state="collapsed" if presenter.starts_bare() else "auto",
    )


def _leave_out_infinities() -> None:
    """`row=inf` and `row=1e999` leave the address: a box for whole numbers would fail over them.

    Any other junk is left out by the box itself. A box takes its number from the address as it was when the
    run began, so the run begins anew.
    """
    endless = [name for name in st.query_params if _is_endless(st.query_params.get_all(name))]
    for name in endless:
        del st.query_params[name]
    if endless:
        st.rerun()


def _is_endless(values: Sequence[str]) -> bool:
    try:
        return any(math.isinf(float(value)) for value in values)
    except ValueError:
        return False


def style() -> None:
    """The app's style sheet, and in presenter mode the one for the back row."""
    st.html(STYLE + LARGE if presenter.presenting() else STYLE)


def link(page: Page, *, default: bool) -> Any:
    """The Streamlit page behind one of our pages. Its function is never run by Streamlit: see app.main."""
    render: Callable[..., None] = page.render
    return st.Page(render, title=page.title, url_path=page.slug, default=default)


def is_turned(slug: str) -> bool:
    """Whether the reader has come to this page with this run."""
    return where.turn_to(slug)


WALK = {"score": "Score", "scale": "Scale", "softmax": "Softmax", "blend": "Blend"}


def walk_links(label: str) -> None:
    """Links to the four steps, which show what is chosen now."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{label}:**", width="content")
        for slug, title in WALK.items():
            page_link(slug, title)


def page_link(slug: str, label: str, icon: str | None = None) -> None:
    """A link to another page, for blocks that do not know PAGES."""
    # Streamlit knows a page by its address, so this names the page that the navigation has.
    st.page_link(st.Page(_elsewhere, title=label, url_path=slug), label=label, icon=icon, width="content")


def _elsewhere() -> None:
    """Stands for a page that the navigation runs."""


def header(pages: Sequence[Page], index: int, links: Mapping) -> None:
    """Row 1: Back, the formula with the active part lit, Next; and the keys that press them."""
    slugs = ["", *(page.slug for page in pages[1:])]
    presenter.listen_for_keys(slugs, slugs[index])
    with st.container(key="frame", horizontal=True, vertical_alignment="center"):
        with st.container(key="back", width="content"):
            if index:
                previous = pages[index - 1]
                st.page_link(
                    links[previous.slug], label=f"Back: {previous.title}", icon=":material/arrow_back:"
                )
        with st.container(key="title"):
            st.html(f"<h1>{pages[index].title}</h1>")
        with st.container(key="formula"):
            # Two dollars, since a lit part holds single ones.
            st.markdown(f"$$\n{formula(pages[index].part)}\n$$")
        _words(pages[index].slug)
        with st.container(key="next", width="content"):
            if index + 1 < len(pages):
                following = pages[index + 1]
                st.page_link(
                    links[following.slug],
                    label=f"Next: {following.title}",
                    icon=":material/arrow_forward:",
                    icon_position="right",
                )


def _words(slug: str) -> None:
    """The terms that are met on a page, explained."""
    if terms := terms_of(slug):
        with (
            st.container(key="words", width="content"),
            st.popover("Words", icon=":material/menu_book:", type="tertiary"),
        ):
            st.markdown("\n\n".join(f"**{term.name}.** {term.meaning}" for term in terms))


def formula(part: str) -> str:
    """The attention formula as KaTeX with one part lit; part is one of PARTS."""
    score = _lit(_SCORE, part in ("score", "all"))
    scale = _lit(_SCALE, part in ("scale", "all"))
    masked = rf"\,{_lit(_MASK, True)}" if part == "mask" else ""
    softmax = _lit(r"\text{softmax}", part in ("softmax", "all"))
    values = _lit(_VALUES, part in ("blend", "all"))
    if part == "heads":
        return (
            r"\text{MultiHead} = \text{Concat}("
            + _lit(r"\text{head}_1, \dots, \text{head}_h", True)
            + r")\,W_O"
        )
    return rf"\text{{Attention}}(Q,K,V) = {softmax}\big({score}{scale}{masked}\big){values}"


def _lit(tex: str, lit: bool) -> str:
    """`tex` on a yellow ground with dark ink: readable in light and dark."""
    return rf"\colorbox{{#ffd866}}{{$\color{{#1b1b1b}}{tex}$}}" if lit else tex
