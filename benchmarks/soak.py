"""Half an hour of readers who do anything: does the server stay as it was? `python -m benchmarks.soak`.

Twenty sessions act every 3 s each: sliders, cells, pages, every other widget, several moves at once, good and
damaged files. A visit lasts some minutes, then another begins, two of five at an address full of junk. The
verdict looks at memory after a warm-up, at exceptions and lost replies, at what the server logs, and at
threads, open files and temporary files that are left when everybody has gone. Ends with code 1 if one is not
well. Needs Linux.

The server is deploy/serve.py, as others are served; soaked.py has it tell what it holds.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import soaked as inside
from benchmarks.load import process, pupil, wander
from benchmarks.load.__main__ import tour
from benchmarks.load.numbers import Slope, slope
from benchmarks.load.report import table, write
from benchmarks.load.session import Reply, Session
from tests.browser import server

SESSIONS = 20
MINUTES = 30.0
VISIT = (60.0, 300.0)  # seconds, the shortest and the longest
PATIENCE = 120.0  # seconds; this test may run beside others, at low priority
SAMPLE = 10.0  # seconds between two looks at the memory
WARM_UP = 1 / 3  # of the time: caches fill, and closed visits are still kept for two minutes
KEPT_SECONDS = 130.0  # Streamlit keeps a closed visit for 120 s, in case its reader comes back
MOST_RISE = 10.0  # MB an hour: less is called flat
BANNER = ("Uvicorn server started", "You can now view your Streamlit app", "URL:")


@dataclass
class Left:
    """What a process holds when nobody is there."""

    threads: dict[str, int]  # by name
    handles: int
    files: int
    mb: float
    objects: int  # of Python's, without garbage

    @classmethod
    async def by(cls, served: server.Server) -> "Left":
        """Look now."""
        files = sum(path.is_file() for path in served.temporary.rglob("*"))
        mb = process.memory(served.pid)  # first: to tell takes memory
        told = await told_by(served)
        return cls(told["threads"], process.handles(served.pid), files, mb, told["objects"])


@dataclass
class Soaked:
    """All that was seen."""

    minutes: float
    replies: list[Reply] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)
    visits: int = 0
    junk: int = 0
    before: Left | None = None
    after: Left | None = None
    log: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """Exceptions, lost replies and connections, in words."""
        return [fault for reply in self.replies for fault in reply.faults]

    @property
    def rise(self) -> Slope:
        """MB an hour after the warm-up."""
        first = next(i for i, at in enumerate(self.seconds) if at >= WARM_UP * self.minutes * 60)
        return slope([at / 3600 for at in self.seconds[first:]], self.mb[first:])

    @property
    def threads_left(self) -> list[str]:
        """The names of which there are more than before, and more than a pool of that name may have."""
        assert self.before
        assert self.after
        before = self.before.threads
        return [
            name
            for name, number in self.after.threads.items()
            if number > max(before.get(name, 0), inside.MOST.get(name, 0))
        ]

    def verdicts(self) -> dict[str, bool]:
        """Each thing that has to be well, and whether it is."""
        assert self.before
        assert self.after
        return {
            "memory flat after the warm-up": self.rise.slope < MOST_RISE,
            "no exception, no lost reply": not self.faults,
            "nothing in the server's log": not self.log,
            "no thread left": not self.threads_left,
            "no open file or socket left": self.after.handles <= self.before.handles,
            "no temporary file left": self.after.files == 0,
        }


def main() -> None:
    """Soak, write docs/measured/soak.md, and end with code 1 if something is not well."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--keep", action="store_true", help="write docs/measured/soak.md")
    asked = parser.parse_args()
    with server.started(server.ROOT / "app.py", module="benchmarks.soaked") as served:
        soaked = asyncio.run(soak(served, asked.sessions, asked.minutes))
    text = page(soaked, asked.sessions)
    if asked.keep:
        write("soak.md", text)
    else:
        print(text)
    sys.exit(0 if all(soaked.verdicts().values()) else 1)


async def soak(served: server.Server, n_sessions: int, minutes: float) -> Soaked:
    """All readers for `minutes`, then wait until the last visit is forgotten."""
    soaked = Soaked(minutes)
    await tour(served.url)
    await upload_once(served.url)
    await asyncio.sleep(SAMPLE)
    soaked.before = await Left.by(served)
    end = time.monotonic() + 60 * minutes
    watching = asyncio.create_task(_watch(served, soaked, end))
    await asyncio.gather(*(_visits(served.url, soaked, end, random.Random(i)) for i in range(n_sessions)))
    await watching
    await asyncio.sleep(KEPT_SECONDS)
    await upload_once(served.url)
    await asyncio.sleep(SAMPLE)
    soaked.after = await Left.by(served)
    soaked.log = unexpected(served.log.read_text(errors="replace"))
    return soaked


async def told_by(served: server.Server) -> dict[str, Any]:
    """What soaked.py says of itself. TimeoutError if it does not within a minute."""
    file = served.log.parent / inside.TOLD
    file.unlink(missing_ok=True)
    os.kill(served.pid, signal.SIGUSR1)
    async with asyncio.timeout(60):
        while not file.exists():
            await asyncio.sleep(0.1)
    return json.loads(file.read_text(encoding="utf-8"))


async def upload_once(url: str) -> None:
    """A short visit with one file, before each count.

    What the server starts for a first file is then there. Streamlit forgets expired visits when another
    comes or goes; its pool of threads for files (anyio's) ends all idle ones but one when the next comes.
    """
    session = Session(url)
    await session.open()
    await session.turn("clinic")
    await session.upload(session.widgets.ids("file_uploader")[0], *wander.files()[0])
    await session.close()


def unexpected(log: str) -> list[str]:
    """The lines of a server's log that are not its greeting."""
    lines = (line.strip() for line in log.splitlines())
    return [line for line in lines if line and not any(part in line for part in BANNER)]


async def _visits(url: str, soaked: Soaked, end: float, chance: random.Random) -> None:
    """One reader's visits, one after another."""
    await asyncio.sleep(chance.uniform(0, pupil.PAUSE))
    while (left := end - time.monotonic()) > 0:
        query = wander.address(chance)
        session = Session(url, query=query, patience=PATIENCE)
        soaked.visits += 1
        soaked.junk += query in wander.JUNK
        _note(soaked, session, await session.open())
        await pupil.read(
            session, wander.wander, min(left, chance.uniform(*VISIT)), chance,
            lambda reply, session=session: _note(soaked, session, reply),
        )  # fmt: skip
        await session.close()


def _note(soaked: Soaked, session: Session, reply: Reply) -> None:
    """Keep the reply; tell at once where a fault was."""
    soaked.replies.append(reply)
    for fault in reply.faults:
        slug = next((slug for slug, key in session.screen.pages.items() if key == session.screen.page), "?")
        print(f"fault after {reply.kind} on /{slug}?{session.widgets.query}: {fault}", flush=True)


async def _watch(served: server.Server, soaked: Soaked, end: float) -> None:
    """Note the memory every SAMPLE seconds."""
    began = time.monotonic()
    while time.monotonic() < end:
        await asyncio.sleep(SAMPLE)
        soaked.seconds.append(time.monotonic() - began)
        soaked.mb.append(process.memory(served.pid))


def page(soaked: Soaked, n_sessions: int) -> str:
    """The report in Markdown."""
    kinds = sorted(Counter(reply.kind for reply in soaked.replies).items())
    verdicts = [(what, "yes" if well else "**NO**") for what, well in soaked.verdicts().items()]
    return "\n\n".join(
        [
            f"# Soak: {soaked.minutes:g} minutes of anything",
            f"Made by {_command(soaked)} on {process.machine()}.",
            f"{n_sessions} sessions at once, each acting every {pupil.PAUSE:.0f} s: {soaked.visits} visits, "
            f"{soaked.junk} of them at an address full of junk, {len(soaked.replies)} actions.",
            table(("what has to be well", ""), verdicts),
            _rise(soaked),
            table(("minute", "MB"), _memory(soaked)),
            table(("nobody there", "files and sockets", "temporary files", "MB", "objects"), _left(soaked)),
            table(("threads, nobody there", "before", "after", "at most"), _threads(soaked)),
            table(("action", "number"), [(kind, str(number)) for kind, number in kinds]),
            *_said("Faults", soaked.faults),
            *_said("In the server's log", soaked.log),
        ]
    )


def _command(soaked: Soaked) -> str:
    if soaked.minutes == MINUTES:
        return "`make soak`"
    return f"`python -m benchmarks.soak --minutes {soaked.minutes:g}`, `make soak` takes {MINUTES:g},"


def _rise(soaked: Soaked) -> str:
    rise = soaked.rise
    return (
        f"Memory after the first {WARM_UP * soaked.minutes:.0f} minutes: {rise.slope:+.1f} ± "
        f"{rise.half_width:.1f} MB an hour, a 95 % interval that allows for neighbouring measurements being "
        f"alike; it {'holds' if rise.is_flat else 'excludes'} zero. Called flat at less than {MOST_RISE:.0f}."
    )


def _memory(soaked: Soaked) -> list[tuple[str, str]]:
    """Every third minute."""
    step = round(180 / SAMPLE)
    return [
        (f"{at / 60:.0f}", f"{mb:.0f}")
        for at, mb in zip(soaked.seconds[step - 1 :: step], soaked.mb[step - 1 :: step], strict=True)
    ]


def _left(soaked: Soaked) -> list[tuple[str, ...]]:
    named = (("before", soaked.before), ("after", soaked.after))
    return [
        (name, str(left.handles), str(left.files), f"{left.mb:.0f}", f"{left.objects:,}")
        for name, left in named
        if left
    ]


def _threads(soaked: Soaked) -> list[tuple[str, ...]]:
    """Each name, and how many a pool may have."""
    assert soaked.before
    assert soaked.after
    before, after = soaked.before.threads, soaked.after.threads
    return [
        (name, str(before.get(name, 0)), str(after.get(name, 0)), str(inside.MOST.get(name, "")))
        for name in sorted({*before, *after})
    ]


def _said(title: str, lines: Sequence[str]) -> list[str]:
    """The most frequent lines, if there are any."""
    if not lines:
        return []
    return [f"{title}:", "\n".join(f"- {n} × {line}" for line, n in Counter(lines).most_common(10))]


if __name__ == "__main__":
    main()
