"""Bound inputs that get their value from another part of the page, and not from the reader's own hand."""

from collections.abc import Mapping

import streamlit as st


def assign(values: Mapping[str, int]) -> None:
    """In a callback: give bound inputs these values.

    Streamlit tells the browser of an address that changes. Where a reader was there and back before the first
    answer came, nothing changes, yet that answer is under way with the address of the first move: so say
    the address once more.
    """
    if all(st.session_state.get(key) == value for key, value in values.items()):
        st.query_params.update()
    st.session_state.update(values)
