"""What each kind of widget tells the server, as the browser's widgets do."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

Value = Any
# Kinds of elements whose value a run needs: element type -> the field of WidgetState that holds it.
FIELDS = {
    "checkbox": "bool_value",
    "text_input": "string_value",
    "text_area": "string_value",
    "number_input": "double_value",
    "selectbox": "string_value",
    "radio": "string_value",
    "button_group": "string_array_value",
    "slider": "double_array_value",
    "expandable": "bool_value",
}
LISTS = ("string_array_value", "double_array_value")


class Widgets:
    """The values of all widgets on one page, and the part of the address that follows them."""

    def __init__(self, query: str = "") -> None:
        """`query`: the address's own parameters, "row=4&mask=causal"."""
        self.query = query
        self._states: dict[str, WidgetState] = {}
        self._drawn: dict[str, tuple[str, Any]] = {}  # id -> kind, its message

    def drawn(self, elements: Iterable[Any]) -> None:
        """The run is over, and these are on screen: take up new ones, forget those that are gone."""
        self._drawn = dict(filter(None, map(_widget, elements)))
        self._states = {id: state for id, state in self._states.items() if id in self._drawn}
        for id, (kind, widget) in self._drawn.items():
            if kind in FIELDS and (id not in self._states or getattr(widget, "set_value", False)):
                self._states[id] = _state(id, _field(kind, widget), _value(kind, widget))

    def ids(self, kind: str) -> list[str]:
        """The widgets of one kind that are on screen, and can be used."""
        return [
            id
            for id, (its, widget) in self._drawn.items()
            if its == kind and not getattr(widget, "disabled", False) and not getattr(widget, "form_id", "")
        ]

    def find(self, key: str) -> str | None:
        """The id of the widget that the app calls `key`."""
        return next((id for id in self._drawn if id.rpartition("-")[2] == key), None)

    def message(self, id: str) -> Any:
        """What the server said of a widget: its range, its options."""
        return self._drawn[id][1]

    def value(self, id: str) -> Value:
        """What the widget holds now."""
        state = self._states[id]
        field = state.WhichOneof("value")
        if field is None:
            return None
        return list(getattr(state, field).data) if field in LISTS else getattr(state, field)

    def set(self, id: str, value: Value) -> None:
        """The reader changes a widget: a list for sliders and groups of buttons. The address follows."""
        kind, widget = self._drawn[id]
        self._states[id] = _state(id, _field(kind, widget), value)
        if name := getattr(widget, "query_param_key", ""):
            shown = "" if value == _value(kind, widget, start=True) else _written(kind, widget, value)
            others = [(key, old) for key, old in parse_qsl(self.query) if key != name]
            self.query = urlencode([*others, (name, shown)] if shown else others)

    def put(self, state: WidgetState) -> None:
        """A state that is not in FIELDS: a component's, an upload's."""
        self._states[state.id] = state

    def states(self, *pressed: str) -> WidgetStates:
        """All values for one request; `pressed` are buttons."""
        presses = [WidgetState(id=id, trigger_value=True) for id in pressed]
        return WidgetStates(widgets=[*self._states.values(), *presses])


def _widget(element: Any) -> tuple[str, tuple[str, Any]] | None:
    kind = element.WhichOneof("type")
    widget = getattr(element, kind) if kind else None
    id = getattr(widget, "id", "")
    return (id, (kind, widget)) if isinstance(id, str) and id.startswith("$$") else None


def _field(kind: str, widget: Any) -> str:
    """A slider over options tells the option's text."""
    return "string_array_value" if kind == "slider" and len(widget.options) else FIELDS[kind]


def _value(kind: str, widget: Any, start: bool = False) -> Value:
    """What the server set the widget to; what it starts with, if nothing was set or `start` is asked for."""
    if kind == "expandable":
        return widget.expanded
    was_set = widget.set_value and not start
    if kind == "slider":
        if len(widget.options):
            return list(widget.raw_value) if was_set else [widget.options[int(i)] for i in widget.default]
        return list(widget.value if was_set else widget.default)
    if kind == "button_group":
        contents = [option.content for option in widget.options]
        return list(widget.raw_values) if was_set else [contents[i] for i in widget.default]
    if kind in ("selectbox", "radio"):
        if was_set:
            return widget.raw_value if widget.HasField("raw_value") else None
        return widget.options[widget.default] if widget.HasField("default") else None
    field = "value" if was_set else "default"
    return getattr(widget, field) if kind == "checkbox" or widget.HasField(field) else None


def _state(id: str, field: str, value: Value) -> WidgetState:
    state = WidgetState(id=id)
    if value is None:
        return state
    if field in LISTS:
        getattr(state, field).SetInParent()
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)
    return state


def _written(kind: str, widget: Any, value: Value) -> str:
    """A value as it stands in the address."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(_written(kind, widget, one) for one in value)
    whole = isinstance(value, float) and value == int(value)
    return str(int(value)) if whole else str(value)
