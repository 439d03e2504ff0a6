"""A class on one server: `python -m benchmarks.load`, or with numbers of your own:

    python -m benchmarks.load --sessions 10 50 --seconds 60 --floor-seconds 30

The server has one core for itself, the readers have the others. Each number of sessions gets a fresh server,
on which one reader has first seen every page. Needs Linux, for memory and processor time are read from /proc.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.load import process, pupil
from benchmarks.load.messages import Watched, board, line
from benchmarks.load.numbers import percentile, slope
from benchmarks.load.report import COLUMNS, Measured, by_kind, row, table, write
from benchmarks.load.session import PATIENCE, Reply, Session
from tests.browser import server

FLOOR = Path(__file__).parents[1] / "floor_app.py"
TUTOR = server.ROOT / "app.py"
CLASS = 50  # sessions of the target; with --sessions 150 the room that is left shows
LEVELS = (1, 10, 30, CLASS)
TARGET = 300  # ms, of 95 actions in 100, with a class
OPENING = 8.0  # a second: so many visits begin; a first run costs several times what a later one does
SETTLING = 3.0  # seconds after the last session has gone
HOW = f"""\
Each session acts every {pupil.PAUSE:.0f} s (± {pupil.JITTER:.0f} s). Of 10 actions 4 move the slider of T,
4 select a cell, 2 turn the page. A websocket client speaks Streamlit's protocol; times go from sending to the
message that holds the changed matrices, and to the end of the run. The floor app is one slider and one line
of text, moved as often; its "matrices" are that line. p95: 95 of 100 actions took no longer. An error is an
exception on the page, a lost connection, or a run that does not end within {PATIENCE:.0f} s. "Others" is what
work of the same priority took of the server's core meanwhile: where that is much, times are not its own."""


def main() -> None:
    """Measure every level of the tutor and of the floor app, and write the page."""
    asked = _arguments()
    core = process.share_cores()
    apps = (
        ("tutor", TUTOR, board, pupil.lesson, asked.seconds, tour),
        ("floor", FLOOR, line, pupil.slide, asked.floor_seconds, no_tour),
    )
    measured = []
    for name, app, watched, do, seconds, warm_up in apps:
        for sessions in asked.sessions if seconds else ():
            if name == "floor" and sessions > CLASS:
                continue
            with server.started(app, core=core) as served:
                asyncio.run(warm_up(served.url))
                measured.append(asyncio.run(load(name, served, core, sessions, seconds, do, watched)))
            print(" | ".join(row(measured[-1])), flush=True)
            for fault in measured[-1].faults[:5]:
                print("   ", fault)
    text = page(measured, core is not None)
    if asked.keep:
        write("load.md", text)
    else:
        print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load")
    parser.add_argument("--sessions", type=int, nargs="+", default=LEVELS)
    parser.add_argument("--seconds", type=float, default=60, help="for each number of sessions of the tutor")
    parser.add_argument("--floor-seconds", type=float, default=24, help="of the floor app; 0 = not at all")
    parser.add_argument("--keep", action="store_true", help="write docs/measured/load.md")
    return parser.parse_args()


async def tour(url: str) -> None:
    """One reader sees every page of the tutor, so that what is read or computed once is there."""
    session = Session(url)
    await session.open()
    for slug in list(session.screen.pages):
        await session.turn(slug)
    await session.close()


async def no_tour(url: str) -> None:
    """One reader sees the floor app."""
    session = Session(url, watched=line)
    await session.open()
    await session.close()


async def load(
    name: str,
    served: server.Server,
    core: int | None,
    n_sessions: int,
    seconds: float,
    do: Callable[..., Awaitable[Reply]],
    watched: Watched,
) -> Measured:
    """`n_sessions` readers of one app for `seconds`."""
    before = process.memory(served.pid)
    sessions = [Session(served.url, watched=watched) for _ in range(n_sessions)]
    opened = await asyncio.gather(*(_open(one, i / OPENING) for i, one in enumerate(sessions)))
    replies: list[Reply] = []
    began, cpu, own = time.perf_counter(), process.cpu_seconds(served.pid), time.process_time()
    busy = process.busy_seconds(core)
    await asyncio.gather(
        *(
            pupil.read(one, do, seconds, random.Random(seed), replies.append)
            for seed, one in enumerate(sessions)
            if opened[seed].finished is not None
        )
    )
    took = time.perf_counter() - began
    cpu, own = process.cpu_seconds(served.pid) - cpu, time.process_time() - own
    others = max(0.0, process.busy_seconds(core) - busy - cpu)
    with_all = process.memory(served.pid)
    await asyncio.gather(*(one.close() for one in sessions))
    await asyncio.sleep(SETTLING)
    return Measured(
        name, n_sessions, took, opened, replies, cpu / took, own / took, others / took, before, with_all,
        process.memory(served.pid),
    )  # fmt: skip


async def _open(session: Session, wait: float) -> Reply:
    await asyncio.sleep(wait)
    return await session.open()


def page(measured: Sequence[Measured], alone: bool) -> str:
    """The whole report in Markdown."""
    floor = {one.sessions: one for one in measured if one.app == "floor"}
    tutor = [one for one in measured if one.app == "tutor"]
    most = max(
        (one for one in tutor if one.sessions <= CLASS), key=lambda one: one.sessions, default=tutor[0]
    )
    cores = (
        "one core for itself, the readers had the others"
        if alone
        else "its only core to share with the readers"
    )
    return "\n\n".join(
        [
            "# Load: a class on one process",
            f"Made by `make load` on {process.machine()}. The server had {cores}.",
            HOW,
            table(COLUMNS, [row(one) for one in measured]),
            _verdict(most),
            _memory(tutor),
            *([_ratio(most, floor[most.sessions])] if most.sessions in floor else []),
            f"By kind of action, {most.sessions} sessions, to the end of the run. `open` is the first run of "
            f"a visit; {OPENING:.0f} visits began in a second.",
            table(("action", "number", "median, ms", "p95, ms", "kB received, median"), by_kind(most)),
        ]
    )


def _verdict(most: Measured) -> str:
    """The target beside what was found."""
    found, n_faults = percentile(most.answers, 0.95), len(most.faults)
    met = "met" if found < TARGET and not n_faults else "not met"
    return (
        f"Target: {most.sessions} sessions on one core, p95 to the matrices under {TARGET} ms, no error. "
        f"**{met}**: {found:.0f} ms, {n_faults} errors in {len(most.replies)} actions. "
        f"The readers' own process used {most.client_cpu:.0%} of a core."
    )


def _memory(tutor: Sequence[Measured]) -> str:
    """What a session costs, where there are enough numbers of sessions to draw a line through."""
    if len(tutor) < 3:
        return "Memory of a session: needs three numbers of sessions."
    line = slope([one.sessions for one in tutor], [one.mb_open for one in tutor])
    return (
        f"Memory: {line.slope:.2f} ± {line.half_width:.2f} MB a session, the slope of MB with all open over "
        "their number. Python frees cyclic garbage in its own time: single figures differ by some 10 MB."
    )


def _ratio(most: Measured, floor: Measured) -> str:
    """The tutor beside the floor app under the same load."""
    median, tail = (percentile(most.ends, share) / percentile(floor.ends, share) for share in (0.5, 0.95))
    return (
        f"Ratio to the floor app under the same load, to the end of the run: {median:.1f} in the median, "
        f"{tail:.1f} at p95; processor time {most.cpu / floor.cpu:.1f}."
    )


if __name__ == "__main__":
    main()
