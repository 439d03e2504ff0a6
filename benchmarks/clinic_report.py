"""docs/measured/clinic.md: what the benchmarks of the clinic write into."""

from pathlib import Path

from benchmarks.report import Section, write

FILE = Path(__file__).parents[1] / "docs" / "measured" / "clinic.md"
HEAD = """# The clinic, measured

Written by `make clinic-accuracy`, never by hand: [faults to name and right code not to accuse][accuracy],
[malformed files to refuse][fuzz].

[accuracy]: ../../benchmarks/clinic_accuracy.py
[fuzz]: ../../benchmarks/clinic_fuzz.py
"""


def report(section: Section) -> None:
    """Put the section into the file."""
    if not FILE.exists():
        FILE.write_text(HEAD, encoding="utf-8")
    write(section, FILE)
