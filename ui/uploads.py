"""Files from a visitor: the one uploader of all pages, without a disk under it."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.runtime.uploaded_file_manager import UploadedFile


def ask(label: str, endings: Sequence[str], key: str, most_mb: int, on_change: Callable, **more: Any) -> Any:
    """st.file_uploader for files of up to `most_mb` megabytes, each kept in memory from its first byte."""
    _stay_in_memory()
    return st.file_uploader(label, endings, key=key, max_upload_size=most_mb, on_change=on_change, **more)


def given(key: str) -> UploadedFile | None:
    """In a callback: the one file of that uploader; None where it was taken away, or is not here any more.

    A browser may name a file that this server no longer holds, or never held.
    """
    file = st.session_state[key]
    return file if isinstance(file, UploadedFile) else None


def _stay_in_memory() -> None:
    """Let a file that arrives need no disk, which may be full: where it ends up is memory anyway.

    Starlette, which takes uploads for Streamlit, moves a file to the disk from this size on, for the
    moment until it is complete. Streamlit takes none that is larger than server.maxUploadSize.
    """
    MultiPartParser.spool_max_size = (st.get_option("server.maxUploadSize") + 1) * 2**20
