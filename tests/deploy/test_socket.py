"""The websocket as .streamlit/config.toml sets it: packed, with a bound on what a message unpacks to."""

from collections.abc import Iterator

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.browser import server

FIRST_RUN = BackMsg(rerun_script={})
TOO_LARGE = 20_000_000  # bytes, of which packing leaves a thousandth


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server.serve(server.ROOT / "app.py") as url:
        yield url


def opened(url: str) -> ClientConnection:
    """A connection as a browser makes it."""
    return connect(
        f"ws{url.removeprefix('http')}/_stcore/stream",
        origin=Origin(url),
        subprotocols=[Subprotocol("streamlit")],
    )


def finished(connection: ClientConnection) -> bool:
    """Whether a first run comes to its end."""
    connection.send(FIRST_RUN.SerializeToString())
    while message := ForwardMsg.FromString(bytes(connection.recv(timeout=30))):
        if message.WhichOneof("type") == "script_finished":
            return message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
    return False


def test_messages_are_packed(url: str) -> None:
    with opened(url) as connection:
        assert connection.response
        assert "permessage-deflate" in connection.response.headers["Sec-WebSocket-Extensions"]
        assert finished(connection)


def test_a_message_that_unpacks_to_too_much_ends_its_own_connection_alone(url: str) -> None:
    with opened(url) as other, opened(url) as connection:
        connection.send(bytes(TOO_LARGE))
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=30)
        assert closed.value.rcvd
        assert closed.value.rcvd.code == CloseCode.MESSAGE_TOO_BIG
        assert finished(other)
