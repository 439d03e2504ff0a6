"""Is the process of this container well? `python -m deploy.health` ends with 0 if it is, else with 1."""

import os
import sys
import urllib.request


def address() -> str:
    """Where this process answers, by the same variables that tell the process itself."""
    port = os.environ.get("STREAMLIT_SERVER_PORT", "8501")
    base_path = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    return "/".join(filter(None, [f"http://127.0.0.1:{port}", base_path, "_stcore/health"]))


def main() -> None:
    """Ask once."""
    try:
        urllib.request.urlopen(address(), timeout=3).close()
    except OSError as error:
        sys.exit(f"{address()}: {error}")


if __name__ == "__main__":
    main()
