"""What is in this folder needs PyTorch: `make test-torch` installs it, `make test` can do without."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]
