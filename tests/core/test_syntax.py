"""core/syntax.py: readers who parse at the same time do not disturb each other."""

import ast
import gc
import threading
import time
from collections.abc import Callable, Generator

import pytest

from core import syntax

THREADS, TIMES = 4, 20


class Cycle:
    """Garbage whose collection takes a while and lets other threads run."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        time.sleep(0.0002)


@pytest.fixture(autouse=True)
def often_collected() -> Generator[None]:
    """Garbage is collected in the midst of a tree."""
    before = gc.get_threshold()
    gc.set_threshold(30)
    yield
    gc.set_threshold(*before)


def errors_of(parser: Callable[[str], object], text: str) -> list[SystemError]:
    """What threads meet that parse the text at the same time."""
    errors: list[SystemError] = []

    def work() -> None:
        for _ in range(TIMES):
            Cycle()
            try:
                parser(text)
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_that_parse_at_once_do_not_fail() -> None:
    lines = "\n".join(f"    x{i} = (a + {i}) * [1, 2, (3, 4)]" for i in range(30))
    assert not errors_of(syntax.parse, f"def f(a):\n{lines}")


def test_what_is_read_is_what_python_reads() -> None:
    assert ast.dump(syntax.parse("a = [1]")) == ast.dump(ast.parse("a = [1]"))
