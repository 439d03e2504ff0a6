"""Which page the reader is on, for blocks that several pages draw."""

import streamlit as st

PAGE_SHOWN = "page_shown"  # session_state: the slug of the page of this run


def turn_to(slug: str) -> bool:
    """Note the page of this run; -> whether the reader has come to it with this run."""
    turned = page() != slug
    st.session_state[PAGE_SHOWN] = slug
    return turned


def page() -> str:
    """The slug of the page that is shown; "" before the first."""
    return st.session_state.get(PAGE_SHOWN, "")
