"""The room where a teacher puts questions to a class: open, ask, watch, reveal, ask again, close."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core import quiz
from ui import presenter, text
from ui.keep import CLASS
from ui.poll import poll_store
from ui.poll_store import PollRefused, PollStore, Question
from ui.poll_tables import PollAway
from ui.teach import address, bars
from ui.teach.link import qr
from ui.view import View

SAID = "poll_said"  # session_state: what the store answered to the last click, if it refused
SECONDS = 2  # between two looks at the votes


def show(_: View, titles: Mapping[str, str]) -> None:
    """Before a class is open, one button; then its code, the question and the votes."""
    try:
        store = poll_store()
        if not own_code():
            _closed()
            return
        asked = store.question(own_code())
    except PollAway as away:
        st.warning(str(away))
        return
    except PollRefused as refused:  # forgotten, or closed from elsewhere
        _give_up()
        st.info(text.literal(str(refused)))
        _closed()
        return
    way_in, question = st.columns([4, 9], gap="large")
    with way_in:
        _way_in(asked)
    with question:
        _ask(asked, titles)
        _votes(asked)


def own_code() -> str:
    """The code of the class that this session has opened, or "" if none."""
    return _own()[0]


def _own() -> tuple[str, str]:
    """(code, the teacher's key) of the class that this tab has opened; empty texts if none."""
    held = st.session_state.get(CLASS)
    match held:
        case [str() as code, str() as key]:
            return code, key
    return "", ""


def _give_up() -> None:
    st.session_state.pop(CLASS, None)


def say() -> None:
    """Show once what the store answered."""
    if SAID in st.session_state:
        st.warning(text.literal(st.session_state.pop(SAID)))


def attempt(action: Callable[[PollStore], Any]) -> Any:
    """Do something with the store in a callback; what it refuses is said at the next run. -> None then."""
    try:
        return action(poll_store())
    except (PollAway, PollRefused) as error:
        st.session_state[SAID] = str(error)
        return None


def _closed() -> None:
    st.markdown(text.part("teach", "Poll"))
    say()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Open a class", on_click=_open, type="primary")
        st.text_input("or join one: class code", key="code", bind="query-params", max_chars=16, width=240)


def _open() -> None:
    opened = attempt(PollStore.open_class)
    if opened:
        st.session_state[CLASS] = opened


def _way_in(asked: Question) -> None:
    """What a class needs to see: the code, the address, the square for the camera."""
    url = address.to_vote(asked.code)
    with st.container(key="class_code", gap="small"):
        st.markdown("Class code")
        st.subheader(asked.code, anchor=False)
    qr(url)
    st.code(url, language=None, wrap_lines=True)
    with presenter.screen("close"):
        text.caption("teach", "Private")
        st.button("Close the class and forget its votes", on_click=_close)


def _close() -> None:
    code, key = _own()
    _give_up()
    attempt(lambda store: store.close_class(code, key))


def _ask(asked: Question, titles: Mapping[str, str]) -> None:
    """Choose an item; ask it, ask it again, reveal."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        item_id = st.selectbox("Question", quiz.POLLS, key="poll", bind="query-params", width=130)
        seed = st.number_input(
            "Variant", 0, quiz.MAX_SEED, 0, key="poll_seed", bind="query-params", width=130
        )
        again = (asked.item, asked.seed) == (item_id, seed)
        voting = bool(asked.item) and not asked.revealed
        st.button(
            "Vote again" if again else "Ask", on_click=_put, args=(item_id, seed),
            type="secondary" if voting else "primary",
        )  # fmt: skip
        with st.container(key="reveal", width="content"):
            # Not "Vote again", which throws the open votes away, when somebody clicks twice without looking.
            st.button(
                "Reveal", on_click=_reveal, disabled=not voting, type="primary" if voting else "secondary"
            )
    say()
    item = quiz.item(item_id, seed)
    page = titles.get(item.page, item.page)
    query = address.of_item(item_id, seed)
    with st.container(key="poll_question"):
        st.markdown(f"{text.literal(item.question)} ([{page}]({address.relative(item.page, query)}))")


def _put(item_id: str, seed: int) -> None:
    code, key = _own()
    attempt(lambda store: store.ask(code, key, item_id, seed))


def _reveal() -> None:
    code, key = _own()
    attempt(lambda store: store.reveal(code, key))


def _votes(asked: Question) -> None:
    """The votes on the question that is out; looked at again and again only while it is open."""
    if not asked.item:
        return
    open_now = not asked.revealed
    hidden = st.checkbox("Hide the bars until revealed", value=True, key="poll_hide") and open_now
    st.fragment(_count, run_every=SECONDS if open_now else None)(asked, hidden)


def _count(asked: Question, hidden: bool) -> None:
    try:
        store = poll_store()
        if hidden:
            bars.total(store.counts(asked))
        else:
            bars.show(store, asked, quiz.item(asked.item, asked.seed))
    except (PollAway, PollRefused) as error:
        st.warning(text.literal(str(error)))
