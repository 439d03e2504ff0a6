"""The class poll's store: classes, questions and anonymous votes in any SQL database that SQLAlchemy speaks.

No names, no addresses: a vote carries a random token of the browser's tab, and of that only a hash
which differs for each question, so that votes cannot be put together into a person. Everything of a
class is forgotten hours after it was last used. What a visitor sends is checked for its form and then
only ever bound to a parameter.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ui.poll_tables import (
    CLASSES,
    CODE_LENGTH,
    VOTES,
    WRITES,
    PollAway,
    make_tables,
    prepare_sqlite,
    reaching,
)

HOURS_KEPT = 12.0
MOST_CLASSES = 500
MOST_VOTES = 500  # in one round of one question
MOST_VOTES_OF_A_CLASS = 10_000
LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that looks like another


class PollRefused(ValueError):
    """The store is there and will not do this; the message says why, for the person who asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a class is asked at the moment."""

    code: str
    item: str  # id of a quiz item; "" before the first question
    seed: int
    round: int  # 1, and 2 or more after "vote again"
    revealed: bool = False  # the teacher has shown the answer, and the vote is over


class PollStore:
    """All that pages may do with the poll. Every method may raise PollAway or PollRefused."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        """Use this database; make the tables if they are not there."""
        self._engine = engine
        self._clock = clock
        if engine.dialect.name == "sqlite":
            prepare_sqlite(engine)
        make_tables(engine)

    def open_class(self) -> tuple[str, str]:
        """-> a new class's code for everybody, and the key that only its teacher has."""
        key = secrets.token_urlsafe(16)
        with self._writing() as connection:
            self._forget(connection)
            if self._count(connection, CLASSES) >= MOST_CLASSES:
                raise PollRefused("Too many classes are open just now. Try again in an hour.")
            for _ in range(8):
                code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
                row = {"code": code, "key_hash": _hash(code, key), "item": "", "seed": 0, "round": 0}
                new = self._insert(CLASSES).values(**row, revealed=0, used_at=self._clock())
                was_free = new.on_conflict_do_nothing().returning(CLASSES.c.code)
                if connection.scalar(was_free) == code:
                    return code, key
        raise PollAway("No free class code was found. Try again.")

    def ask(self, code: str, key: str, item: str, seed: int = 0) -> Question:
        """Put a question to the class. The same one again opens its next round: all vote anew."""
        if not re.fullmatch(r"[A-Za-z0-9]{1,16}", item) or not 0 <= seed <= 9999:
            raise PollRefused("There is no such question.")
        with self._writing() as connection:
            asked = self._class(connection, code, key)
            if self._count(connection, VOTES, VOTES.c.code == asked.code) >= MOST_VOTES_OF_A_CLASS:
                raise PollRefused("This class has had very many votes. Open a new one.")
            same = (asked.item, asked.seed) == (item, seed)
            number = asked.round + 1 if same else self._last_round(connection, asked.code, item, seed) + 1
            changes = {"item": item, "seed": seed, "round": number, "revealed": 0, "used_at": self._clock()}
            connection.execute(update(CLASSES).where(CLASSES.c.code == asked.code).values(changes))
        return Question(asked.code, item, seed, number)

    def reveal(self, code: str, key: str) -> Question:
        """End the vote on the present question and let everybody see the answer."""
        with self._writing() as connection:
            asked = self._class(connection, code, key)
            if not asked.item:
                raise PollRefused("No question has been asked yet.")
            changes = {"revealed": 1, "used_at": self._clock()}
            connection.execute(update(CLASSES).where(CLASSES.c.code == asked.code).values(changes))
        return replace(asked, revealed=True)

    def question(self, code: str) -> Question:
        """What this class is asked at the moment."""
        with self._reading() as connection:
            return self._class(connection, code)

    def vote(self, asked: Question, voter: str, choice: str) -> None:
        """Count a vote on the question that the voter saw; voting again replaces the first vote."""
        if not (asked.item and 0 < len(choice) <= 32 and choice.isprintable()):
            raise PollRefused("This is no vote.")
        with self._writing() as connection:
            current = self._class(connection, asked.code)
            if replace(current, revealed=False) != replace(asked, revealed=False):
                raise PollRefused("The class has moved on to another question.")
            if current.revealed:
                raise PollRefused("The answer has been shown: this vote is over.")
            voter = _hash(asked.code, asked.item, asked.seed, asked.round, voter)
            if self._others(connection, asked, voter) >= MOST_VOTES:
                raise PollRefused(f"This question has its {MOST_VOTES} votes.")
            round_of = {name: getattr(asked, name) for name in ("code", "item", "seed", "round")}
            new = self._insert(VOTES).values(**round_of, voter=voter, choice=choice)
            key = list(VOTES.primary_key)
            connection.execute(
                new.on_conflict_do_update(index_elements=key, set_={"choice": new.excluded.choice})
            )
            self._touch(connection, asked.code)

    def my_vote(self, asked: Question, voter: str) -> str | None:
        """The choice of this voter on this question, or None."""
        with self._reading() as connection:
            voter = _hash(asked.code, asked.item, asked.seed, asked.round, voter)
            return connection.scalar(select(VOTES.c.choice).where(*_of(asked), VOTES.c.voter == voter))

    def counts(self, asked: Question) -> dict[str, int]:
        """choice -> votes, of one round of one question."""
        with self._reading() as connection:
            found = (
                select(VOTES.c.choice, func.count().label("votes"))
                .where(*_of(asked))
                .group_by(VOTES.c.choice)
            )
            return {row.choice: row.votes for row in connection.execute(found)}

    def close_class(self, code: str, key: str) -> None:
        """Forget a class and all its votes now."""
        with self._writing() as connection:
            asked = self._class(connection, code, key)
            connection.execute(delete(VOTES).where(VOTES.c.code == asked.code))
            connection.execute(delete(CLASSES).where(CLASSES.c.code == asked.code))

    def forget_old(self) -> None:
        """Forget every class that was not used for HOURS_KEPT. open_class does this too."""
        with self._writing() as connection:
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        oldest = self._clock() - HOURS_KEPT * 3600
        old = select(CLASSES.c.code).where(CLASSES.c.used_at < oldest)
        connection.execute(delete(VOTES).where(VOTES.c.code.in_(old)))
        connection.execute(delete(CLASSES).where(CLASSES.c.used_at < oldest))

    def _class(self, connection: Connection, code: str, key: str | None = None) -> Question:
        """The class of a code as people type it; with a key, only for its teacher."""
        code = normal_code(code)
        oldest = self._clock() - HOURS_KEPT * 3600
        found = select(CLASSES).where(CLASSES.c.code == code, CLASSES.c.used_at >= oldest)
        row = connection.execute(found).first()
        if row is None:
            raise PollRefused(f"There is no class {code} (any more). Ask your teacher for the code.")
        if key is not None and not secrets.compare_digest(row.key_hash, _hash(code, key)):
            raise PollRefused("Only the teacher who opened the class can do this.")
        return Question(row.code, row.item, row.seed, row.round, bool(row.revealed))

    @staticmethod
    def _last_round(connection: Connection, code: str, item: str, seed: int) -> int:
        """The last round in which this question got votes; 0 if none."""
        mine = (VOTES.c.code == code, VOTES.c.item == item, VOTES.c.seed == seed)
        return connection.scalar(select(func.max(VOTES.c.round)).where(*mine)) or 0

    @staticmethod
    def _count(connection: Connection, table: Table, *where: ColumnElement[bool]) -> int:
        return connection.scalar(select(func.count()).select_from(table).where(*where)) or 0

    def _others(self, connection: Connection, asked: Question, voter: str) -> int:
        """How many other voters a question has. Who has voted may always vote again."""
        return self._count(connection, VOTES, *_of(asked), VOTES.c.voter != voter)

    def _touch(self, connection: Connection, code: str) -> None:
        """Note that a class is in use, once a minute at most: many votes arrive at once."""
        now = self._clock()
        stale = (CLASSES.c.code == code, CLASSES.c.used_at < now - 60)
        connection.execute(update(CLASSES).where(*stale).values(used_at=now))

    def _insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what to do where the row is there already."""
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        return dialect.insert(table)

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """One transaction, from its first statement the only one that writes to an SQLite file."""
        with reaching(), self._engine.execution_options(**{WRITES: True}).begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        with reaching(), self._engine.connect() as connection:
            yield connection


def normal_code(code: str) -> str:
    """A class code as people type it -> as it is stored. Raises PollRefused for anything else."""
    code = re.sub(r"[\s-]", "", code[:40]).upper()
    if len(code) != CODE_LENGTH or not set(code) <= set(LETTERS):
        raise PollRefused(f"A class code has {CODE_LENGTH} letters and digits, such as {LETTERS[3:9]}.")
    return code


def new_voter() -> str:
    """A random token for one browser tab; keep it there, in the session, and nowhere else."""
    return secrets.token_urlsafe(16)


def _of(asked: Question) -> tuple:
    """The conditions for the votes of one round of one question."""
    return (
        VOTES.c.code == asked.code,
        VOTES.c.item == asked.item,
        VOTES.c.seed == asked.seed,
        VOTES.c.round == asked.round,
    )


def _hash(*parts: str | int) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()
