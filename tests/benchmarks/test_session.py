"""The websocket client against the tutor itself: what arrives is what the core computes."""

import asyncio
import base64
import io
import json
import random
from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.load import process, pupil
from benchmarks.load.session import Reply, Session
from core.setup import Setup, run
from tests.browser import server


@pytest.fixture(scope="module")
def served() -> Iterator[server.Server]:
    with server.started(server.ROOT / "app.py") as running:
        yield running


def drawn(session: Session, name: str) -> np.ndarray:
    """A matrix of the first board, as it arrived."""
    (matrix,) = (
        one for one in json.loads(next(iter(session.seen.values())))["matrices"] if one["id"] == name
    )
    return np.frombuffer(base64.b64decode(matrix["values"])).reshape(matrix["rows"], matrix["cols"])


def weights(seq_len: int) -> np.ndarray:
    """The weights that the core computes."""
    return run(Setup(seq_len=seq_len, mask="causal")).heads.weights[0]


def test_what_a_reader_does_brings_the_numbers_of_the_core(served: server.Server) -> None:
    async def visit() -> None:
        session = Session(served.url, query="seq_len=5&mask=causal")
        assert complete(await session.open())
        assert np.array_equal(
            drawn(session, "weights"), run(Setup(seq_len=5, mask="causal")).heads.weights[0]
        )
        assert complete(await session.set("slider", pupil.slider_of_t(session), [9.0]))
        assert complete(await session.turn("softmax"))
        assert np.array_equal(
            drawn(session, "weights"), run(Setup(seq_len=9, mask="causal")).heads.weights[0]
        )
        board = pupil.pickable(session)[0]
        assert complete(await session.pick(board, {"query": 3, "key": 2}, "weights"))
        assert json.loads(session.seen[board])["selected"]["query"] == 3
        assert "row=3" in session.widgets.query
        await session.close()

    asyncio.run(visit())


def test_an_upload_reaches_the_clinic(served: server.Server) -> None:
    heads = run(Setup()).heads
    file = io.BytesIO()
    np.savez(file, q=heads.q, k=heads.k, v=heads.v, output=heads.output)

    async def visit() -> None:
        session = Session(served.url)
        await session.open()
        await session.turn("clinic")
        (uploader,) = session.widgets.ids("file_uploader")
        reply = await session.upload(uploader, "heads.npz", file.getvalue())
        assert not reply.faults
        words = [
            one.markdown.body for one in session.screen.elements() if one.WhichOneof("type") == "markdown"
        ]
        assert any("Read as" in word for word in words)
        assert not (await session.take_away(uploader)).faults
        await session.close()

    asyncio.run(visit())


def test_a_small_class_loses_nothing(served: server.Server) -> None:
    replies: list[Reply] = []

    async def lesson() -> None:
        sessions = [Session(served.url) for _ in range(4)]
        replies.extend(await asyncio.gather(*(one.open() for one in sessions)))
        chances = (random.Random(seed) for seed in range(4))
        acting = (
            pupil.read(one, pupil.lesson, 4, chance, replies.append, pause=0.5)
            for one, chance in zip(sessions, chances, strict=True)
        )
        await asyncio.gather(*acting)
        await asyncio.gather(*(one.close() for one in sessions))

    asyncio.run(lesson())
    assert not [fault for reply in replies for fault in reply.faults]
    assert {"open", "slider", "cell", "page"} == {reply.kind for reply in replies}
    assert len(replies) > 16
    assert process.memory(served.pid) > 50


def test_a_lost_connection_is_told(served: server.Server) -> None:
    async def visit() -> Reply:
        session = Session(served.url)
        await session.open()
        await session.close()
        return await session.turn("score")

    assert "disconnected" in asyncio.run(visit()).faults[0]


def test_no_server_is_told() -> None:
    assert "no connection" in asyncio.run(Session("http://127.0.0.1:9").open()).faults[0]


def complete(reply: Reply) -> bool:
    """Whether the matrices came, and then the end."""
    return not reply.faults and reply.answered is not None and reply.answered <= (reply.finished or 0)
