"""The poll as a page reaches it, through st.connection."""

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.testing.v1 import AppTest


def script():
    import streamlit as st

    from ui.poll import poll_store
    from ui.poll_store import new_voter
    from ui.poll_tables import PollAway

    try:
        store = poll_store()
        code, key = store.open_class()
        asked = store.ask(code, key, "S3")
        store.vote(asked, new_voter(), "column")
        st.text(str(store.counts(asked)))
    except PollAway as away:
        st.warning(str(away))


@pytest.fixture(autouse=True)
def secrets_file(tmp_path, monkeypatch):
    """A machine of its own: cache folder, secrets file, nothing kept from before."""
    file = tmp_path / "secrets.toml"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(secrets_singleton, "_secrets", None)
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(file)])
    st.cache_resource.clear()
    yield file
    config.set_option("secrets.files", before)
    st.cache_resource.clear()


def run():
    app = AppTest.from_function(script).run(timeout=30)
    assert not app.exception
    return app


def test_the_default_is_a_file_of_this_machine(tmp_path):
    assert run().text[0].value == "{'column': 1}"
    assert (tmp_path / "cache" / "attention-tutor" / "poll.sqlite").is_file()


def test_the_secrets_name_another_store(tmp_path, secrets_file):
    secrets_file.write_text(
        f'[connections.poll]\nurl = "sqlite:///{(tmp_path / "other.sqlite").as_posix()}"\n'
    )
    assert run().text[0].value == "{'column': 1}"
    assert (tmp_path / "other.sqlite").is_file()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "url", ["nonsense", "postgresql+psycopg://nobody@127.0.0.1:1/x?connect_timeout=1", "mysql://x"]
)
def test_a_store_that_is_away_is_a_sentence_and_no_error(url, secrets_file):
    secrets_file.write_text(f'[connections.poll]\nurl = "{url}"\n')
    assert "The lesson goes on without it" in run().warning[0].value


def test_a_store_that_comes_back_is_found_again(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert run().warning
    blocked.unlink()
    assert run().text[0].value == "{'column': 1}"
