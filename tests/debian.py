"""Programs that a test needs beside Python: the ones that are here, else Debian's packages of them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def found_or_installed(find: Callable[[], Found | None], package: str, missing: str) -> Found:
    """What `find` finds; where we are root and it finds nothing, Debian's `package` is installed first.

    A service that the package brings is installed and not started, without systemd and with it.
    RuntimeError with the sentence `missing` if there is still nothing.
    """
    found = find()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Not found, trying: apt-get install {package}", flush=True)
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1", "SYSTEMD_OFFLINE": "1"}
        for command in (["update"], ["install", "--yes", "--no-install-recommends", package]):
            subprocess.run(["apt-get", *command], check=False, env=quiet)
        found = find()
    if found is None:
        raise RuntimeError(missing)
    return found
