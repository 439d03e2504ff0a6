"""The poll on SQLite and on PostgreSQL: the same tests for both."""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from tests import postgres
from ui.poll_store import HOURS_KEPT, MOST_VOTES, PollRefused, PollStore, Question, new_voter, normal_code
from ui.poll_tables import TABLES, PollAway, default_url

ROOT = Path(__file__).parents[2]


class Clock:
    """Time that stands still until it is moved."""

    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def postgres_url():
    with tempfile.TemporaryDirectory() as folder, postgres.serve(Path(folder)) as server:
        yield server.url


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request, tmp_path):
    url = default_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    made = create_engine(url)
    yield made
    TABLES.drop_all(made)
    made.dispose()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(engine, clock):
    return PollStore(engine, clock)


@pytest.fixture
def asked(store):
    code, key = store.open_class()
    return store.ask(code, key, "S3")


def test_a_class_votes_and_sees_the_counts(store, asked):
    for choice in ("row", "column", "column", "both"):
        store.vote(asked, new_voter(), choice)
    assert store.counts(asked) == {"row": 1, "column": 2, "both": 1}
    assert store.question(asked.code) == asked == Question(asked.code, "S3", 0, 1)


def test_a_second_vote_replaces_the_first(store, asked):
    store.vote(asked, "me", "row")
    assert store.my_vote(asked, "me") == "row"
    store.vote(asked, "me", "column")
    assert store.counts(asked) == {"column": 1}
    assert store.my_vote(asked, "me") == "column"
    assert store.my_vote(asked, "somebody else") is None


def test_vote_again_is_a_round_of_its_own(store):
    code, key = store.open_class()
    first = store.ask(code, key, "W1")
    store.vote(first, "me", "same")
    second = store.ask(code, key, "W1")
    assert second.round == 2
    assert store.counts(second) == {}
    store.vote(second, "me", "sharper")
    assert (store.counts(first), store.counts(second)) == ({"same": 1}, {"sharper": 1})
    store.ask(code, key, "W2")
    assert store.ask(code, key, "W1").round == 3
    assert store.ask(code, key, "W1", seed=7) == Question(code, "W1", 7, 1)


def test_a_vote_on_a_question_that_has_passed_is_refused(store):
    code, key = store.open_class()
    first = store.ask(code, key, "W1")
    store.ask(code, key, "W2")
    with pytest.raises(PollRefused, match="moved on"):
        store.vote(first, "me", "same")
    assert store.counts(first) == {}


def test_the_answer_ends_the_vote_until_the_class_votes_again(store):
    code, key = store.open_class()
    with pytest.raises(PollRefused, match="No question"):
        store.reveal(code, key)
    first = store.ask(code, key, "W1")
    store.vote(first, "me", "same")
    assert store.reveal(code, key) == store.question(code) == replace(first, revealed=True)
    with pytest.raises(PollRefused, match="is over"):
        store.vote(first, "me", "sharper")
    assert store.counts(store.question(code)) == {"same": 1}
    assert store.my_vote(store.question(code), "me") == "same"
    again = store.ask(code, key, "W1")
    assert (again.round, again.revealed) == (2, False)
    store.vote(again, "me", "sharper")


def test_only_the_teacher_asks_and_closes(store, asked):
    for key in ("", "guess", "\ud800", "' OR 1=1 --"):
        with pytest.raises(PollRefused, match="Only the teacher"):
            store.ask(asked.code, key, "W1")
        with pytest.raises(PollRefused, match="Only the teacher"):
            store.reveal(asked.code, key)
        with pytest.raises(PollRefused, match="Only the teacher"):
            store.close_class(asked.code, key)


def test_classes_do_not_see_one_another(store, asked):
    code, key = store.open_class()
    other = store.ask(code, key, "S3")
    store.vote(asked, "me", "row")
    assert store.counts(other) == {}


def test_a_closed_class_is_gone_with_its_votes(store, engine):
    code, key = store.open_class()
    store.vote(store.ask(code, key, "S3"), "me", "row")
    store.close_class(code, key)
    with pytest.raises(PollRefused, match="no class"):
        store.question(code)
    assert rows(engine) == (0, 0)


def test_a_class_is_forgotten_hours_after_its_last_use(store, engine, clock, asked):
    store.vote(asked, "me", "row")
    clock.now += (HOURS_KEPT - 1) * 3600
    store.vote(asked, "you", "row")  # used again: the hours count anew
    clock.now += (HOURS_KEPT - 1) * 3600
    assert store.counts(asked) == {"row": 2}
    clock.now += 2 * 3600
    with pytest.raises(PollRefused, match="no class"):
        store.question(asked.code)
    store.forget_old()
    assert rows(engine) == (0, 0)


def test_opening_a_class_forgets_the_old_ones(store, engine, clock):
    for _ in range(3):
        store.open_class()
    clock.now += HOURS_KEPT * 3600 + 1
    store.open_class()
    assert rows(engine) == (1, 0)


def test_codes_are_typed_as_people_type(store, asked):
    typed = f" {asked.code[:3].lower()}-{asked.code[3:]} "
    assert store.question(typed) == asked


@pytest.mark.parametrize(
    "code",
    [
        "",
        "ABC",
        "ABCDEFG",
        "'; DROP TABLE poll_class; --",
        "AB'DEF",
        "ABCD\x00F",
        "\ud800" * 6,
        "ÄBCDEF",
        "A" * 10**6,
        "ßß",
    ],
)
def test_hostile_codes_are_refused_in_a_sentence(store, engine, asked, code):
    with pytest.raises(PollRefused, match="A class code has 6 letters"):
        store.question(code)
    with pytest.raises(PollRefused):
        store.vote(replace(asked, code=code), "me", "row")
    assert rows(engine) == (1, 0)


@pytest.mark.parametrize("item", ["", "S3'; --", "S" * 17, "W\x00", "\ud800"])
def test_hostile_questions_are_refused(store, item):
    code, key = store.open_class()
    with pytest.raises(PollRefused, match="no such question"):
        store.ask(code, key, item)


@pytest.mark.parametrize("choice", ["", "x" * 33, "a\x00b", "\ud800", "\n"])
def test_hostile_votes_are_refused(store, asked, choice):
    with pytest.raises(PollRefused, match="no vote"):
        store.vote(asked, "me", choice)
    assert store.counts(asked) == {}


def test_what_looks_like_sql_is_only_text(store, engine, asked):
    store.vote(asked, "'; DROP TABLE poll_vote; --", "') OR 1=1; --")
    assert store.counts(asked) == {"') OR 1=1; --": 1}
    assert set(inspect(engine).get_table_names()) == {"poll_class", "poll_vote"}


def test_no_vote_names_its_voter(store, engine, asked):
    store.vote(asked, "token of one browser", "row")
    code, key = store.open_class()
    store.vote(store.ask(code, key, "S3"), "token of one browser", "row")
    with engine.connect() as connection:
        voters = {row.voter for row in connection.execute(text("SELECT voter FROM poll_vote"))}
    assert len(voters) == 2, "the same browser cannot be recognised in another question"
    assert not any("token" in voter for voter in voters)


def test_the_number_of_votes_is_capped(store, asked, monkeypatch):
    monkeypatch.setattr("ui.poll_store.MOST_VOTES", 3)
    for voter in "abc":
        store.vote(asked, voter, "row")
    with pytest.raises(PollRefused, match="has its 3 votes"):
        store.vote(asked, "d", "row")
    store.vote(asked, "a", "column")
    assert store.counts(asked) == {"row": 2, "column": 1}
    assert MOST_VOTES >= 100


def test_the_number_of_classes_and_of_a_classs_votes_is_capped(store, monkeypatch):
    code, key = store.open_class()
    monkeypatch.setattr("ui.poll_store.MOST_CLASSES", 1)
    with pytest.raises(PollRefused, match="Too many classes"):
        store.open_class()
    store.vote(store.ask(code, key, "S3"), "me", "row")
    monkeypatch.setattr("ui.poll_store.MOST_VOTES_OF_A_CLASS", 1)
    with pytest.raises(PollRefused, match="very many votes"):
        store.ask(code, key, "S3")


def test_no_question_no_vote(store):
    code, _ = store.open_class()
    with pytest.raises(PollRefused, match="no vote"):
        store.vote(store.question(code), "me", "row")


def test_a_whole_class_votes_at_once(store, asked):
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda voter: store.vote(asked, f"{voter % 30}", "ab"[voter % 2]), range(60)))
    assert store.counts(asked) == {"a": 15, "b": 15}


VOTE = """
import sys
from sqlalchemy import create_engine
from ui.poll_store import PollStore
url, code, name = sys.argv[1:]
store = PollStore(create_engine(url))
for vote in range(10):
    store.vote(store.question(code), f"{name}{vote}", "row")
"""


def test_processes_share_the_store(engine):
    """With two processes more that make their tables at the same moment."""
    store = PollStore(engine)
    code, key = store.open_class()
    asked = store.ask(code, key, "S3")
    url = engine.url.render_as_string(hide_password=False)
    others = [subprocess.Popen([sys.executable, "-c", VOTE, url, code, name], cwd=ROOT) for name in "ab"]
    assert [other.wait(timeout=60) for other in others] == [0, 0]
    assert store.counts(asked) == {"row": 20}


def test_making_the_store_again_changes_nothing(store, engine, asked):
    store.vote(asked, "me", "row")
    assert PollStore(engine, store._clock).counts(asked) == {"row": 1}


def test_sqlite_writes_ahead(tmp_path):
    engine = create_engine(default_url(tmp_path))
    PollStore(engine)
    with engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
    engine.dispose()


def test_sqlite_that_cannot_be_opened_is_away(tmp_path):
    (tmp_path / "poll.sqlite").mkdir()
    engine = create_engine(default_url(tmp_path))
    with pytest.raises(PollAway, match="The lesson goes on"):
        PollStore(engine)
    (tmp_path / "file").touch()
    with pytest.raises(PollAway, match="The lesson goes on"):
        default_url(tmp_path / "file" / "folder")


def test_a_damaged_sqlite_file_is_away(tmp_path):
    (tmp_path / "poll.sqlite").write_bytes(b"this is no database" * 1000)
    with pytest.raises(PollAway):
        PollStore(create_engine(default_url(tmp_path)))


def test_postgresql_that_stops_is_away_and_comes_back():
    with tempfile.TemporaryDirectory() as folder, postgres.serve(Path(folder)) as server:
        engine = create_engine(server.url)
        store = PollStore(engine)
        code, key = store.open_class()
        asked = store.ask(code, key, "S3")
        store.vote(asked, "me", "row")
        server.stop()
        for attempt in (
            lambda: store.counts(asked),
            lambda: store.vote(asked, "me", "row"),
            lambda: PollStore(engine),
        ):
            with pytest.raises(PollAway, match="The lesson goes on"):
                attempt()
        server.start()
        assert store.counts(asked) == {"row": 1}
        engine.dispose()


def test_normal_code_is_stable():
    assert normal_code("abc def") == normal_code("ABC-DEF") == "ABCDEF"


def rows(engine):
    with engine.connect() as connection:
        return tuple(
            connection.scalar(text(f"SELECT count(*) FROM {name}")) for name in ("poll_class", "poll_vote")
        )
