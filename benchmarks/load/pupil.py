"""What the readers of a class do: move sliders, select cells, turn pages, each at a time of their own."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Protocol

from benchmarks.load.session import Reply, Session

PAUSE = 3.0  # seconds from one action to the next, on average
JITTER = 1.0  # the most by which it is shorter or longer
MOST_STEPS = 3  # of a slider in one move


class Reader(Protocol):
    """Something that a reader of an open page does."""

    def __call__(self, session: Session, chance: random.Random) -> Awaitable[Reply]:
        """Do it once."""


async def read(
    session: Session,
    do: Reader,
    seconds: float,
    chance: random.Random,
    note: Callable[[Reply], None],
    pause: float = PAUSE,
) -> None:
    """Act until `seconds` are over or the connection is lost; the first action comes within one pause."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    await asyncio.sleep(chance.uniform(0, pause))
    while clock() < end:
        began = clock()
        reply = await do(session, chance)
        note(reply)
        if reply.finished is None:
            return
        # From beginning to beginning: a slow reply does not make the reader act less.
        jitter = JITTER * pause / PAUSE
        await asyncio.sleep(max(0.0, began + pause + chance.uniform(-jitter, jitter) - clock()))


async def lesson(session: Session, chance: random.Random) -> Reply:
    """One action of a pupil in the tutor: 4 of 10 move T, 4 select a cell, 2 turn the page."""
    what = chance.choices(("slider", "cell", "page"), (4, 4, 2))[0]
    if what == "page":
        return await turn(session, chance)
    if what == "cell" and (boards := pickable(session)):
        return await pick(session, boards[0], chance)
    return await slide(session, chance)


async def slide(session: Session, chance: random.Random) -> Reply:
    """Move the slider of T by one to three: it is there on every page, and in the floor app."""
    id = slider_of_t(session)
    slider = session.widgets.message(id)
    now = session.widgets.value(id)[0]
    steps = [step for step in range(-MOST_STEPS, MOST_STEPS + 1) if step]
    reached = [now + step for step in steps if slider.min <= now + step <= slider.max]
    return await session.set("slider", id, [chance.choice(reached)])


def has_t(session: Session) -> bool:
    """Whether the page was drawn to its end: each has the slider of T, and an exception leaves it out."""
    return _t(session) is not None


def _t(session: Session) -> str | None:
    """A lab has a slider of this name too, over lengths of its own; that one has options."""
    sliders = ((id, session.widgets.message(id)) for id in session.widgets.ids("slider"))
    return next(
        (id for id, one in sliders if one.label == "Sequence length T" and not len(one.options)), None
    )


def slider_of_t(session: Session) -> str:
    """The slider of the sequence's length. LookupError where a page has none."""
    id = _t(session)
    if id is None:
        raise LookupError("no slider of T on this page")
    return id


def pickable(session: Session) -> list[str]:
    """The boards on screen that take a selection; the page's main one comes first."""
    return [id for id, content in session.seen.items() if json.loads(content)["pickable"]]


async def pick(session: Session, id: str, chance: random.Random) -> Reply:
    """Select some cell of a board."""
    board = json.loads(session.seen[id])
    matrix = chance.choice(board["matrices"])
    cell = {
        matrix["rowAxis"]: matrix["rowStart"] + chance.randrange(matrix["rows"]),
        matrix["colAxis"]: matrix["colStart"] + chance.randrange(matrix["cols"]),
    }
    return await session.pick(id, cell, matrix["id"])


async def turn(session: Session, chance: random.Random) -> Reply:
    """The next page, for seven of ten; the one before; or any."""
    slugs = list(session.screen.pages)
    here = next(i for i, slug in enumerate(slugs) if session.screen.pages[slug] == session.screen.page)
    following, previous = slugs[(here + 1) % len(slugs)], slugs[here - 1]
    any_other = chance.choice([slug for slug in slugs if slug != slugs[here]])
    return await session.turn(chance.choices((following, previous, any_other), (7, 1.5, 1.5))[0])
