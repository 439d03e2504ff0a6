"""The small language of the tiny model: its words, its sentences, and what was held out.

Each kind of sentence can only be continued by looking back, so that a model that learns
the language must learn heads that look back:

    agreement    the keys to the cabinet are dusty .       number and kind come from "keys"
    coreference  Anna thanked Tom because she painted .    each person has one trade
    brackets     the keys ( near the lamp ) are dusty .    what was opened must be closed
    simple       the dogs are hungry . / Anna painted .
    induction    random words, the same block again and again

One sixth of the pairs (head noun, other noun) and of the pairs (woman, man) are held out:
training never sees them together, and the held-out items hold no others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

START = "<s>"
STOP = "."
QUOTE = '"'
BRACKETS = {"(": ")", "[": "]"}
CLOSERS = (*BRACKETS.values(), QUOTE)

PREPOSITIONS = ("to", "near", "behind", "under", "beside", "above")
ACTIONS = ("thanked", "praised", "called", "helped", "visited", "met", "greeted", "trusted")
VERBS = ("is", "are")  # singular, plural
PRONOUNS = ("she", "he")  # woman, man
WOMEN = ("Anna", "Maria", "Lucy", "Emma", "Nina", "Clara", "Sofia", "Julia")
MEN = ("Tom", "Peter", "Paul", "Max", "Leo", "Felix", "Oscar", "David")
TRADES = dict(
    zip(
        (*WOMEN, *MEN),
        (
            *("painted", "baked", "sang", "danced", "swam", "taught", "farmed", "sailed"),
            *("wrote", "cooked", "fished", "carved", "juggled", "skated", "knitted", "acted"),
        ),
        strict=True,
    )
)
# Nouns as (singular, plural). The first ten are animate, the last ten inanimate.
ANIMATE = (
    *(("dog", "dogs"), ("cat", "cats"), ("horse", "horses"), ("bird", "birds"), ("cow", "cows")),
    *(("rabbit", "rabbits"), ("lion", "lions"), ("duck", "ducks"), ("child", "children"), ("pig", "pigs")),
)
INANIMATE = (
    *(("key", "keys"), ("cabinet", "cabinets"), ("lamp", "lamps"), ("table", "tables"), ("box", "boxes")),
    *(("chair", "chairs"), ("cup", "cups"), ("book", "books"), ("wagon", "wagons"), ("door", "doors")),
)
NOUNS = (*ANIMATE, *INANIMATE)
ANIMATE_ADJECTIVES = (
    *("hungry", "sleepy", "thirsty", "angry", "happy"),
    *("tired", "brave", "shy", "proud", "clever"),
)
INANIMATE_ADJECTIVES = (
    *("dusty", "broken", "heavy", "rusty", "empty"),
    *("cheap", "wooden", "new", "narrow", "square"),
)
ADJECTIVES = (*ANIMATE_ADJECTIVES, *INANIMATE_ADJECTIVES)

VOCABULARY: tuple[str, ...] = (
    *(START, STOP, *BRACKETS, *CLOSERS),
    *("the", *VERBS, "because", *PRONOUNS, "said"),
    *PREPOSITIONS,
    *ACTIONS,
    *TRADES,
    *TRADES.values(),
    *(form for noun in NOUNS for form in noun),
    *ADJECTIVES,
)
"""Every word, in the order of the model's token ids."""

WORD_GROUPS: dict[str, tuple[str, ...]] = {
    "articles, verbs": ("the", *VERBS, "said"),
    "people": tuple(TRADES),
    "what people did to people": ACTIONS,
    "because": ("because", *PRONOUNS),
    "trades": tuple(TRADES.values()),
    "animate nouns": tuple(form for noun in ANIMATE for form in noun),
    "inanimate nouns": tuple(form for noun in INANIMATE for form in noun),
    "animate adjectives": ANIMATE_ADJECTIVES,
    "inanimate adjectives": INANIMATE_ADJECTIVES,
    "prepositions": PREPOSITIONS,
    "marks": (*BRACKETS, *CLOSERS, STOP),
}
"""Every word but START, sorted for somebody who looks for one."""

SENTENCES: dict[str, str] = {
    "keys": "the keys near the box are dusty .",
    "dogs": "the dogs beside the lamp under the wagon are hungry .",
    "Anna": "Anna thanked Tom because she painted .",
    "Nina": "Paul called Nina because she swam .",
    "brackets": "the lamp [ behind the dogs ( under the wagon ) ] is cheap .",
    "quotes": 'Tom said " the keys near the children are dusty " .',
    "twice": "lamp sang behind Paul dusty [ lamp sang behind Paul dusty [",
}
"""Sentences to start with, all with held-out pairs; the last is a random block, twice."""

MAX_LEN = 32
"""Positions that the model has; the first is always START."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a sentence where the next word is decided by one earlier word."""

    job: str  # subject, predicate, coreference, brackets or induction
    query: int  # the position that predicts
    key: int  # the position that decides
    rivals: tuple[int, ...]  # positions that would mislead
    right: tuple[str, ...]  # the next words that are right
    choices: tuple[str, ...]  # the words that they are compared with, the right ones included


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words, and the places in them where looking back decides what comes next."""

    words: tuple[str, ...]
    marks: tuple[Mark, ...]


def held_out_pair(first: int, second: int) -> bool:
    """True when training never joins these two: indices into NOUNS, or into WOMEN and MEN."""
    return (first + second) % 6 == 0


def agreement(rng: Random, held_out: bool) -> Sentence:
    """`the keys to the cabinet near the lamps are dusty .` with one or two distracting phrases."""
    draft = _Draft()
    _clause(draft, rng, held_out, rng.choice((1, 2)))
    return draft.finished()


def coreference(rng: Random, held_out: bool) -> Sentence:
    """`Anna thanked Tom because she painted .`, in half of them with a phrase after Tom."""
    draft = _Draft()
    couple = list(rng.choice(_NAME_PAIRS[held_out]))
    rng.shuffle(couple)
    subject = draft.add(couple[0])
    draft.add(rng.choice(ACTIONS))
    other = draft.add(couple[1])
    if rng.random() < 0.5:
        draft.add(rng.choice(PREPOSITIONS), "the", rng.choice(rng.choice(NOUNS)))
    draft.add("because")
    key, rival = rng.choice(((subject, other), (other, subject)))
    name = draft.words[key]
    query = draft.add(PRONOUNS[name in MEN])
    draft.mark("coreference", query, key, (rival,), (TRADES[name],), tuple(TRADES.values()))
    draft.add(TRADES[name])
    return draft.finished()


def brackets(rng: Random, held_out: bool) -> Sentence:
    """An aside in ( ) or [ ], one inside the other, or a clause in quotes."""
    draft = _Draft()
    if rng.random() < 0.6:
        _clause(draft, rng, held_out, 0, aside=True)
        return draft.finished()
    draft.add(rng.choice(tuple(TRADES)), "said")
    opener = draft.add(QUOTE)
    _clause(draft, rng, held_out, rng.choice((0, 1)), aside=rng.random() < 0.5)
    _close(draft, opener)
    return draft.finished()


def simple(rng: Random, held_out: bool) -> Sentence:
    """`the dogs are hungry .` or `Anna painted .`; there is no pair in it to hold out."""
    del held_out
    draft = _Draft()
    if rng.random() < 0.5:
        name = rng.choice(tuple(TRADES))
        draft.add(name, TRADES[name])
    else:
        _clause(draft, rng, False, 0)
    return draft.finished()


def repeated_blocks(rng: Random) -> Sentence:
    """Random different words in a block of 4 to 16, repeated until the model's positions are full."""
    block = rng.sample(VOCABULARY[1:], rng.randint(4, 16))
    words = [START, *(block[i % len(block)] for i in range(MAX_LEN - 1))]
    marks = tuple(
        Mark("induction", i, i - len(block) + 1, (), (words[i + 1],), VOCABULARY)
        for i in range(len(block) + 1, MAX_LEN - 1)
    )
    return Sentence(tuple(words), marks)


def packed(sentences: Sequence[Sentence]) -> Sentence:
    """START and the sentences one after another, cut at MAX_LEN; the marks move along."""
    words, marks = [START], []
    for sentence in sentences:
        start = len(words)
        words += sentence.words
        marks += [_moved(mark, start) for mark in sentence.marks if start + mark.query < MAX_LEN - 1]
    return Sentence(tuple(words[:MAX_LEN]), tuple(marks))


class _Draft:
    """A sentence while it is written."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.marks: list[Mark] = []

    def add(self, *words: str) -> int:
        """Append the words; -> the position of the last of them."""
        self.words += words
        return len(self.words) - 1

    def mark(
        self,
        job: str,
        query: int,
        key: int,
        rivals: Sequence[int],
        right: tuple[str, ...],
        choices: tuple[str, ...],
    ) -> None:
        self.marks.append(Mark(job, query, key, tuple(rivals), right, choices))

    def finished(self) -> Sentence:
        return Sentence((*self.words, STOP), tuple(self.marks))


def _clause(draft: _Draft, rng: Random, held_out: bool, n_phrases: int, aside: bool = False) -> None:
    """the NOUN (phrases) is ADJECTIVE, all decided by the first noun."""
    lemma, number = rng.randrange(len(NOUNS)), rng.randrange(2)
    subject = draft.add("the", NOUNS[lemma][number])
    rivals = [_phrase(draft, rng, held_out, lemma) for _ in range(n_phrases)]
    if aside:
        rivals += _aside(draft, rng, held_out, lemma)
    last = len(draft.words) - 1
    # Without a phrase the subject itself predicts: nothing to look back for, so nothing is marked.
    if rivals:
        draft.mark("subject", last, subject, rivals, (VERBS[number],), VERBS)
    verb = draft.add(VERBS[number])
    adjectives = ANIMATE_ADJECTIVES if lemma < len(ANIMATE) else INANIMATE_ADJECTIVES
    if rivals:
        draft.mark("predicate", verb, subject, rivals, adjectives, ADJECTIVES)
    draft.add(rng.choice(adjectives))


def _phrase(draft: _Draft, rng: Random, held_out: bool, lemma: int) -> int:
    """near the lamp; -> the position of its noun, which is a (held-out) partner of the head noun `lemma`."""
    partner = rng.choice(_PARTNERS[held_out][lemma])
    return draft.add(rng.choice(PREPOSITIONS), "the", rng.choice(NOUNS[partner]))


def _aside(draft: _Draft, rng: Random, held_out: bool, lemma: int) -> list[int]:
    """( near the lamp ) or ( near the lamp [ under the box ] ); -> the positions of the nouns."""
    opener = draft.add(rng.choice(tuple(BRACKETS)))
    rivals = [_phrase(draft, rng, held_out, lemma) for _ in range(rng.choice((1, 1, 2)))]
    if rng.random() < 0.4:
        inner = draft.add(rng.choice(tuple(BRACKETS)))
        rivals.append(_phrase(draft, rng, held_out, lemma))
        _close(draft, inner)
    _close(draft, opener)
    return rivals


def _close(draft: _Draft, opener: int) -> None:
    """Close what was opened at `opener`, and mark the place."""
    closer = BRACKETS.get(draft.words[opener], QUOTE)
    others = [i for i, word in enumerate(draft.words) if word in (*BRACKETS, QUOTE) and i != opener]
    draft.mark("brackets", len(draft.words) - 1, opener, others, (closer,), (*CLOSERS, STOP))
    draft.add(closer)


def _moved(mark: Mark, by: int) -> Mark:
    rivals = tuple(rival + by for rival in mark.rivals)
    return Mark(mark.job, mark.query + by, mark.key + by, rivals, mark.right, mark.choices)


_PARTNERS = {
    held: [
        [other for other in range(len(NOUNS)) if other != lemma and held_out_pair(lemma, other) == held]
        for lemma in range(len(NOUNS))
    ]
    for held in (False, True)
}
_NAME_PAIRS = {
    held: [(w, m) for i, w in enumerate(WOMEN) for j, m in enumerate(MEN) if held_out_pair(i, j) == held]
    for held in (False, True)
}
