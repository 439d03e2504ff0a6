"""What the tab has kept comes back, and nothing that it could hold breaks a page."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ui import keep

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_what_was_written_is_read() -> None:
    held = {keep.PREDICTIONS: {"S3 0": "a"}, keep.CLASS: ["ABCDEF", "key"]}
    assert keep.read(json.dumps(held | {"visit": "x", "example": "kite"})) == held


@given(st.one_of(JSON, JSON.map(json.dumps), st.just("[" * 5000), st.just("x" * 200_000)))
def test_anything_else_is_let_go(text: object) -> None:
    assert set(keep.read(text)) <= set(keep.KEPT)


def test_answers_are_joined_and_the_later_counts() -> None:
    assert keep.joined({"a": "1", "b": "1"}, {"b": "2"}) == {"a": "1", "b": "2"}
    assert keep.joined(["ABCDEF", "k"], None) == ["ABCDEF", "k"]
    assert keep.joined({"a": "1"}, None) == {"a": "1"}
