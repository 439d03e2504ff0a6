"""What a setup can be asked for, and the sentence for anything else."""

from core.examples import MAX_SEQ_LEN

GIVEN = "given"  # the mask that a real head had in its model, where it has no simpler name
MASKS = ("none", "causal", "padding", "window", "causal+padding")
HEADS = (1, 2, 4, 8)
D_KS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SEQ_LENS = range(2, MAX_SEQ_LEN + 1)
SEEDS = range(10_000)
PADS = range(MAX_SEQ_LEN)
WINDOWS = range(1, MAX_SEQ_LEN + 1)


def check_choice(name: str, chosen: object, offered: tuple) -> None:
    """Raise ValueError unless it is one of these."""
    if type(chosen) is not type(offered[0]) or chosen not in offered:
        raise ValueError(f"{name} is {chosen!r}, but it must be one of {', '.join(map(str, offered))}")


def check_range(name: str, chosen: object, offered: range) -> None:
    """Raise ValueError unless it is a whole number in this range."""
    if type(chosen) is not int or chosen not in offered:
        span = f"{offered[0]} to {offered[-1]}"
        raise ValueError(f"{name} is {chosen!r}, but it must be a whole number from {span}")
