"""Input that cannot be used, in one sentence for the person who handed it in."""


class InputError(ValueError):
    """The file or the arrays cannot be used. `label` names why, as in "input.shape_mismatch"."""

    def __init__(self, label: str, message: str) -> None:
        """Both are read by whoever catches it."""
        super().__init__(message)
        self.label = f"input.{label}"
        self.message = message


def shown(name: str) -> str:
    """A name from a file, made safe to print."""
    return ascii(name if len(name) <= 40 else name[:37] + "...")


def why(error: Exception) -> str:
    """An error's own words, short and safe to print: they may quote the file."""
    return ascii(str(error)[:80])[1:-1] or type(error).__name__
