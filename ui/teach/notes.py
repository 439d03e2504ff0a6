"""Speaker notes: what to say, ask, expect and show on a page."""

import streamlit as st

from core import quiz
from ui import text
from ui.teaching import Notes, has_notes, notes


def show(slug: str) -> None:
    """The notes of a page, in a frame of their own; a sentence where there are none."""
    with st.container(key="speaker_notes", border=True, gap="small"):
        if not has_notes(slug):
            st.markdown("No notes are needed for this page.")
            return
        found = notes(slug)
        st.markdown(f"**Notes** · about {found.minutes} minutes")
        left, right = st.columns(2, gap="medium")
        with left:
            st.markdown(_paragraphs(Say=found.say, Ask=found.ask, Expect=found.expect))
        with right:
            st.markdown(_paragraphs(Show=found.show, Trap=found.trap) + "\n\n" + polls(found))


def polls(found: Notes) -> str:
    """The items that suit a poll here, each with its answer: this is for the teacher's eyes."""
    lines = []
    for item_id in found.items:
        item = quiz.item(item_id)
        true = next((option.text for option in item.options if option.key == item.answer), str(item.answer))
        lines.append(f"**{item_id}** {text.literal(item.question)} → *{text.literal(true)}*")
    return "  \n".join(lines)


def _paragraphs(**parts: str) -> str:
    return "\n\n".join(f"**{name}:** {words}" for name, words in parts.items())
