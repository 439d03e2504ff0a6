"""A choice of exactly one thing, kept in the address."""

from collections.abc import Iterable
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


def one_of(label: str, options: Iterable[T], key: str, default: T | None = None, **more: Any) -> T:
    """A segmented control in which one option is always chosen; at first `default`, or else the first option.

    `?part=` without a value means "nothing chosen" to Streamlit, required or not. Here it leaves the address
    and the run begins anew, since a widget takes its value from the address as it was when the run began.
    """
    offered = list(options)
    if key not in st.session_state and st.query_params.get(key) == "":
        del st.query_params[key]
        st.rerun()
    return st.segmented_control(
        label, offered, default=offered[0] if default is None else default,
        key=key, bind="query-params", required=True, **more,
    )  # fmt: skip
