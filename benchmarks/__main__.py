"""Measure and write docs/measured/bench.md: `python -m benchmarks [core] [start] [pages] [first]`.

Without a name, all of it, in about seven minutes.
"""

import sys
import time
from importlib import import_module

from benchmarks.report import write

SECTIONS = {
    "core": "attention_ratio",
    "start": "slider_to_paint",
    "pages": "pages_to_paint",
    "first": "first_load",
}


def main(names: list[str]) -> None:
    """The named sections, in the order of SECTIONS. SystemExit for a name that is none of them."""
    if unknown := set(names) - set(SECTIONS):
        sys.exit(f"There is no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}.")
    for name, module in SECTIONS.items():
        if name in names or not names:
            began = time.monotonic()
            write(import_module(f"benchmarks.{module}").section())  # only now: not all need PyTorch
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
