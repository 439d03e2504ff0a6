"""What a rerun costs the server: the CPU times that timed_app.py notes, put together press by press."""

from pathlib import Path


class CpuLog:
    """The log of one server; call `press()` before each action, once what came before has ended."""

    def __init__(self, file: Path) -> None:
        """The log is made here, so that it can be read before the first run."""
        self.file = file
        self.file.touch()
        self.starts: list[int] = []

    def press(self) -> None:
        """What runs from here on belongs to the next action."""
        self.starts.append(len(self.runs()))

    def runs(self) -> list[tuple[float, float]]:
        """(CPU seconds of the process when the run began, CPU seconds of the run's own thread) each."""
        return [(float(a), float(b)) for a, b in map(str.split, self.file.read_text().splitlines())]

    def per_press(self) -> list[tuple[float, float]]:
        """(the scripts' CPU seconds, the process's) of every action but the last.

        An action's process time lasts until the next action's first run begins, so it holds the sending
        of the messages and the cleaning up. RuntimeError if an action ran nothing.
        """
        runs, found = self.runs(), []
        for first, end in zip(self.starts, self.starts[1:], strict=False):
            if not first < end < len(runs):
                raise RuntimeError("an action that was to be measured ran no script")
            found.append((sum(thread for _, thread in runs[first:end]), runs[end][0] - runs[first][0]))
        return found
