"""deploy/serve.py: the socket it serves on, its place in the running server, its memory."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

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


THREADS_THAT_ALLOCATE = """
import ctypes, threading
from deploy.serve import leave_no_holes

leave_no_holes()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
all_hold = threading.Barrier(8)

def hold():
    block = libc.malloc(50_000)
    all_hold.wait()
    libc.free(block)

threads = [threading.Thread(target=hold) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
LARGE_BLOCKS = """
libc.free(libc.malloc(4_000_000))
libc.malloc(2_000_000)
"""
TELL = """
libc.fdopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fdopen(1, b"w")))
libc.fflush(None)
"""


def told(program: str, **environment: str) -> str:
    """What glibc says of the memory of a process that has run this."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    return subprocess.run(
        [sys.executable, "-c", program + TELL],
        cwd=Path(__file__).parents[2], env=others | environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_threads_share_two_arenas() -> None:
    assert told(THREADS_THAT_ALLOCATE).count("<heap ") == 2


def test_a_large_block_has_pages_of_its_own_even_after_one_was_freed() -> None:
    pages = r'<total type="mmap" count="(\d+)"'
    few, more = (re.search(pages, told(THREADS_THAT_ALLOCATE + then)) for then in ("", LARGE_BLOCKS))
    assert few
    assert more
    assert int(more[1]) == int(few[1]) + 1


def test_the_environment_may_say_otherwise() -> None:
    assert told(THREADS_THAT_ALLOCATE, MALLOC_ARENA_MAX="5").count("<heap ") == 5
