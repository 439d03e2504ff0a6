"""The class poll's tables and the reaching of them.

SQLite by default: one file, which all processes of one machine share. PostgreSQL, or whatever else
SQLAlchemy can insert-or-update in, when several machines serve one class.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Column, Connection, Engine, Float, Integer, MetaData, String, Table, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateTable

AWAY = "The class poll cannot be reached just now. The lesson goes on without it."
CODE_LENGTH = 6
BUSY_SECONDS = 2.0  # how long a process waits for another that writes to the same SQLite file
WRITES = "poll_writes"  # execution option of the transactions that write

TABLES = MetaData()
CLASSES = Table(
    "poll_class",
    TABLES,
    Column("code", String(CODE_LENGTH), primary_key=True),
    Column("key_hash", String(64), nullable=False),
    Column("item", String(16), nullable=False),
    Column("seed", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("revealed", Integer, nullable=False),  # 0 or 1
    Column("used_at", Float, nullable=False, index=True),
)
VOTES = Table(
    "poll_vote",
    TABLES,
    Column("code", String(CODE_LENGTH), primary_key=True),
    Column("item", String(16), primary_key=True),
    Column("seed", Integer, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("voter", String(64), primary_key=True),
    Column("choice", String(32), nullable=False),
)


class PollAway(RuntimeError):
    """The store cannot be reached just now; the message is for the screen. The lesson goes on without it."""


def default_url(folder: Path | None = None) -> str:
    """The address of the SQLite file that all processes of this user on this machine share.

    In `folder`, or in the user's cache folder. Raises PollAway where there is none to write to.
    """
    if folder is None:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attention-tutor"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise PollAway(AWAY) from error
    return f"sqlite:///{(folder / 'poll.sqlite').as_posix()}"


@contextmanager
def reaching() -> Generator[None]:
    """Whatever keeps the database from answering becomes PollAway: also an address that leads nowhere."""
    try:
        yield
    except (SQLAlchemyError, ImportError) as error:  # ImportError: the database's driver is not installed
        raise PollAway(AWAY) from error


def prepare_sqlite(engine: Engine) -> None:
    """Let many processes read while one writes, and wait for one another rather than fail."""
    if not event.contains(engine, "connect", _on_connect):
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)


def _on_connect(connection, _record) -> None:  # noqa: ANN001 - the driver's own connection
    connection.isolation_level = None  # transactions begin where _on_begin says, not where the driver thinks
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _on_begin(connection: Connection) -> None:
    """A transaction that will write says so at once: one that finds out later cannot wait, it fails."""
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def make_tables(engine: Engine) -> None:
    """Make what is missing. Two processes that start together may both try: the second try settles it."""
    for attempt in (1, 2):
        try:
            with reaching(), engine.execution_options(**{WRITES: True}).begin() as connection:
                for table in TABLES.sorted_tables:
                    connection.execute(CreateTable(table, if_not_exists=True))
            return
        except PollAway:
            if attempt == 2:
                raise
