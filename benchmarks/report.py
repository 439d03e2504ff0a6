"""What every benchmark hands in: tables of Markdown, and the file that holds them, a section each.

A section that is measured alone replaces itself in the file and leaves the others as they are.
"""

import os
import platform
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path

FILE = Path(__file__).parents[1] / "docs" / "measured" / "bench.md"
HEAD = """# Measured

Written by `make bench`, never by hand. [README.md](README.md) tells how to read it.
"""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: the names of its columns, and rows of ready texts."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The first column is words, the others are numbers and stand at the right."""
        rules = [":--", *["--:"] * (len(self.columns) - 1)]
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} columns: {row}")
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (self.columns, rules, *self.rows))


@dataclass(frozen=True, slots=True)
class Section:
    """What one benchmark found. `tables` may hold sentences between its tables."""

    title: str
    about: str  # what was measured against what, in a few sentences
    packages: Sequence[str]  # whose versions belong to the figures
    tables: Sequence[Table | str]

    def markdown(self) -> str:
        """The section as it stands in the file."""
        parts = [part if isinstance(part, str) else part.markdown() for part in self.tables]
        return "\n\n".join([f"## {self.title}", self.about, *parts, f"*{measured_on(self.packages)}*"]) + "\n"


def ratio(ours: Sequence[float], others: Sequence[float]) -> float:
    """Median over the rounds of ours / theirs: what slows a whole round down falls on both."""
    return statistics.median(one / other for one, other in zip(ours, others, strict=True))


def put(text: str, section: str) -> str:
    """The file's text with this section in the place of the one with the same heading, or at the end."""
    heading = section.splitlines()[0]
    before, *sections = re.split(r"^(?=## )", text or HEAD, flags=re.MULTILINE)
    kept = {old.splitlines()[0]: old.strip() + "\n" for old in sections}
    kept[heading] = section.strip() + "\n"
    return "\n".join([before.strip() + "\n", *kept.values()])


def write(section: Section, file: Path = FILE) -> None:
    """Put the section into the file, and print it."""
    made = section.markdown()
    print(made, flush=True)
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(put(text, made), encoding="utf-8")


def measured_on(packages: Sequence[str]) -> str:
    """The day, the machine and the versions; nothing that names a person's machine."""
    versions = [f"{name} {metadata.version(name)}" for name in packages]
    python = f"Python {platform.python_version()}"
    machine = f"{os.cpu_count()} cores, {processor()}, {platform.system()}"
    return f"{date.today().isoformat()}: {machine}; {', '.join([python, *versions])}"


def processor() -> str:
    """The processor's model, as far as the system tells it."""
    listed = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", listed.read_text()) if listed.exists() else None
    return found[1].strip() if found else platform.processor() or platform.machine()
