"""benchmarks/soaked.py: what a process says about its threads."""

import json
import threading
from pathlib import Path

from benchmarks import soaked


def test_threads_are_counted_by_name_while_they_live(tmp_path: Path) -> None:
    release = threading.Event()
    threads = [threading.Thread(target=release.wait, name=f"reader_{i}") for i in range(3)]
    for thread in threads:
        thread.start()
    file = tmp_path / "threads.json"
    soaked.tell(file)
    release.set()
    for thread in threads:
        thread.join()
    told = json.loads(file.read_text())
    assert told["reader"] == 3
    assert told["MainThread"] == 1
    assert list(tmp_path.iterdir()) == [file]
    assert "reader" not in soaked.now()


def test_the_pool_that_watches_settings_has_its_own_name() -> None:
    pool = soaked.PollingPathWatcher._executor
    pool.submit(int).result()
    assert soaked.now()[soaked.SETTINGS] == len(pool._threads) <= soaked.MOST[soaked.SETTINGS]
