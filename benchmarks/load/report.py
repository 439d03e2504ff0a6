"""The measured figures as a Markdown page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load.numbers import percentile
from benchmarks.load.session import Reply

MEASURED = Path(__file__).parents[2] / "docs" / "measured"


@dataclass(frozen=True, slots=True)
class Measured:
    """One server under one number of sessions."""

    app: str
    sessions: int
    seconds: float
    opened: Sequence[Reply]  # one first run for each session
    replies: Sequence[Reply]
    cpu: float  # share of one core while the sessions act
    client_cpu: float
    others: float  # share of the server's core that something else took meanwhile
    mb_before: float
    mb_open: float  # with all sessions open, at the end
    mb_closed: float

    @property
    def faults(self) -> list[str]:
        """Everything that went wrong, in words."""
        return [fault for reply in (*self.opened, *self.replies) for fault in reply.faults]

    @property
    def answers(self) -> list[float]:
        """Milliseconds until the changed matrices (the floor app: the changed line) had arrived."""
        return [1000 * reply.answered for reply in self.replies if reply.answered is not None]

    @property
    def ends(self) -> list[float]:
        """Milliseconds until the run's end."""
        return [1000 * reply.finished for reply in self.replies if reply.finished is not None]


COLUMNS = (
    "app", "sessions", "seconds", "actions",
    "to the matrices: median, ms", "p95, ms", "to the end: median, ms", "p95, ms",
    "errors", "server's core: server", "others", "MB before, with all, after",
)  # fmt: skip


def row(one: Measured) -> list[str]:
    """The cells of one line, as COLUMNS names them."""
    return [
        one.app, str(one.sessions), f"{one.seconds:.0f}", str(len(one.replies)),
        f"{percentile(one.answers, 0.5):.0f}", f"{percentile(one.answers, 0.95):.0f}",
        f"{percentile(one.ends, 0.5):.0f}", f"{percentile(one.ends, 0.95):.0f}",
        str(len(one.faults)), f"{one.cpu:.0%}", f"{one.others:.0%}",
        f"{one.mb_before:.0f}, {one.mb_open:.0f}, {one.mb_closed:.0f}",
    ]  # fmt: skip


def by_kind(one: Measured) -> list[list[str]]:
    """One line for each kind of action."""
    kinds = sorted({reply.kind for reply in one.replies})
    groups = {kind: [reply for reply in one.replies if reply.kind == kind] for kind in kinds}
    groups["open"] = list(one.opened)
    lines = []
    for kind, replies in groups.items():
        ends = [1000 * reply.finished for reply in replies if reply.finished is not None]
        kilobytes = [reply.n_bytes / 1000 for reply in replies]
        if ends:
            lines.append([
                kind, str(len(replies)), f"{percentile(ends, 0.5):.0f}", f"{percentile(ends, 0.95):.0f}",
                f"{percentile(kilobytes, 0.5):.0f}",
            ])  # fmt: skip
    return lines


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(name: str, text: str) -> None:
    """Put a page into docs/measured and print it."""
    MEASURED.mkdir(parents=True, exist_ok=True)
    (MEASURED / name).write_text(text + "\n", encoding="utf-8")
    print(text)
