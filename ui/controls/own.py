"""Controls of one page each, bound to the address like the shared ones."""

from collections.abc import Sequence

import streamlit as st

from core.setup import Inputs
from ui.choice import one_of


def replaced_word(arrays: Inputs) -> int:
    """The mask page's own control: the position whose word the leak test replaces."""
    words = [f"{position} {word}" for position, word in enumerate(arrays.key_tokens)]
    label, choice = st.columns([3, 4], vertical_alignment="center")
    with label:
        st.markdown("**Leak test:** replace")
    with choice:
        chosen = st.selectbox(
            "Word to replace", ["the last", *words], key="replace", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
    return words.index(chosen) if chosen in words else len(words) - 1


def heads_part(parts: Sequence[str]) -> str:
    """The heads page's own control: which of its parts is shown in numbers."""
    return one_of(
        "Part", parts, default=parts[0], key="part",
        label_visibility="collapsed",
    )  # fmt: skip
