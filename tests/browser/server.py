"""Start a Streamlit app on this machine as a user would, and stop it again."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
START_SECONDS = 60
# What Streamlit logs when a page throws, when .streamlit/config.toml names an unknown option, and so on.
FAULTS = (
    "Uncaught app execution",
    "is not a valid config option",
    "Error parsing config toml",  # then no line of it counts
    "was created with a default value",  # and has one from elsewhere: .streamlit/config.toml allows it
)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    url: str
    pid: int
    log: Path
    temporary: Path  # its folder for temporary files, of its own


@contextmanager
def serve(app: Path, *options: str) -> Generator[str]:
    """`streamlit run app` as in started(); yields its address."""
    with started(app, *options) as server:
        yield server.url


@contextmanager
def started(
    app: Path, *options: str, core: int | None = None, port: int | None = None, module: str = ""
) -> Generator[Server]:
    """`streamlit run app` from the project's folder on a free port of 127.0.0.1; kept on one core if asked.

    `module` serves the tutor in Streamlit's place, such as deploy.serve, with the same options.

    So every app has the project's settings and can import its packages. The home folder is new
    and empty and no STREAMLIT_ variable is set: no setting of this machine can help a test to
    pass. `options` are more options of the command, "--name=value".
    RuntimeError, with the server's own words, if it does not come up, or if it reports one of FAULTS.
    """
    with tempfile.TemporaryDirectory() as home:
        log = Path(home) / "server.log"
        port = port or free_port()
        url = f"http://127.0.0.1:{port}"
        temporary = Path(home) / "tmp"
        temporary.mkdir()
        command = [module] if module else ["streamlit", "run", str(app.resolve())]
        process = _start(command, port, options, home, log)
        if core is not None:
            os.sched_setaffinity(process.pid, {core})
        try:
            wait_until_healthy(process, url, log)
            yield Server(url, process.pid, log, temporary)
        finally:
            stop(process)
        if any(fault in log.read_text(errors="replace") for fault in FAULTS):
            raise RuntimeError(f"the server of {app.name} reports a fault:\n{_tail(log)}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _start(
    module: Sequence[str], port: int, options: tuple[str, ...], home: str, log: Path
) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    command = [
        *(sys.executable, "-m", *module),
        *("--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"),
        "--server.fileWatcherType=none",  # the app stays as it was started, even while files are edited
        "--logger.enableRich=false",  # a fault reads the same whether or not rich is installed
        *options,
    ]
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment | {"HOME": home, "USERPROFILE": home, "TMPDIR": str(Path(home) / "tmp")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def wait_until_healthy(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Until the app answers at `url`. RuntimeError with the end of `log` if it stops or does not come."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}:\n{_tail(log)}")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"the server was not healthy after {START_SECONDS} s:\n{_tail(log)}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End it, kindly at first."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-40:])
