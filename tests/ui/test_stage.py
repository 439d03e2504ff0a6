"""Code on screen is the code that runs."""

import inspect
import textwrap

import pytest

from core import attention
from ui.stage import source


@pytest.mark.parametrize("name", ["score", "scale", "mask", "softmax", "blend", "attention"])
def test_source_is_the_function_without_docstring_and_types(name: str) -> None:
    function = getattr(attention, name)
    shown = source(function)
    assert '"""' not in shown
    signature, *body = shown.splitlines()
    assert signature == f"def {name}({', '.join(inspect.signature(function).parameters)}):"
    assert "\n".join(body) in textwrap.dedent(inspect.getsource(function))
    compile(shown, name, "exec")
