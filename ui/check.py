"""Check yourself: eight questions that follow the reader's mistakes, and what came of them.

What was answered is kept by the browser's tab, by the number of the set; nothing is stored elsewhere.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import streamlit as st

from core import link, quiz
from core.quiz import LENGTH, Answered, Item, UnreadableAnswer
from ui import paper, text
from ui.keep import ATTEMPTS

SET = "set"  # URL parameter: which set of questions


@dataclass
class Attempt:
    """What was answered so far."""

    given: list[list[str]] = field(default_factory=list)  # item id, answer
    reading: bool = False  # the comment on the last answer is still on screen

    @classmethod
    def kept(cls, seed: int) -> "Attempt":
        """The attempt at a set as it was kept; a new one where what was kept makes no sense."""
        attempts = st.session_state.get(ATTEMPTS)
        held = attempts.get(str(seed)) if isinstance(attempts, dict) else None
        try:
            attempt = cls(**held) if held else cls()
            attempt.given = [[str(name), str(answer)] for name, answer in attempt.given][:LENGTH]
            attempt.reading = bool(attempt.reading and attempt.given)
            quiz.next_item(attempt.done(seed), seed)
        except (KeyError, TypeError, ValueError):
            return cls()
        return attempt

    def keep(self, seed: int) -> None:
        """Note how far the attempt has come."""
        attempts = st.session_state.get(ATTEMPTS)
        held = attempts if isinstance(attempts, dict) else {}
        st.session_state[ATTEMPTS] = held | {str(seed): asdict(self)}

    def done(self, seed: int) -> list[Answered]:
        """Each answer, judged."""
        return [
            Answered(name, quiz.check(quiz.item(name, seed), answer).correct) for name, answer in self.given
        ]


def show(titles: Mapping[str, str]) -> None:
    """The question, the comment on the last answer, or the result. titles: page slug -> its title."""
    head = st.container(horizontal=True, vertical_alignment="bottom")
    body = st.container(border=True, key="quiz")
    with head:
        seed = st.number_input(
            "Set of questions", 0, quiz.MAX_SEED, 0, key=SET, bind="query-params", width=160
        )
        attempt = Attempt.kept(seed)
        st.button("Start again", on_click=_start_again, args=(seed,), disabled=not attempt.given)
    done = attempt.done(seed)
    following = quiz.next_item(done, seed)
    with body:
        st.progress(len(done) / LENGTH, f"{len(done)} of {LENGTH} answered")
        if attempt.reading:
            _comment(attempt, seed, titles, last=following is None)
        elif following is not None:
            _question(attempt, quiz.item(following, seed))
        else:
            _result(done, seed, titles)


def address(page: str, query: str) -> str:
    """Where a page stands in a state, relative to any page of the tutor."""
    return f"{'.' if page == 'start' else page}?{query}".rstrip("?")


def sentence(words: str, title: str, where: str) -> None:
    """One fifth of the recap and its link."""
    st.markdown(f"- {text.literal(words)} [{title}]({where})")


def _question(attempt: Attempt, item: Item) -> None:
    """One question; what is no number is asked for again."""
    texts = {option.key: text.literal(option.text) for option in item.options}
    with st.form(f"check {item.id} {item.seed}", border=False):
        st.markdown(f"**{text.literal(item.question)}**")
        name = f"check answer {item.id} {item.seed}"
        if texts:
            answer = st.radio("Answer", list(texts), index=None, format_func=texts.__getitem__, key=name)
        else:
            answer = st.text_input("Your number", key=name, max_chars=40, width=160, autocomplete="off")
        sent = st.form_submit_button("Answer")
    if sent:
        _take(attempt, item, answer)


def _take(attempt: Attempt, item: Item, answer: str | None) -> None:
    if not answer:
        st.warning("Choose an answer first." if item.options else "Type a number first.")
        return
    try:
        quiz.check(item, answer)
    except UnreadableAnswer as unreadable:
        st.warning(text.literal(str(unreadable)))
        return
    attempt.given.append([item.id, answer])
    attempt.reading = True
    attempt.keep(item.seed)
    st.rerun()


def _comment(attempt: Attempt, seed: int, titles: Mapping[str, str], *, last: bool) -> None:
    """The answer beside what is true, the reason, the way to the page that shows it."""
    name, answer = attempt.given[-1]
    item = quiz.item(name, seed)
    feedback = quiz.check(item, answer)
    verdict = ":green[:material/check:] Right" if feedback.correct else ":orange[:material/close:] Not yet"
    st.markdown(f"**{text.literal(item.question)}**")
    st.markdown(f"{verdict}. You answered: {text.literal(feedback.given)}")
    st.markdown(text.literal(" ".join(filter(None, (feedback.meant, feedback.reason, feedback.measured)))))
    if item.seen_on in titles:
        where = address(item.seen_on, link.query(item.setup, row=item.row, col=item.col, **item.show))
        st.markdown(f"[See it on the page {titles[item.seen_on]}]({where})")
    if item.page in quiz.result(attempt.done(seed)).go_back and not feedback.correct:
        st.markdown("That is the second miss about this page: walk it again.")
    st.button("See the result" if last else "Next question", on_click=_go_on, args=(attempt, seed))


def _result(done: list[Answered], seed: int, titles: Mapping[str, str]) -> None:
    """How many were right, where to go back to, what was missed; all of it on a page to print."""
    outcome = quiz.result(done)
    st.markdown(f"**{outcome.correct} of {outcome.asked} right.**")
    back = [f"[{titles[page]}]({address(page, '')})" for page in outcome.go_back if page in titles]
    st.markdown(f"Walk again: {', '.join(back)}." if back else text.part("check", "Nobody missed"))
    for name in outcome.missed:
        item = quiz.item(name, seed)
        st.markdown(f"- {text.literal(item.question)} {text.literal(item.reason)}")
    paper.show("attention-check.html", "The result", lambda: quiz.result_page(done, seed, titles), "check")


def _go_on(attempt: Attempt, seed: int) -> None:
    attempt.reading = False
    attempt.keep(seed)


def _start_again(seed: int) -> None:
    Attempt().keep(seed)
