"""deploy/serve.py: the socket it serves on, and its place in the running server."""

import socket

from streamlit.web.server.starlette import starlette_server

from deploy import serve


def test_connections_send_small_answers_at_once():
    with (
        serve.bind_without_delay("127.0.0.1", 0, 1) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        listener.setblocking(True)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_streamlit_binds_by_the_name_that_is_replaced(monkeypatch):
    """Streamlit looks the name up when it binds, so that the replacement is what it finds."""
    monkeypatch.setitem(vars(starlette_server), "_bind_socket", lambda *_: (_ for _ in ()).throw(LookupError))
    try:
        starlette_server._bind_server_socket("127.0.0.1", "127.0.0.1", 0, 1)
    except LookupError:
        return
    raise AssertionError("Streamlit bound its socket another way")
