"""What Linux says about the server's process, and about the machine."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

MB = 1024 * 1024
PACKAGES = ("streamlit", "numpy", "plotly", "uvicorn", "websockets")


def memory(pid: int) -> float:
    """Resident memory in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MB


def cpu_seconds(pid: int) -> float:
    """Processor time used so far, by all threads."""
    # The name in brackets may hold blanks; the numbers follow the last bracket.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds(core: int | None) -> float:
    """Processor time that one core, or all where none is named, has spent on work of usual priority."""
    name = "cpu" if core is None else f"cpu{core}"
    lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    (ticks,) = (list(map(int, line.split()[1:9])) for line in lines if line.split()[0] == name)
    _, nice, _, idle, waiting, *_ = ticks  # what is nice gives way at once
    return (sum(ticks) - nice - idle - waiting) / os.sysconf("SC_CLK_TCK")


def handles(pid: int) -> int:
    """How many files and sockets are open now."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def machine() -> str:
    """Cores, processor and versions, in one line; no names of machines or people."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores, {_processor()}, Linux {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}, {packages}"
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def share_cores() -> int | None:
    """Keep this process off the last core; -> that core, for the server alone. None if there is but one."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return None
    os.sched_setaffinity(0, cores[:-1])
    return cores[-1]
