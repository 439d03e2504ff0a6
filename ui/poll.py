"""The class poll's store as pages reach it: one for the whole server, through Streamlit's own connection."""

import streamlit as st

from ui.poll_store import PollStore
from ui.poll_tables import default_url, reaching

NAME = "poll"  # [connections.poll] in .streamlit/secrets.toml


@st.cache_resource(show_spinner=False)
def poll_store() -> PollStore:
    """The store named in the secrets, else the SQLite file of this machine. Raises PollAway.

    A store that could not be reached is not kept: the next call tries again.
    """
    with reaching():
        if _is_in_secrets():
            return PollStore(st.connection(NAME, type="sql").engine)
        return PollStore(st.connection(NAME, type="sql", url=default_url()).engine)


def _is_in_secrets() -> bool:
    """Whether the host named a database. An address passed in the call would win over it."""
    return st.secrets.load_if_toml_exists() and NAME in st.secrets.get("connections", {})
