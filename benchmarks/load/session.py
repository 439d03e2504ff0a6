"""One open page: a websocket that speaks Streamlit's protocol as its browser half does."""

import asyncio
import http.client
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState, ContextInfo
from streamlit.proto.Common_pb2 import FileURLs, FileURLsRequest, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from benchmarks.load.messages import Screen, Watched, board, exception
from benchmarks.load.widgets import Widgets

PATIENCE = 30.0  # seconds; a reply that takes longer is counted as lost
SILENCE = 1.5  # seconds without a message, after which no more are expected
MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What one action brought: times in seconds from sending, None for what never came."""

    kind: str
    answered: float | None  # until the first board of matrices that differs from the one on screen
    finished: float | None  # until the run's end
    n_bytes: int
    faults: tuple[str, ...] = ()


class Session:
    """One reader's open page.

    session = Session("http://127.0.0.1:8501", "softmax", "row=4"); await session.open()
    """

    def __init__(
        self, url: str, page: str = "", query: str = "", watched: Watched = board, patience: float = PATIENCE
    ) -> None:
        """`url` of the server, the page's slug, the address's parameters, what an action is to change."""
        self.url, self.start, self.watched, self.patience = url.rstrip("/"), page, watched, patience
        self.screen, self.widgets = Screen(), Widgets(query)
        self.seen: dict[str, str] = {}
        self._sent: dict[str, int] = {}  # messages of each board to Python
        self._socket: ClientConnection | None = None

    async def open(self) -> Reply:
        """Connect and wait for the first run."""
        address = f"ws{self.url.removeprefix('http')}/_stcore/stream"
        began = time.perf_counter()
        try:
            self._socket = await connect(
                address,
                origin=Origin(self.url),
                subprotocols=[Subprotocol("streamlit")],
                max_size=MOST_BYTES,
            )
        except (OSError, TimeoutError) as error:
            return Reply("open", None, None, 0, (f"no connection: {error}",))
        return await self._run("open", self._rerun(page_name=self.start), began)

    async def close(self) -> None:
        """Leave, as a closed tab does."""
        if self._socket:
            await self._socket.close()

    async def set(self, kind: str, id: str, value: Any) -> Reply:
        """Change one widget."""
        self.widgets.set(id, value)
        return await self._run(kind, self._rerun())

    async def hurry(self, id: str, values: list[Any]) -> Reply:
        """Change one widget several times, each before the one before is answered.

        Nobody can tell how many runs the server makes of that, so the reply is over when it is silent.
        """
        for value in values[:-1]:
            self.widgets.set(id, value)
            try:
                await self._socket_or_fail().send(self._rerun().SerializeToString())
            except ConnectionClosed as error:
                return Reply("hurry", None, None, 0, (f"hurry: disconnected, {error}",))
        self.widgets.set(id, values[-1])
        reply = await self._run("hurry", self._rerun())
        if reply.finished is None:
            return reply
        return replace(reply, faults=(*reply.faults, *await self._until_silence()))

    async def _until_silence(self) -> list[str]:
        """Take up what still comes."""
        faults: list[str] = []
        try:
            while True:
                async with asyncio.timeout(SILENCE):
                    faults.extend(filter(None, [exception(await self._receive())]))
        except TimeoutError:
            self._settle()
        except ConnectionClosed as error:
            faults.append(f"hurry: disconnected, {error}")
        return faults

    async def press(self, kind: str, id: str) -> Reply:
        """Press one button."""
        return await self._run(kind, self._rerun(id))

    async def turn(self, page: str) -> Reply:
        """Follow a link to another page."""
        return await self._run("page", self._rerun(page=self.screen.pages[page]))

    async def pick(self, id: str, cell: dict[str, int], matrix: str) -> Reply:
        """Select a cell of a board, {axis: index}, in one of its matrices."""
        self._sent[id] = max(self._sent.get(id, 0), json.loads(self.seen[id])["answered"]) + 1
        sent = {"n": self._sent[id], "pick": cell, "id": matrix, "edits": []}
        self.widgets.put(WidgetState(id=id, json_value=json.dumps({"sent": sent})))
        return await self._run("cell", self._rerun())

    async def upload(self, id: str, name: str, content: bytes) -> Reply:
        """Give a file to an uploader as the browser does: ask for a place, PUT it there, tell the widget."""
        try:
            urls = await self._ask_for_place(name)
            await asyncio.to_thread(_put, self.url, urls.upload_url, name, content)
        except (OSError, TimeoutError, ConnectionClosed, http.client.HTTPException) as error:
            return Reply("upload", None, None, 0, (f"upload: {error}",))
        info = UploadedFileInfo(file_id=urls.file_id, name=name, size=len(content), file_urls=urls)
        state = WidgetState(id=id)
        state.file_uploader_state_value.uploaded_file_info.append(info)
        self.widgets.put(state)
        return await self._run("upload", self._rerun())

    async def take_away(self, id: str) -> Reply:
        """Remove the files from an uploader."""
        state = WidgetState(id=id)
        state.file_uploader_state_value.SetInParent()
        self.widgets.put(state)
        return await self._run("upload", self._rerun())

    async def _ask_for_place(self, name: str) -> FileURLs:
        request = FileURLsRequest(
            request_id=str(uuid.uuid4()), file_names=[name], session_id=self.screen.session_id
        )
        await self._socket_or_fail().send(BackMsg(file_urls_request=request).SerializeToString())
        async with asyncio.timeout(self.patience):
            while True:
                message = await self._receive()
                if message.WhichOneof("type") == "file_urls_response":
                    return message.file_urls_response.file_urls[0]

    def _rerun(self, *pressed: str, page: str | None = None, page_name: str = "") -> BackMsg:
        state = ClientState(
            query_string=self.widgets.query,
            widget_states=self.widgets.states(*pressed),
            page_script_hash=self.screen.page if page is None else page,
            page_name=page_name,
            cached_message_hashes=self.screen.kept.hashes(),
            context_info=ContextInfo(
                timezone="UTC", timezone_offset=0, locale="en-US", url=f"{self.url}/{self.start}",
                is_embedded=False, color_scheme="light",
            ),
        )  # fmt: skip
        return BackMsg(rerun_script=state)

    async def _run(self, kind: str, request: BackMsg, began: float | None = None) -> Reply:
        """Send, and follow the messages to the end of the run."""
        began = time.perf_counter() if began is None else began
        reply = _Arriving(self.watched, self.seen)
        try:
            async with asyncio.timeout(self.patience):
                await self._socket_or_fail().send(request.SerializeToString())
                while not reply.is_over:
                    reply.take(await self._receive(reply.count), time.perf_counter() - began)
        except TimeoutError:
            reply.faults.append(f"{kind}: no end within {self.patience:.0f} s")
        except ConnectionClosed as error:
            reply.faults.append(f"{kind}: disconnected, {error}")
        except KeyError as error:
            reply.faults.append(f"{kind}: a reference to a message that is not kept, {error}")
        self._settle()
        return Reply(kind, reply.answered, reply.finished, reply.n_bytes, tuple(reply.faults))

    def _settle(self) -> None:
        if self.screen.query:
            self.widgets.query, self.screen.query = self.screen.query, ""
        self.widgets.drawn(self.screen.elements())
        self.seen = self.screen.seen(self.watched)

    async def _receive(self, count: Callable[[int], None] = lambda _: None) -> ForwardMsg:
        data = await self._socket_or_fail().recv(decode=False)
        count(len(data))
        return self.screen.take(ForwardMsg.FromString(data))

    def _socket_or_fail(self) -> ClientConnection:
        if self._socket is None:
            raise ConnectionClosed(None, None)
        return self._socket


class _Arriving:
    """A reply on its way."""

    def __init__(self, watched: Watched, seen: dict[str, str]) -> None:
        self.watched, self.seen = watched, seen
        self.answered: float | None = None
        self.finished: float | None = None
        self.n_bytes = 0
        self.faults: list[str] = []
        self.has_begun = False

    @property
    def is_over(self) -> bool:
        return self.finished is not None

    def count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes

    def take(self, message: ForwardMsg, seconds: float) -> None:
        kind = message.WhichOneof("type")
        if said := exception(message):
            self.faults.append(said)
        if kind == "new_session":
            self.has_begun = True
        elif kind == "delta" and self.answered is None and message.delta.WhichOneof("type") == "new_element":
            found = self.watched(message.delta.new_element)
            if found and self.seen.get(found[0]) != found[1]:
                self.answered = seconds
        elif kind == "script_finished" and self.has_begun:
            # A run that was cut short for the next one is not the end.
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.finished = seconds
            elif message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.faults.append("the script does not compile")


def _put(url: str, path: str, name: str, content: bytes) -> None:
    """PUT a file to the address that the server gave, with the token that it asks for."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 80, timeout=PATIENCE)
    try:
        connection.request("GET", "/_stcore/health")
        answer = connection.getresponse()
        answer.read()
        cookie = answer.getheader("Set-Cookie", "").partition(";")[0]
        boundary = uuid.uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Cookie": cookie,
            "X-Xsrftoken": cookie.partition("=")[2],
        }
        connection.request("PUT", path, body, headers)
        status = connection.getresponse().status
        if status >= 300:
            raise OSError(f"the server answered {status} to a file of {len(content)} bytes")
    finally:
        connection.close()
