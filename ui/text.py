"""Static prose from assets/text/<slug>.md, and the escaping of words that are not ours."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import streamlit as st

TEXT = Path(__file__).parents[1] / "assets" / "text"


@lru_cache
def part(slug: str, heading: str) -> str:
    """The Markdown under `## heading` of assets/text/<slug>.md. Raises KeyError if it is not there."""
    text = (TEXT / f"{slug}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))[heading]


def literal(words: str) -> str:
    """`words` as Markdown that shows exactly those characters.

    A backslash before each ASCII punctuation mark stops Markdown, HTML and LaTeX; the colon needs an
    entity, since Streamlit makes an icon of :material/x: even when it is escaped. Line breaks become
    spaces; spaces that must not break stay.
    """
    escaped = re.sub(r"([!-/;-@\[-`{-~])", r"\\\1", words)
    return re.sub(r"[ \t\r\n\f\v]+", " ", escaped).replace(":", "&#58;")


def caption(slug: str, heading: str) -> None:
    """A part of the text in small print."""
    st.caption(part(slug, heading))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with right-aligned columns; every cell is shown as it is, character by character."""
    lines = [[literal(cell) for cell in header], ["---:"] * len(header)]
    lines += [[literal(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
