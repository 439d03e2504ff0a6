"""The soak's own judgement, and one short soak of the tutor."""

import asyncio
import random
from dataclasses import replace

import pytest

from benchmarks import soak, soaked
from benchmarks.load import pupil, wander
from benchmarks.load.session import Reply, Session
from tests.browser import server

THREADS = {"MainThread": 1, soaked.SETTINGS: 2}
CLEAN = soak.Left(THREADS, handles=20, files=0, mb=200.0, objects=180_000)


def seen_in(**seen) -> soak.Soaked:
    """Ten minutes in which nothing went wrong, but for what is given."""
    seconds = [10.0 * i for i in range(1, 61)]
    defaults = {"seconds": seconds, "mb": [200.0 + i % 3 for i in range(60)], "before": CLEAN, "after": CLEAN}
    return soak.Soaked(10.0, **defaults | seen)


def test_a_good_run_is_well_and_tells_its_numbers() -> None:
    good = seen_in(replies=[Reply("page", 0.1, 0.2, 5)] * 3)
    assert all(good.verdicts().values())
    assert "| page | 3 |" in soak.page(good, 20)
    assert "| after | 20 | 0 | 200 | 180,000 |" in soak.page(good, 20)


@pytest.mark.parametrize(
    ("what", "seen"),
    [
        ("memory", {"mb": [200.0 + 0.5 * i for i in range(60)]}),
        ("exception", {"replies": [Reply("page", None, None, 0, ("ValueError: no",))]}),
        ("log", {"log": ["Traceback (most recent call last):"]}),
        ("thread", {"after": replace(CLEAN, threads=THREADS | {"worker": 1})}),
        ("thread", {"after": replace(CLEAN, threads=THREADS | {soaked.SETTINGS: 5})}),
        ("socket", {"after": replace(CLEAN, handles=21)}),
        ("temporary", {"after": replace(CLEAN, files=1)}),
    ],
)
def test_each_fault_is_found_and_no_other(what: str, seen: dict) -> None:
    bad = seen_in(**seen)
    assert [name for name, well in bad.verdicts().items() if not well] == [
        name for name in bad.verdicts() if what in name
    ]
    assert soak.page(bad, 20).count("**NO**") == 1


def test_a_pool_may_grow_to_its_bound() -> None:
    grown = seen_in(after=replace(CLEAN, threads=THREADS | {soaked.SETTINGS: 4}))
    assert all(grown.verdicts().values())
    assert f"| {soaked.SETTINGS} | 2 | 4 | 4 |" in soak.page(grown, 20)


def test_the_warm_up_does_not_count() -> None:
    assert seen_in(mb=[100.0 + 5 * min(i, 19) for i in range(60)]).verdicts()["memory flat after the warm-up"]


def test_the_greeting_is_no_fault() -> None:
    greeting = (
        "2026-01-01 Uvicorn server started on x\n\n  You can now view your Streamlit app in your browser.\n"
    )
    assert soak.unexpected(greeting + "  URL: http://127.0.0.1:1\n") == []
    assert soak.unexpected(greeting + "Error: no\n") == ["Error: no"]


def test_readers_who_do_anything_meet_no_exception() -> None:
    async def visit(url: str, seed: int) -> list[Reply]:
        chance = random.Random(seed)
        session = Session(url, query=wander.JUNK[seed])
        replies = [await session.open()]
        replies += [await wander.wander(session, chance) for _ in range(8)]
        await session.close()
        return replies

    async def visits(url: str) -> list[list[Reply]]:
        return await asyncio.gather(*(visit(url, seed) for seed in range(len(wander.JUNK))))

    with server.started(server.ROOT / "app.py", module="benchmarks.soaked") as served:
        replies = [reply for replies in asyncio.run(visits(served.url)) for reply in replies]
        assert [fault for reply in replies for fault in reply.faults] == []
        assert soak.unexpected(served.log.read_text()) == []
        threads = asyncio.run(soak.told_by(served))["threads"]
        assert 1 <= threads[soaked.SETTINGS] <= soaked.MOST[soaked.SETTINGS]
        assert threads["MainThread"] == 1
    assert len(replies) == 9 * len(wander.JUNK)


def test_the_slider_of_t_is_not_that_of_a_lab() -> None:
    async def visit(url: str) -> list[Reply]:
        session = Session(url, "heads", "heads_lab=Cost")
        replies = [await session.open()]
        slider = session.widgets.message(pupil.slider_of_t(session))
        assert (slider.min, slider.max) == (2, 64)
        replies += [await do(session, random.Random(1)) for do in (pupil.slide, wander.hurry)]
        await session.close()
        return replies

    with server.started(server.ROOT / "app.py") as served:
        assert [fault for reply in asyncio.run(visit(served.url)) for fault in reply.faults] == []


def test_after_a_fault_the_reader_goes_to_another_page() -> None:
    turned: list[str] = []

    class Broken(Session):
        """A page that ended before anything was drawn."""

        async def turn(self, page: str) -> Reply:
            turned.append(page)
            return Reply("page", None, 0.1, 0)

    session = Broken("http://127.0.0.1:1")
    session.screen.pages, session.screen.page = {"start": "a", "score": "b"}, "a"
    for seed in range(9):
        asyncio.run(wander.wander(session, random.Random(seed)))
    assert turned == ["score"] * 9
