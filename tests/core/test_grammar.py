"""core/grammar.py"""

from collections.abc import Callable
from itertools import combinations
from random import Random

import pytest

from core import grammar
from core.grammar import MEN, NOUNS, START, TRADES, VOCABULARY, WOMEN, Sentence

KINDS = (grammar.agreement, grammar.coreference, grammar.brackets, grammar.simple)
LEMMA = {form: i for i, forms in enumerate(NOUNS) for form in forms}


def noun_pairs(sentence: Sentence) -> list[tuple[int, int]]:
    """(head noun, other noun) as numbers: the first noun is the head; coreference has no head noun."""
    nouns = [LEMMA[word] for word in sentence.words if word in LEMMA]
    return [] if "because" in sentence.words else [(nouns[0], other) for other in nouns[1:]]


def name_pairs(sentence: Sentence) -> list[tuple[int, int]]:
    names = [word for word in sentence.words if word in TRADES]
    couples = [sorted(pair, key=MEN.__contains__) for pair in combinations(names, 2)]
    return [(WOMEN.index(woman), MEN.index(man)) for woman, man in couples]


def test_no_word_is_there_twice() -> None:
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert len({word.lower() for word in VOCABULARY}) == len(VOCABULARY)


def test_the_groups_hold_every_word_once() -> None:
    words = [word for group in grammar.WORD_GROUPS.values() for word in group]
    assert sorted(words) == sorted(VOCABULARY[1:])


def test_the_sentences_to_start_with_hold_held_out_pairs_only() -> None:
    for name, text in grammar.SENTENCES.items():
        sentence = Sentence(tuple(text.split()), ())
        assert set(sentence.words) <= set(VOCABULARY)
        pairs = name_pairs(sentence) if "because" in text else noun_pairs(sentence)
        assert pairs or name == "twice"
        assert name == "twice" or all(grammar.held_out_pair(*pair) for pair in pairs)


def test_one_sixth_of_the_pairs_is_held_out() -> None:
    nouns = [grammar.held_out_pair(i, j) for i in range(len(NOUNS)) for j in range(len(NOUNS)) if i != j]
    names = [grammar.held_out_pair(i, j) for i in range(len(WOMEN)) for j in range(len(MEN))]
    assert sum(nouns) / len(nouns) == pytest.approx(1 / 6, abs=0.02)
    assert sum(names) / len(names) == pytest.approx(1 / 6, abs=0.02)


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_sentences_hold_pairs_of_their_own_side_only(
    kind: Callable[[Random, bool], Sentence], held_out: bool
) -> None:
    rng = Random(3)
    sentences = [kind(rng, held_out) for _ in range(500)]
    pairs = [pair for s in sentences for pair in noun_pairs(s) + name_pairs(s)]
    assert all(grammar.held_out_pair(*pair) == held_out for pair in pairs)
    assert pairs or kind is grammar.simple


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_word_is_one_of_the_right_ones(kind: Callable[[Random, bool], Sentence]) -> None:
    rng = Random(4)
    for _ in range(300):
        sentence = kind(rng, False)
        for mark in sentence.marks:
            assert sentence.words[mark.query + 1] in mark.right
            assert set(mark.right) < set(mark.choices)
            assert mark.key <= mark.query
            assert mark.key not in mark.rivals
        assert set(sentence.words) <= set(VOCABULARY)


def test_what_is_opened_is_closed() -> None:
    rng = Random(5)
    for _ in range(300):
        open_now: list[str] = []
        for word in grammar.brackets(rng, True).words:
            if open_now and word == open_now[-1]:
                open_now.pop()
            elif word in (*grammar.BRACKETS, grammar.QUOTE):
                open_now.append(grammar.BRACKETS.get(word, grammar.QUOTE))
            else:
                assert word not in grammar.CLOSERS
        assert not open_now


def test_a_persons_trade_is_the_pronouns_own() -> None:
    rng = Random(6)
    for _ in range(200):
        sentence = grammar.coreference(rng, False)
        (mark,) = sentence.marks
        name = sentence.words[mark.key]
        assert sentence.words[mark.query] == ("she" if name in WOMEN else "he")
        assert mark.right == (TRADES[name],)


def test_blocks_repeat_and_their_marks_point_behind_the_last_time() -> None:
    rng = Random(7)
    for _ in range(100):
        sentence = grammar.repeated_blocks(rng)
        assert len(sentence.words) == grammar.MAX_LEN
        for mark in sentence.marks:
            assert sentence.words[mark.key] == sentence.words[mark.query + 1]
            assert sentence.words[mark.key - 1] == sentence.words[mark.query]


def test_packing_moves_the_marks_along_and_drops_those_that_are_cut_off() -> None:
    rng = Random(8)
    row = grammar.packed([grammar.agreement(rng, True) for _ in range(6)])
    assert len(row.words) == grammar.MAX_LEN
    assert row.words[0] == START
    assert all(row.words[mark.query + 1] in mark.right for mark in row.marks)
