"""Serve the tutor to others: `python -m deploy.serve`, with all options and variables of `streamlit run`.

It differs from `streamlit run app.py` in three things. The settings below, which an option or a variable
of the environment still overrides. Small answers leave at once: Streamlit's listening socket never
has TCP_NODELAY set, so the second of two small messages waits until the browser has acknowledged the
first: 20 ms more for a dragged slider in one run of `make load-nginx`, nothing in another. And memory that
is free is used again: see `leave_no_holes`.
"""

import ctypes
import os
import socket
import sys
from pathlib import Path

from streamlit.web import cli
from streamlit.web.server.starlette import starlette_server

APP = Path(__file__).parents[1] / "app.py"
SETTINGS = {
    "STREAMLIT_SERVER_HEADLESS": "true",
    "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
    "STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE": "true",  # it names localhost, which is not where others find it
    "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",  # the code of a served copy does not change
    "OPENBLAS_NUM_THREADS": "1",  # more cores are used by more processes
}
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # glibc's malloc.h
_bind = starlette_server._bind_socket  # a name of Streamlit's own: its version is pinned, a test holds this


def bind_without_delay(address: str, port: int, backlog: int) -> socket.socket:
    """Streamlit's listening socket with TCP_NODELAY, which every connection inherits."""
    listener = _bind(address, port, backlog)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def leave_no_holes() -> None:
    """Have memory that is free used again, or given back, where the system's C library is glibc.

    It has up to eight arenas for each core, and what threads have freed in one the others do not use; here
    each run of a page is a new thread. And it learns to keep large blocks, among which small things settle
    that stay. Two arenas are enough for threads that take turns; a block of 128 kB or more has pages of its
    own. Not where the environment tells the library otherwise. What it brings: docs/measured/README.md.
    """
    if sys.platform == "linux" and not any(name.startswith("MALLOC_") for name in os.environ):
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries do without
        if mallopt:
            mallopt(_M_ARENA_MAX, 2)
            mallopt(_M_MMAP_THRESHOLD, 128 * 1024)  # its default; told, it no longer rises


def main() -> None:
    """Run the app until the process is told to stop."""
    os.environ.update({name: os.environ.get(name, value) for name, value in SETTINGS.items()})
    leave_no_holes()
    vars(starlette_server)["_bind_socket"] = bind_without_delay
    cli.main(["run", str(APP), *sys.argv[1:]])


if __name__ == "__main__":
    main()
