"""What a browser keeps of the server's messages: the elements on screen, and large ones for the next run.

Large elements (10 kB and more) that the browser says it still has are sent as a reference to their hash.
"""

from collections.abc import Callable, Iterator
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MOST_RUNS = 2  # a message that so many runs did not use is dropped (Streamlit's global.maxCachedMessageAge)
BOARD = "attention_matrices"  # the component of ui/board.py

Place = tuple[int, ...]
Watched = Callable[[Any], tuple[str, str] | None]  # an element -> (id, content) if it is one to wait for


class Kept:
    """Messages by hash, as Streamlit's browser half keeps them."""

    def __init__(self) -> None:
        """Empty."""
        self._messages: dict[str, ForwardMsg] = {}
        self._age: dict[str, int] = {}

    def hashes(self) -> list[str]:
        """What the next request says is there."""
        return list(self._messages)

    def whole(self, message: ForwardMsg) -> ForwardMsg:
        """The message, or the one that it refers to, at its own place. KeyError if that is not kept."""
        if message.WhichOneof("type") == "ref_hash":
            whole = ForwardMsg()
            whole.CopyFrom(self._messages[message.ref_hash])
            whole.metadata.CopyFrom(message.metadata)
            self._age[message.ref_hash] = 0
            return whole
        if message.metadata.cacheable:
            self._messages[message.hash] = message
            self._age[message.hash] = 0
        return message

    def end_of_run(self) -> None:
        """Drop what has not been used for more than MOST_RUNS runs."""
        for key in list(self._age):
            self._age[key] += 1
            if self._age[key] > MOST_RUNS:
                del self._age[key], self._messages[key]


class Screen:
    """The elements on one open page, put together from messages."""

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self.kept = Kept()
        self.session_id = ""
        self.page = ""  # the hash of the page shown
        self.query = ""  # of the address, where the server changed it
        self.pages: dict[str, str] = {}  # address -> hash
        self.running = False
        self._elements: dict[Place, Any] = {}
        self._arriving: dict[Place, Any] = {}

    def take(self, message: ForwardMsg) -> ForwardMsg:
        """Take up one message; -> the whole of it, where it was a reference."""
        message = self.kept.whole(message)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._begin(message)
        elif kind == "delta":
            self._put(message)
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            self.page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            self._end(message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY)
        return message

    def elements(self) -> Iterator[Any]:
        """What is on screen, in order: elements and blocks."""
        shown = self._elements | self._arriving if self.running else self._elements
        return (shown[place] for place in sorted(shown))

    def seen(self, watched: Watched) -> dict[str, str]:
        """What is watched of what is on screen: its id -> its content."""
        return dict(filter(None, map(watched, self.elements())))

    def _begin(self, message: ForwardMsg) -> None:
        self.session_id = message.new_session.initialize.session_id or self.session_id
        self.page = message.new_session.page_script_hash
        self._arriving, self.running = {}, True

    def _put(self, message: ForwardMsg) -> None:
        delta = message.delta
        kind = delta.WhichOneof("type")
        if kind in ("new_element", "add_block"):
            self._arriving[tuple(message.metadata.delta_path)] = getattr(delta, kind)

    def _end(self, to_its_end: bool) -> None:
        """A run that came to its end leaves nothing of the one before; one that was cut short adds to it."""
        self._elements = self._arriving if to_its_end else self._elements | self._arriving
        self._arriving, self.running = {}, False
        if to_its_end:
            self.kept.end_of_run()


def board(element: Any) -> tuple[str, str] | None:
    """(id, JSON) of an element that is a board of matrices."""
    if element.WhichOneof("type") != "bidi_component" or element.bidi_component.component_name != BOARD:
        return None
    return element.bidi_component.id, element.bidi_component.json


def line(element: Any) -> tuple[str, str] | None:
    """The line of text of the floor app."""
    return ("line", element.text.body) if element.WhichOneof("type") == "text" else None


def exception(message: ForwardMsg) -> str | None:
    """What an exception on screen says, if this message brings one."""
    if message.WhichOneof("type") == "page_not_found":
        return f"page not found: {message.page_not_found.page_name}"
    if message.WhichOneof("type") != "delta" or message.delta.WhichOneof("type") != "new_element":
        return None
    element = message.delta.new_element
    if element.WhichOneof("type") != "exception":
        return None
    return f"{element.exception.type}: {element.exception.message}"
