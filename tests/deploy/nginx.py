"""The set-up of deploy/ for a test: its nginx files and two processes of the app, on this machine only."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.browser.server import ROOT, free_port, stop, wait_until_healthy
from tests.debian import found_or_installed

MISSING = (
    "The tests of deploy/ need nginx and found none: install it (Debian and Ubuntu: `apt-get install nginx`; "
    "macOS: `brew install nginx`), or put it on the PATH."
)
SHIPPED = ROOT / "deploy" / "nginx"
# What a distribution's own nginx.conf does around deploy/nginx/*.conf, here without any right of root's.
AROUND = """
daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 512; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/conf.d/*.conf;
}}
"""


class Site:
    """nginx and the processes behind it; `url` is the site's address, `ports` those of the processes."""

    def __init__(self, folder: Path, ports: Sequence[int], base_path: str = "") -> None:
        """Write nginx's files for processes at `ports`: those of deploy/, with other ports and a log here."""
        self.folder, self.ports, self.base_path = folder, tuple(ports), base_path
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}" + (f"/{base_path}" if base_path else "")
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        (folder / "conf.d").mkdir()
        for file in SHIPPED.glob("*.conf"):
            (folder / "conf.d" / file.name).write_text(self._with_ports(file.read_text(encoding="utf-8")))
        (folder / "nginx.conf").write_text(AROUND.format(folder=folder))

    def _with_ports(self, text: str) -> str:
        changed = {"8080": f"127.0.0.1:{self.port}", "8501": str(self.ports[0]), "8502": str(self.ports[1])}
        text = text.replace("/var/log/nginx", str(self.folder))
        return re.sub(r"\b(8080|8501|8502)\b", lambda found: changed[found[0]], text)

    def start_process(self, port: int) -> None:
        """One process of the app, started as deploy/ says, with no setting of this machine's."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
        environment |= {
            "HOME": str(home),
            "STREAMLIT_SERVER_PORT": str(port),
            "STREAMLIT_SERVER_BASE_URL_PATH": self.base_path,
            "STREAMLIT_SERVER_COOKIE_SECRET": "one secret for all processes of a test",
        }
        with self.log(port).open("ab") as output:
            self.processes[port] = subprocess.Popen(
                [sys.executable, "-m", "deploy.serve"],
                cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def wait_for_process(self, port: int) -> None:
        """Until it answers by itself, without nginx."""
        prefix = f"/{self.base_path}" if self.base_path else ""
        wait_until_healthy(self.processes[port], f"http://127.0.0.1:{port}{prefix}", self.log(port))

    def kill_process(self, port: int) -> None:
        """As a machine that runs out of memory does: at once."""
        self.processes[port].kill()
        self.processes[port].wait()

    def log(self, port: int) -> Path:
        """What the process at this port wrote."""
        return self.folder / f"{port}.log"

    def start_nginx(self) -> subprocess.Popen[bytes]:
        """nginx in the foreground, as an ordinary user."""
        command = [program(), "-e", f"{self.folder}/error.log", "-p", str(self.folder), "-c", "nginx.conf"]
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
            command = ["runuser", "-u", "nobody", "--", *command]
        log = self.folder / "nginx.log"
        with log.open("wb") as output:
            nginx = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        wait_until_healthy(nginx, self.url, log)
        return nginx


@contextmanager
def serve(base_path: str = "", n_processes: int = 2) -> Generator[Site]:
    """A running site for the length of a block; of the two processes that nginx knows, `n_processes` run."""
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        site = Site(folder, (free_port(), free_port()), base_path)
        for port in site.ports[:n_processes]:
            site.start_process(port)
        running.callback(lambda: [stop(process) for process in site.processes.values()])
        for port in site.processes:
            site.wait_for_process(port)
        nginx = site.start_nginx()
        running.callback(stop, nginx)
        yield site


def program() -> str:
    """nginx's program; Debian installs it where we are root and it is missing."""
    return found_or_installed(_find, "nginx", MISSING)


def _find() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
