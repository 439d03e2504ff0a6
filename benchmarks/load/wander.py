"""What readers do whom nobody tells what to do: any widget, any page, files good and bad, odd addresses."""

import io
import random
import string
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.load.pupil import has_t, pick, pickable, slide, slider_of_t, turn
from benchmarks.load.session import Reply, Session
from core.clinic.samples import SAMPLES

# Addresses that nobody was given: out of range, of another kind, in another language, meant to do harm.
JUNK = (
    "seq_len=abc&d_k=7&mask=no%20such", "seq_len=99999&row=-5&col=1e9", "row=8&col=8&seq_len=2",
    "edits=q.0.0.0%3D1e999%3B%3B%3Bq.9.9.9%3Dnan", "edits=" + "q.0.1.1%3D2%3B" * 150, "n_heads=3&head=7",
    "example=..%2F..%2Fetc%2Fpasswd", "example=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    "sentence=%00%F0%9F%AA%81",
    "seq_len=&d_k=&mask=&row=", "seq_len=3&seq_len=9", "present=2&notes=yes", "broken=zz&sample=zz&part=zz",
    "hardness=nan&shift=inf&gap=-inf&nudge=1e400", "code=%27%3B%20DROP%20TABLE%20classes%3B--",
    "lab_d_k=9&rate=0&train_d_k=-1&replace=404", "real_head=9.9&capture=none&other=upload%201&other_head=64",
)  # fmt: skip
LINKS = (
    "", "seq_len=12&mask=causal", "example=random&n_heads=4&head=all", "example=model&real_head=1.2",
    "edits=q.0.4.0%3D3&row=4&col=1", "present=true", "d_k=64&mask=padding&n_pad=3",
)  # fmt: skip
CAPTURES = Path(__file__).parents[2] / "assets" / "captures"


async def wander(session: Session, chance: random.Random) -> Reply:
    """A slider, a cell, a page, any widget, several at once, a file; after a fault, another page."""
    if not has_t(session):
        return await turn(session, chance)
    actions: dict[Any, int] = {
        slide: 3, _pick: 3, turn: 3, any_widget: 5, hurry: 1, give_file: 4 if _uploader(session) else 0,
    }  # fmt: skip
    return await chance.choices(list(actions), list(actions.values()))[0](session, chance)


def address(chance: random.Random) -> str:
    """What stands in the address of a new visit: junk in two of five."""
    return chance.choice(JUNK if chance.random() < 0.4 else LINKS)


async def any_widget(session: Session, chance: random.Random) -> Reply:
    """Change or press any widget on the page, to something that it offers."""
    kinds = [kind for kind in (*CHANGES, "button") if session.widgets.ids(kind)]
    kind = chance.choice(kinds)
    id = chance.choice(session.widgets.ids(kind))
    if kind == "button":
        return await session.press("button", id)
    value = CHANGES[kind](session.widgets.message(id), session.widgets.value(id), chance)
    return await session.set(kind, id, value)


async def hurry(session: Session, chance: random.Random) -> Reply:
    """Several moves of a slider before the first is answered, as of a key that is held down."""
    id = slider_of_t(session)
    slider = session.widgets.message(id)
    start = chance.randint(int(slider.min), int(slider.max) - 3)
    return await session.hurry(id, [[float(start + step)] for step in range(4)])


async def give_file(session: Session, chance: random.Random) -> Reply:
    """Upload a good file, a damaged one or one of something else; or take the files away again."""
    id = _uploader(session)
    if id is None or chance.random() < 0.2:
        return await session.take_away(id) if id else await slide(session, chance)
    name, content = chance.choice(files())
    allowed = session.widgets.message(id).type
    if not name.endswith(tuple(allowed)):
        name += allowed[0]
    return await session.upload(id, name, content)


@cache
def files() -> list[tuple[str, bytes]]:
    """Files for the two pages that take them: name, content."""
    good = [(sample.file_name, sample.make()) for sample in SAMPLES.values()]
    good += [(path.name, path.read_bytes()) for path in sorted(CAPTURES.glob("*.npz"))]
    first = good[0][1]
    large, ones = io.BytesIO(), np.ones((2, 300, 64))
    np.savez(large, q=ones, k=ones, v=ones)
    bad = [
        ("empty.npz", b""), ("half.npz", first[: len(first) // 2]), ("noise.npz", bytes(range(256)) * 300),
        ("words.npz", b"q,k,v"), ("<b>bold</b>.npz", first), ("large.npz", large.getvalue()),
        ("turned.npz", bytes(255 - one for one in first)),
    ]  # fmt: skip
    return good + bad


def _uploader(session: Session) -> str | None:
    return next(iter(session.widgets.ids("file_uploader")), None)


async def _pick(session: Session, chance: random.Random) -> Reply:
    boards = pickable(session)
    return await pick(session, chance.choice(boards), chance) if boards else await slide(session, chance)


def _slider(widget: Any, _: Any, chance: random.Random) -> list[Any]:
    if len(widget.options):
        return [chance.choice(widget.options)]
    n_steps = round((widget.max - widget.min) / widget.step)
    return [widget.min + widget.step * chance.randint(0, n_steps)]


def _number(widget: Any, value: float | None, chance: random.Random) -> float:
    low = widget.min if widget.has_min else (value or 0) - 10
    high = widget.max if widget.has_max else (value or 0) + 10
    drawn = chance.uniform(low, high)
    return float(round(drawn)) if widget.step == 1 else drawn


def _text(_: Any, value: str | None, chance: random.Random) -> str:
    """Nothing, letters, an edit, or what stood there and something more."""
    letters = "".join(chance.choices(string.printable + "äß漢🪁 ", k=chance.randint(1, 40)))
    return chance.choice(["", letters, "q.0.1.1=2.5", f"{value or ''} {letters}"[:40]])


CHANGES: dict[str, Callable[[Any, Any, random.Random], Any]] = {
    "slider": _slider,
    "number_input": _number,
    "text_input": _text,
    "text_area": _text,
    "selectbox": lambda widget, _, chance: chance.choice(widget.options),
    "radio": lambda widget, _, chance: chance.choice(widget.options),
    "checkbox": lambda _, value, __: not value,
    "expandable": lambda _, value, __: not value,
    "button_group": lambda widget, _, chance: [chance.choice(widget.options).content],
}
