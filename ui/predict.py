"""Predict, then see: one question on each lesson page, answered before the core's own answer is shown.

The browser is sent the question and the texts of the options, and nothing else until the reader commits.
"""

import re

import streamlit as st

from core import link, quiz
from core.quiz import PREDICTIONS, Item
from core.setup import Setup, choices, inputs
from ui import controls, keep, presenter, text
from ui.labs.bench import ANCHOR
from ui.view import View

SKIPPED = ""
FIRST_SEED = {"mask": 1}  # the author's own numbers stand in the page's first lab
REVEALED = "revealed"  # session_state: mark of the item whose answer a class was shown
VARIANT = "twin"  # URL parameter: which of the twins of each question
SEED = re.compile(r"(?P<id>\w+) (?P<seed>\d{1,4}) .*", re.ASCII)  # in a mark
MOST_MET = 100  # twins that are not asked again


def show(view: View, slug: str) -> None:
    """The page's question, or what came of it."""
    with st.container(border=True, key="predict", gap="small"):
        body, buttons = st.container(gap="small"), st.container(horizontal=True, vertical_alignment="center")
        with buttons:
            choices = st.container(horizontal=True, vertical_alignment="center", width="content", gap="small")
            variant = st.number_input(
                "Variant", 0, quiz.MAX_SEED, 0, key=VARIANT, bind="query-params", persist_state="session",
                width=114,
            )  # fmt: skip
        item = asked(view, slug, variant)
        if presenter.presenting():
            _for_class(view, item, body, choices)
            return
        given = _given(item)
        if given is None:
            _ask(view, item, body, choices)
        elif given == SKIPPED:
            _skipped(item, choices)
        else:
            _compare(view, item, body)
            with choices:
                _another(view, slug, variant)
                _show_it(view, slug, item)


def _for_class(view: View, item: Item, body, buttons) -> None:  # noqa: ANN001
    """The question for raised hands: nobody commits here, and the teacher reveals the answer."""
    shown = st.session_state.get(REVEALED) == mark(item)
    with buttons, st.container(key="reveal_answer", width="content"):
        st.button("Hide" if shown else "Reveal", on_click=_turn, args=(item,))
    with body:
        st.markdown(text.literal(question(view, item)))
        for letter, option in zip("ABCDEFGH", item.options, strict=False):
            right = shown and option.key == item.answer
            line = f"{letter}. {text.literal(option.text)}"
            st.markdown(f"**{line}** :green[:material/check:]" if right else line)
        if shown:
            st.markdown(text.literal(f"{item.measured} {item.reason}"))


def asked(view: View, slug: str, variant: int) -> Item:
    """The question of a page; another variant asks the same of other numbers."""
    if slug in PREDICTIONS:
        return quiz.item(PREDICTIONS[slug], (variant + FIRST_SEED.get(slug, 0)) % (quiz.MAX_SEED + 1))
    first = quiz.longer_item(Setup(), variant)
    if _given(first) not in (None, SKIPPED):  # it stays beside its answer when that is on screen
        return first
    return quiz.longer_item(view.setup, variant)


def question(view: View, item: Item) -> str:
    """The question; where it names words whose numbers are not on screen, it first says which are meant."""
    tokens, asked, shown = inputs(item.setup).key_tokens, item.setup, view.setup
    sentence = f"“{' '.join(tokens)}”"
    told = []
    if tokens != view.inputs.key_tokens and sentence[:-1] not in item.question:
        told.append(sentence)
    if asked.d_k != shown.d_k:
        told.append(f"at d_k = {asked.d_k}")
    if shown.edits not in (asked.edits, item.show.get("edits")):
        told.append("without your edits")
    if "“" not in item.question or not told:
        return item.question
    first = " ".join(told)
    return f"{first[0].upper()}{first[1:]}: {item.question}"


def answers() -> dict[str, str]:
    """A question's mark -> the key of the option that was chosen, SKIPPED if none; the tab keeps them."""
    if not isinstance(st.session_state.get(keep.PREDICTIONS), dict):
        st.session_state[keep.PREDICTIONS] = {}
    return st.session_state[keep.PREDICTIONS]


def mark(item: Item) -> str:
    """What tells one question from another."""
    return f"{item.id} {item.seed} {link.query(item.setup, row=item.row)}"


def _given(item: Item) -> str | None:
    """What was answered to this question, if anything that it offers."""
    given = answers().get(mark(item))
    return given if given in (SKIPPED, *(option.key for option in item.options)) else None


def _ask(view: View, item: Item, body, buttons) -> None:  # noqa: ANN001 - streamlit exports no type for containers
    texts = {option.key: text.literal(option.text) for option in item.options}
    with body:
        st.markdown(f"**Predict, then see.** {text.literal(question(view, item))}")
        chosen = st.radio(
            item.question, list(texts), index=None, format_func=texts.__getitem__,
            key=f"predict {mark(item)}", label_visibility="collapsed",
        )  # fmt: skip
    with buttons:
        st.button("Commit", on_click=_keep, args=(item, chosen), disabled=chosen is None)
        st.button("Skip", on_click=_keep, args=(item, SKIPPED), type="tertiary")


def _skipped(item: Item, buttons) -> None:  # noqa: ANN001
    with buttons:
        st.button("Predict, then see", on_click=_forget, args=(item,))


def _compare(view: View, item: Item, body) -> None:  # noqa: ANN001
    """The prediction beside what was measured, the reason, and what a wrong answer would have meant."""
    feedback = quiz.check(item, answers()[mark(item)])
    with body:
        st.markdown(text.literal(question(view, item)))
        verdict = ":green[:material/check:]" if feedback.correct else ":orange[:material/close:]"
        beside = [text.literal(words) for words in (feedback.given, feedback.measured)]
        st.markdown(f"| You predicted | Measured |\n| :-- | :-- |\n| {verdict} {beside[0]} | {beside[1]} |")
        st.markdown(text.literal(f"{feedback.meant} {feedback.reason}".strip()))


def _another(view: View, slug: str, variant: int) -> None:
    """The way to a twin that asks something else, as long as there is one."""
    first = FIRST_SEED.get(slug, 0)
    seeds = [found for mark in answers() if (found := SEED.fullmatch(mark)) is not None]
    this = asked(view, slug, variant).id
    met = [int(found["seed"]) - first for found in seeds if found["id"] == this]
    if first:
        met.append(-first)  # its numbers stand on the page
    following = quiz.next_twin(lambda number: asked(view, slug, number), variant, met[-MOST_MET:])
    if following is not None:
        st.button("Another like it", on_click=_take_variant, args=(following,))


def _show_it(view: View, slug: str, item: Item) -> None:
    """The way to the state in which the claim can be seen, here or on another page."""
    if slug != item.seen_on:
        st.markdown(f"[Show it]({address(item)})", width="content")
        return
    now = choices(view.setup) | {"row": view.selection.row, "col": view.selection.col}
    wanted = choices(item.setup) | {"row": item.row, "col": item.col} | dict(item.show)
    if any(now.get(name, st.session_state.get(name)) != value for name, value in wanted.items()):
        st.button("Show it", on_click=controls.open_state, args=(item.setup, item.row, item.col, item.show))
        return
    for name in [value for key, value in item.show.items() if key.endswith("_lab")]:
        st.markdown(f"[It is below, in the lab {name}](#{ANCHOR})", width="content")


def address(item: Item) -> str:
    """Where an item's claim can be seen, relative to any page of the tutor."""
    return f"{item.seen_on}?{link.query(item.setup, row=item.row, col=item.col, **item.show)}"


def _turn(item: Item) -> None:
    """Reveal the answer to the class, or hide it again."""
    hide = st.session_state.get(REVEALED) == mark(item)
    st.session_state[REVEALED] = None if hide else mark(item)


def _keep(item: Item, answer: str) -> None:
    answers()[mark(item)] = answer


def _forget(item: Item) -> None:
    answers().pop(mark(item), None)  # a double click comes here twice


def _take_variant(variant: int) -> None:
    st.session_state[VARIANT] = variant
