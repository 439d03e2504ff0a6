"""Runs of the script, put together to the presses that caused them."""

import pytest

from benchmarks.rerun_cpu import CpuLog


def run(log, process, thread):
    with log.file.open("a") as lines:
        lines.write(f"{process} {thread}\n")


@pytest.fixture
def log(tmp_path):
    return CpuLog(tmp_path / "log")


def test_every_run_belongs_to_the_press_before_it(log):
    run(log, 0.5, 0.25)  # the page's first run, before any press
    for process in (1.0, 2.0, 4.0):
        log.press()
        run(log, process, 0.125)
    run(log, 4.5, 0.0625)  # the last press's second run
    log.press()
    run(log, 8.0, 0.125)
    assert log.per_press() == [(0.125, 1.0), (0.125, 2.0), (0.1875, 4.0)]


def test_a_press_that_ran_nothing_is_an_error(log):
    log.press()
    log.press()
    run(log, 1.0, 0.125)
    with pytest.raises(RuntimeError, match="ran no script"):
        log.per_press()
