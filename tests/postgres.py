"""A PostgreSQL server for a test: in a folder of its own, on this machine only, stopped afterwards."""

import os
import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.debian import found_or_installed

MISSING = (
    "The poll's tests need PostgreSQL's server programs and found none: install them "
    "(Debian and Ubuntu: `apt-get install postgresql`), or put initdb and pg_ctl on the PATH."
)
PLACES = ("/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt")


class Server:
    """One server; `url` is its address for SQLAlchemy."""

    def __init__(self, folder: Path) -> None:
        """Make an empty database cluster in `folder`."""
        self.data = folder / "data"
        self._programs = _programs()
        self._as_user = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root: then its own user does
            self._as_user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql+psycopg://poll@127.0.0.1:{self.port}/postgres?connect_timeout=2"
        self._run(
            "initdb", "--auth=trust", "--username=poll", "--encoding=UTF8", "--no-sync", "-D", str(self.data)
        )

    def start(self) -> None:
        """Start, and wait until it answers."""
        listen = f"-h 127.0.0.1 -p {self.port} -k {self.data} -F"
        self._run("pg_ctl", "start", "-w", "-D", str(self.data), "-o", listen, "-l", str(self.data / "log"))

    def stop(self) -> None:
        """Stop at once."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self.data))

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._programs / program), *arguments]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout}{done.stderr}")


@contextmanager
def serve(folder: Path) -> Generator[Server]:
    """A running server for the length of a block."""
    server = Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _programs() -> Path:
    """The folder that holds initdb; Debian installs what is missing where we are root."""
    return found_or_installed(_find, "postgresql", MISSING)


def _find() -> Path | None:
    """The newest of the usual folders, else what is on the PATH."""
    places = [folder for place in PLACES for folder in sorted(Path(place).glob("*/bin"), reverse=True)]
    on_path = shutil.which("initdb")
    places += [Path(on_path).parent] if on_path else []
    return next(
        (place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None
    )
