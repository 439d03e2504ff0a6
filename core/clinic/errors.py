"""Input that cannot be examined, in one sentence for the person who handed it in."""


class InputError(ValueError):
    """The file or the arrays cannot be examined. `label` names why, as in "input.shape_mismatch"."""

    def __init__(self, label: str, message: str) -> None:
        """Both are read by whoever catches it."""
        super().__init__(message)
        self.label = f"input.{label}"
        self.message = message
