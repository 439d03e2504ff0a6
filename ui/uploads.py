"""Uploads: how large a file may be, and where it stays while it comes in."""

from starlette.formparsers import MultiPartParser

SERVER_MB = 32  # maxUploadSize in .streamlit/config.toml; what the clinic takes


def stay_in_memory() -> None:
    """Have the server keep a file that comes in where it will stay: in memory, and not first on its disk.

    The web framework writes uploads over 1 MB to a temporary file. With a full disk, or in a container that
    may not write, each of them would end in an error of the server.
    """
    MultiPartParser.spool_max_size = SERVER_MB * 1024 * 1024 + 1
