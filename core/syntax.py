"""Python's own parser, for one thread at a time.

Python 3.11 counts the depth of a syntax tree once for all threads. While one thread builds a tree, a
collection of garbage can let another begin its own, and the first then ends with a SystemError
(https://github.com/python/cpython/issues/106905). Every reader has a thread here.
"""

import ast
from threading import Lock

_one_at_a_time = Lock()


def parse(text: str) -> ast.Module:
    """Statements -> their tree. Raises what ast.parse does."""
    with _one_at_a_time:
        return ast.parse(text)
