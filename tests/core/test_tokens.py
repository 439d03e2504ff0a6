import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tokens import MOST_MARKS, displayable
from tests.hostile import HOSTILE

ANY = st.one_of(st.sampled_from(HOSTILE), st.text(alphabet=st.characters(), max_size=130))


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("kite", "kite"),
        (" the", " the"),
        ("Ġthe", "Ġthe"),
        ("##ing", "##ing"),
        ("Größe", "Größe"),
        ("日本", "日本"),
        ("\n", "\\n"),
        ("\t\r", "\\t\\r"),
        ("", "‹empty›"),
        ("  ", "␣␣"),
        ("\xa0a", " a"),
        ("\u202egnirts", "‹U+202E›gnirts"),
        ("a\u200bb", "a‹U+200B›b"),
        ("\ufeff", "‹U+FEFF›"),
        ("\x1b[31m", "‹U+001B›[31m"),
        ("\u2028", "‹U+2028›"),
        ("\ud800x", "\ufffdx"),
        ("a\u200db", "a‹U+200D›b"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("नम\u094d\u200dते", "नम\u094d\u200dते"),
        ("می\u200cخواهم", "\u2068می\u200cخواهم\u2069"),
        ("שלום", "\u2068שלום\u2069"),
        ("Z" + "\u0351" * 40 + "a", "Z" + "\u0351" * MOST_MARKS + "a"),
    ],
)
def test_a_token_as_it_is_shown(token: str, shown: str) -> None:
    assert displayable(token) == shown


def test_a_long_token_is_cut() -> None:
    assert displayable("W" * 101) == "W" * 100
    assert displayable("W" * 101, 7) == "W" * 7


@given(ANY)
def test_whatever_the_token_is_it_stands_on_one_line_and_turns_nothing_around(token: str) -> None:
    shown = displayable(token)
    assert shown.strip()
    shown.encode()  # no half characters: nothing that is sent or saved may hold one
    inside = shown.removeprefix("\u2068").removesuffix("\u2069")
    assert inside.isprintable() or {c for c in inside if not c.isprintable()} <= set("\u200c\u200d")
    assert all(unicodedata.category(letter) != "Cf" for letter in inside if letter not in "\u200c\u200d")
    marks = "".join("m" if unicodedata.category(letter) in ("Mn", "Me") else "." for letter in shown)
    assert "m" * (MOST_MARKS + 1) not in marks


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=100))
def test_ordinary_characters_stay_as_they_are(token: str) -> None:
    assert displayable(token).strip("\u2068\u2069") == token
