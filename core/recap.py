"""The lesson in five sentences; each opens the page and the state that show it."""

from dataclasses import dataclass

from core.examples import EXAMPLES
from core.facts import fill
from core.setup import Setup


@dataclass(frozen=True, slots=True)
class Sentence:
    """One fifth of the lesson."""

    text: str
    page: str  # slug
    setup: Setup
    row: int
    col: int


def recap() -> tuple[Sentence, ...]:
    """The five sentences, their numbers computed."""
    kite = EXAMPLES["kite"]
    causal, two = Setup(mask="causal"), Setup("two_heads", n_heads=2)
    told = (
        ("score", Setup(), "Every query meets every key in a dot product: {query} → {key} scores {score}."),
        ("scale", Setup(), "Dividing by √d_k takes back what the width added: {score} becomes {scaled}."),
        (
            "softmax",
            Setup(),
            "Softmax makes a row shares of 1: {scaled} becomes {weight}, and the blend {output}.",
        ),
        (
            "mask",
            causal,
            "−∞ before softmax is 0 after it: {first} has only itself, weight {first_weight_masked}.",
        ),
        (
            "heads",
            two,
            "Heads look for different things at once: {head_0} for {key}, {head_1} for {second_key}.",
        ),
    )
    return tuple(
        Sentence(
            fill(text), page, setup, 0 if page == "mask" else kite.row, 0 if page == "mask" else kite.col
        )
        for page, setup, text in told
    )
