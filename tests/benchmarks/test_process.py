"""What Linux says about a process, against what this process knows about itself."""

import os
import time

import numpy as np

from benchmarks.load import process


def test_memory_grows_by_what_is_taken() -> None:
    before = process.memory(os.getpid())
    taken = np.ones(8 * 1024 * 1024)  # 64 MB
    assert 60 < process.memory(os.getpid()) - before < 70
    assert taken.sum() > 0


def test_processor_time_is_that_of_the_process() -> None:
    while time.process_time() < 0.5:
        pass
    assert abs(process.cpu_seconds(os.getpid()) - time.process_time()) < 0.1


def test_the_machine_is_told_without_names_of_its_own() -> None:
    told = process.machine()
    assert "streamlit 1.67.0" in told
    assert os.uname().nodename not in told


def test_a_core_is_busy_while_this_process_uses_it() -> None:
    busy, own = process.busy_seconds(None), time.process_time()
    while time.process_time() < own + 0.3:
        pass
    assert process.busy_seconds(None) - busy > 0.25
