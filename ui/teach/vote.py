"""What a learner sees who has a class code: the question, the options, and after the reveal the answer."""

import streamlit as st

from core import quiz
from core.quiz import Item
from ui import keep, text
from ui.poll import poll_store
from ui.poll_store import PollRefused, Question, new_voter, normal_code
from ui.poll_tables import PollAway
from ui.teach import bars
from ui.teach.poll import attempt, own_code, say

SECONDS = 2  # between two looks for the next question


def wanted() -> bool:
    """Whether somebody is here to vote: with a class code that is not their own class."""
    code = st.session_state.get("code") or st.query_params.get("code") or ""
    return bool(code) and _normal(code) != own_code()


def show() -> None:
    """The code, and under it whatever the class is asked at the moment."""
    st.markdown(text.part("teach", "Vote"))
    code = st.text_input("Class code", key="code", bind="query-params", max_chars=16, width=240)
    if code:
        st.fragment(_look, run_every=SECONDS)(code)


def _look(code: str) -> None:
    try:
        asked = poll_store().question(code)
        if not asked.item:
            st.markdown("The class is open. The first question will appear here.")
            return
        item = quiz.item(asked.item, asked.seed)
        _ask(asked, item)
        if asked.revealed:
            _answer(asked, item)
    except (PollAway, PollRefused) as error:
        st.info(text.literal(str(error)))


def _ask(asked: Question, item: Item) -> None:
    """The options, and which of them this voter has chosen so far."""
    # A vote from before a reload comes back only when the tab has been heard: then the choice starts from it.
    key = f"vote {asked.code} {asked.item} {asked.seed} {asked.round} {keep.heard()}"
    keys = [option.key for option in item.options]
    texts = {option.key: text.literal(option.text) for option in item.options}
    before = poll_store().my_vote(asked, _voter())
    st.markdown(text.literal(item.question))
    st.radio(
        item.question, keys, index=keys.index(before) if before in keys else None, key=key,
        format_func=texts.__getitem__, on_change=_vote, args=(asked, key), disabled=asked.revealed,
        label_visibility="collapsed",
    )  # fmt: skip
    say()
    if before and not asked.revealed:
        st.markdown("Your vote is counted. You can change it.")


def _vote(asked: Question, key: str) -> None:
    choice = st.session_state[key]
    attempt(lambda store: store.vote(asked, _voter(), choice))


def _answer(asked: Question, item: Item) -> None:
    """The votes of all, the right answer, and what one's own would have meant."""
    bars.show(poll_store(), asked, item)
    mine = poll_store().my_vote(asked, _voter())
    if mine and mine != item.answer:
        meant = quiz.check(item, mine).meant
        st.markdown(f"Your answer: {text.literal(meant)}")


def _voter() -> str:
    """The tab's random token: who reloads the page has still one vote."""
    if not isinstance(st.session_state.get(keep.VOTER), str):
        st.session_state[keep.VOTER] = new_voter()
    return st.session_state[keep.VOTER]


def _normal(code: str) -> str:
    try:
        return normal_code(code)
    except PollRefused:
        return code
