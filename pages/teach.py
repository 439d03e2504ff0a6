"""Teach: link, plans, notes, worksheet and poll for a class; for a learner with a class code, the vote."""

from ui import stage
from ui.choice import one_of
from ui.teach import link, plans, sheet
from ui.view import View


def render(view: View) -> None:
    """A learner who comes by the class's link gets the vote alone; a teacher chooses a room."""
    from pages import PAGES  # here, because that list is made of this file too
    from ui.teach import poll, vote  # here: they bring the database library, which few visits need

    rooms = {"Link": link.show, "Plans": plans.show, "Worksheet": sheet.show, "Poll": poll.show}
    if vote.wanted():
        vote.show()
        return
    stage.idea("teach")
    room = one_of(
        "Room", list(rooms), default="Link", key="room",
        label_visibility="collapsed",
    )  # fmt: skip
    rooms[room](view, {page.slug: page.title for page in PAGES})


if __name__ == "__main__":
    from app import main

    main()
