"""The tutor as it is served to others, which says what it holds: `python -m benchmarks.soaked`.

On SIGUSR1 it writes the number of threads of each name and of Python's objects into TOLD in its home folder.
From outside all of Python's threads are called "python", and a hole in memory is memory. See soak.py.
"""

import gc
import json
import os
import re
import signal
import threading
from collections import Counter
from pathlib import Path

from streamlit.watcher.polling_path_watcher import PollingPathWatcher

from deploy import serve

TOLD = "told.json"
# Streamlit looks for changed settings five times a second, by a pool that begins one more thread when all are
# busy at the moment, and keeps it: one more may come at any time, until there are as many as it may have.
SETTINGS = "Streamlit's watch of its settings"
MOST = {SETTINGS: PollingPathWatcher._executor._max_workers}


def main() -> None:
    """Serve until the process is told to stop."""
    signal.signal(signal.SIGUSR1, lambda *_: tell(Path.home() / TOLD))
    serve.main()


def tell(file: Path) -> None:
    """Write {"threads": {name: number}, "objects": number} at once, so that nobody reads half of it."""
    whole = file.with_suffix(".new")
    whole.write_text(json.dumps({"threads": threads(), "objects": objects()}), encoding="utf-8")
    whole.replace(file)


def objects() -> int:
    """How many objects can hold others, garbage not counted. To be asked while no page runs."""
    gc.collect()
    return len(gc.get_objects())


def threads() -> Counter[str]:
    """The threads of this process by name: Python's, and those that libraries began."""
    known = {thread.native_id: called(thread) for thread in threading.enumerate()}
    ids = map(int, os.listdir("/proc/self/task"))
    return Counter(known.get(one) or _outside(one) for one in ids)


def called(thread: threading.Thread) -> str:
    """A thread's name without its number; that of its pool, if it has a bound."""
    if thread in PollingPathWatcher._executor._threads:
        return SETTINGS
    return re.sub(r"[-_ ]?\d+$", "", thread.name)


def _outside(id: int) -> str:
    """What the system calls a thread that is none of Python's."""
    try:
        return Path(f"/proc/self/task/{id}/comm").read_text(encoding="utf-8").strip()
    except OSError:  # it has just ended
        return "ended"


if __name__ == "__main__":
    main()
