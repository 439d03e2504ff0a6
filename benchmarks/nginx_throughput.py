"""What a second process brings, and what nginx and deploy/serve.py do to one slider: `make load-nginx`.

Throughput: readers who never pause, against one process by itself, one behind nginx and two behind nginx.
Dragging: one reader who moves a slider as fast as answers come, against `streamlit run`, deploy/serve.py
and the same behind nginx. About two minutes. Needs Linux and nginx.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchmarks.load import process, pupil
from benchmarks.load.numbers import percentile
from benchmarks.load.report import table, write
from benchmarks.load.session import Reply, Session
from tests.browser import server
from tests.deploy import nginx

READERS = 8
SECONDS = 15.0
MOVES = 30
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Served:
    """Where readers go, and the processes of the app there."""

    url: str
    pids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Throughput:
    """What the readers of one set-up got."""

    name: str
    replies: list[Reply]
    seconds: float
    app_cpu: float  # seconds of processor time, all processes of the app
    reader_cpu: float

    @property
    def rate(self) -> float:
        """Answered actions in a second."""
        return sum(reply.finished is not None for reply in self.replies) / self.seconds


@contextmanager
def streamlit_run() -> Generator[Served]:
    """`streamlit run app.py`."""
    with server.started(server.ROOT / "app.py") as one:
        yield Served(one.url, (one.pid,))


@contextmanager
def by_itself() -> Generator[Served]:
    """One process of deploy/serve.py, asked directly."""
    with nginx.serve(n_processes=1) as site:
        port, started = next(iter(site.processes.items()))
        yield Served(f"http://127.0.0.1:{port}", (started.pid,))


@contextmanager
def behind_nginx(n_processes: int) -> Generator[Served]:
    """That many processes of deploy/serve.py behind nginx."""
    with nginx.serve(n_processes=n_processes) as site:
        yield Served(site.url, tuple(started.pid for started in site.processes.values()))


THROUGHPUT: dict[str, Callable[[], AbstractContextManager[Served]]] = {
    "1 process": by_itself,
    "nginx, 1 process": lambda: behind_nginx(1),
    "nginx, 2 processes": lambda: behind_nginx(2),
}
DRAGGING: dict[str, Callable[[], AbstractContextManager[Served]]] = {
    "`streamlit run`": streamlit_run,
    "`deploy.serve`": by_itself,
    "nginx, `deploy.serve`": lambda: behind_nginx(1),
}


async def throughput(name: str, served: Served) -> Throughput:
    """READERS who act as fast as they are answered, as pupils do."""
    readers = [Session(served.url) for _ in range(READERS)]
    for reader in readers:
        await reader.open()
    replies: list[Reply] = []
    cpu, own, began = _cpu(served), time.process_time(), time.perf_counter()
    await asyncio.gather(
        *(
            pupil.read(reader, pupil.lesson, SECONDS, random.Random(seed), replies.append, pause=0)
            for seed, reader in enumerate(readers)
        )
    )
    took = time.perf_counter() - began
    measured = Throughput(name, replies, took, _cpu(served) - cpu, time.process_time() - own)
    await asyncio.gather(*(reader.close() for reader in readers))
    return measured


async def drag(served: Served) -> list[float]:
    """Milliseconds to the end of each move of one slider, each begun when the last has ended."""
    reader = Session(served.url)
    await reader.open()
    chance = random.Random(0)
    replies = [await pupil.slide(reader, chance) for _ in range(MOVES)]
    await reader.close()
    return [1000 * reply.finished for reply in replies if reply.finished is not None]


def _cpu(served: Served) -> float:
    return sum(map(process.cpu_seconds, served.pids))


def page(measured: list[Throughput], dragged: dict[str, list[float]]) -> str:
    """The report in Markdown."""
    base = measured[1]
    rows = [
        [
            one.name, str(len(one.replies)), f"{one.rate:.1f}", f"{one.rate / base.rate:.2f}",
            f"{percentile([1000 * r.finished for r in one.replies if r.finished is not None], 0.5):.0f}",
            f"{percentile([1000 * r.finished for r in one.replies if r.finished is not None], 0.95):.0f}",
            f"{1000 * one.app_cpu / len(one.replies):.0f}", f"{one.app_cpu / one.seconds:.2f}",
            f"{one.reader_cpu / one.seconds:.2f}", str(sum(len(r.faults) for r in one.replies)),
        ]
        for one in measured
    ]  # fmt: skip
    columns = (
        "set-up", "actions", "a second", "ratio", "median, ms", "p95, ms",
        "app's ms of a core, each", "app's cores", "readers' cores", "errors",
    )  # fmt: skip
    first = percentile(next(iter(dragged.values())), 0.5)
    moves = [
        [name, f"{percentile(times, 0.5):.0f}", f"{percentile(times, 0.95):.0f}",
         f"{percentile(times, 0.5) / first:.2f}"]
        for name, times in dragged.items()
    ]  # fmt: skip
    return "\n\n".join(
        [
            "# Behind nginx",
            f"Made by `make load-nginx` on {process.machine()}. Readers, nginx and the app share all cores.",
            "## Throughput",
            f"{READERS} readers on the tutor's pages for {SECONDS:.0f} s, each acting as soon as the last "
            "answer has ended: 4 of 10 actions move the slider of T, 4 select a cell, 2 turn the page. "
            "Ratio: to one process behind nginx.",
            table(columns, rows),
            "## Dragging a slider",
            "One reader moves the slider of T on the start page, each move begun when the last has ended; "
            f"{ROUNDS} × {MOVES} moves, to the end of the run. `streamlit run` never sets TCP_NODELAY: the "
            "second small message of an answer waits until the first is acknowledged. That can take 40 ms, "
            "or no time: the reader's system decides, and not the same way in each run.",
            table(("served by", "median, ms", "p95, ms", "ratio"), moves),
        ]
    )


def main() -> None:
    """Measure, and print the report or keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write docs/measured/nginx.md")
    keep = parser.parse_args().keep
    measured = []
    for name, set_up in THROUGHPUT.items():
        with set_up() as served:
            measured.append(asyncio.run(throughput(name, served)))
    dragged: dict[str, list[float]] = {name: [] for name in DRAGGING}
    for _ in range(ROUNDS):
        for name, set_up in DRAGGING.items():
            with set_up() as served:
                dragged[name] += asyncio.run(drag(served))
    text = page(measured, dragged)
    if keep:
        write("nginx.md", text)
    else:
        print(text)


if __name__ == "__main__":
    main()
