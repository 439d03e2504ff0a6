"""benchmarks/soaked.py: what a process says about its threads."""

import json
import threading
from pathlib import Path

from benchmarks import soaked


def test_threads_are_counted_by_name_while_they_live(tmp_path: Path) -> None:
    release = threading.Event()
    started = [threading.Thread(target=release.wait, name=f"reader_{i}") for i in range(3)]
    for thread in started:
        thread.start()
    file = tmp_path / "threads.json"
    soaked.tell(file)
    release.set()
    for thread in started:
        thread.join()
    told = json.loads(file.read_text())
    assert told["threads"]["reader"] == 3
    assert told["threads"]["MainThread"] == 1
    assert list(tmp_path.iterdir()) == [file]
    assert "reader" not in soaked.threads()


def test_the_pool_that_watches_settings_has_its_own_name() -> None:
    pool = soaked.PollingPathWatcher._executor
    pool.submit(int).result()
    assert soaked.threads()[soaked.SETTINGS] == len(pool._threads) <= soaked.MOST[soaked.SETTINGS]


def test_objects_are_counted_without_garbage() -> None:
    before = soaked.objects()
    kept = [[] for _ in range(1000)]
    for _ in range(1000):
        cycle: list = []
        cycle.append(cycle)
    assert 1000 <= soaked.objects() - before < 1100
    assert len(kept) == 1000
