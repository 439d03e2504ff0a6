import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.edits import MAX_EDITS, parse_edits, written_edits


def test_edits_are_read_and_held_within_bounds() -> None:
    assert parse_edits("q.0.4.0=3;v.1.63.1023=-2.5") == {("q", 0, 4, 0): 3.0, ("v", 1, 63, 1023): -2.5}
    assert parse_edits("k.0.0.0=1000;k.0.0.1=-1e5") == {("k", 0, 0, 0): 99.0, ("k", 0, 0, 1): -99.0}
    assert parse_edits("q.0.0.0=1;q.0.0.0=2") == {("q", 0, 0, 0): 2.0}
    assert parse_edits(" q.0.0.0=1 ; ") == {("q", 0, 0, 0): 1.0}
    assert len(parse_edits(";".join(f"q.0.0.{c}=1" for c in range(100)))) == MAX_EDITS


JUNK = """
q | q.0.0=1 | q.0.0.0 | q.0.0.0= | q.0.0.0=nan | q.0.0.0=inf | q.0.0.0=1e999 | q.0.0.0=1_0 | q.0.0.0=0x1
q.0.0.0=1=2 | x.0.0.0=1 | Q.0.0.0=1 | q.8.0.0=1 | q.0.64.0=1 | q.0.0.1024=1 | q.-1.0.0=1 | q.99999999999.0.0=1
q.٣.0.0=1 | q.0.0.0=<b>1</b> | ; | \0
"""


@pytest.mark.parametrize("junk", ["", *JUNK.replace("\n", "|").split("|")])
def test_what_is_no_edit_is_left_out(junk: str) -> None:
    assert parse_edits(junk) == {}
    assert parse_edits(f"{junk};v.0.0.0=1") == {("v", 0, 0, 0): 1.0}


CELLS = st.tuples(st.sampled_from("qkv"), st.integers(0, 7), st.integers(0, 63), st.integers(0, 1023))


@given(st.dictionaries(CELLS, st.floats(-99, 99), max_size=MAX_EDITS))
def test_what_is_written_is_read_back(edits: dict) -> None:
    assert parse_edits(written_edits(edits)) == edits
