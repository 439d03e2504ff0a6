"""ui/uploads.py: what a callback finds where a file should be."""

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec
from streamlit.testing.v1 import AppTest

from ui import uploads


def test_only_a_file_that_the_server_holds_is_given(monkeypatch) -> None:
    file = UploadedFile(UploadedFileRec("id", "a.npz", "", b"x"), FileURLs())
    held = {"one": file, "none": None, "lost": DeletedFile("id")}
    monkeypatch.setattr(st, "session_state", held)
    assert [uploads.given(key) for key in held] == [file, None, None]


def test_a_page_with_an_uploader_keeps_the_largest_file_in_memory(monkeypatch) -> None:
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1)

    def page() -> None:
        from ui import uploads

        uploads.ask("A file", ["npz"], "file", 8, lambda: None)

    assert not AppTest.from_function(page).run().exception
    assert MultiPartParser.spool_max_size > st.get_option("server.maxUploadSize") * 2**20
