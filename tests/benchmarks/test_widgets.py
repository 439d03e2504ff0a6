"""What widgets tell the server: by messages that Streamlit itself made."""

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.load.widgets import Widgets


def script() -> None:
    import streamlit as st

    st.slider("Whole", 1, 9, 3, key="whole", bind="query-params")
    st.select_slider("One of", ["a", "b", "c"], "b", key="one_of")
    st.selectbox("Choice", ["x", "y"], key="choice", bind="query-params")
    st.number_input("Number", 0, 9, 4, key="number")
    st.number_input("Empty", value=None, key="empty")
    st.toggle("Switch", key="switch", bind="query-params")
    st.segmented_control("Part", ["all", "none"], default="all", key="part")
    st.text_input("Words", "hello", key="words")
    st.radio("Answer", ["yes", "no"], index=None, key="answer")
    st.button("Go", key="go")
    st.button("Not now", disabled=True, key="not_now")


@pytest.fixture(scope="module")
def elements() -> list:
    app = AppTest.from_function(script).run()
    assert not app.exception
    kinds = ("slider", "select_slider", "selectbox", "number_input", "toggle", "button_group", "text_input")
    found = [element.proto for kind in (*kinds, "radio", "button") for element in app.get(kind)]
    return [Drawn(proto) for proto in found]


class Drawn:
    """An element around a widget's own message."""

    def __init__(self, proto) -> None:
        names = {"NumberInput": "number_input", "TextInput": "text_input", "ButtonGroup": "button_group"}
        name = proto.DESCRIPTOR.name
        self.kind = names.get(name, name.lower())
        setattr(self, self.kind, proto)

    def WhichOneof(self, _: str) -> str:
        return self.kind


def test_every_widget_starts_with_what_the_app_said(elements: list) -> None:
    widgets = Widgets()
    widgets.drawn(elements)
    held = {id.rpartition("-")[2]: widgets.value(id) for id in widgets._states}
    assert held == {
        "whole": [3.0], "one_of": ["b"], "choice": "x", "number": 4.0, "empty": None, "switch": False,
        "part": ["all"], "words": "hello", "answer": None,
    }  # fmt: skip


def test_the_address_follows_bound_widgets_that_left_their_start(elements: list) -> None:
    widgets = Widgets("other=1&whole=8")
    widgets.drawn(elements)
    set_(widgets, whole=[5.0], choice="y", switch=True, number=7.0)
    assert widgets.query == "other=1&whole=5&choice=y&switch=true"
    set_(widgets, whole=[3.0], switch=False)
    assert widgets.query == "other=1&choice=y"


def test_a_button_is_pressed_in_one_request_only(elements: list) -> None:
    widgets = Widgets()
    widgets.drawn(elements)
    (go,) = widgets.ids("button")  # a disabled one cannot be used
    assert [state.id for state in widgets.states(go).widgets if state.trigger_value] == [go]
    assert not [state for state in widgets.states().widgets if state.trigger_value]


def test_a_widget_that_is_gone_is_forgotten(elements: list) -> None:
    widgets = Widgets()
    widgets.drawn(elements)
    set_(widgets, words="mine")
    widgets.drawn(elements)
    assert widgets.value(widgets.find("words")) == "mine"
    widgets.drawn([])
    widgets.drawn(elements)
    assert widgets.value(widgets.find("words")) == "hello"


def set_(widgets: Widgets, **values: object) -> None:
    for key, value in values.items():
        widgets.set(widgets.find(key), value)
