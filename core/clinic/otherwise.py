"""Nothing explains the output: would it be explained if its owner had stated something else?"""

from collections.abc import Iterator
from dataclasses import replace

from core.clinic.beliefs import Beliefs


def other_beliefs(beliefs: Beliefs) -> Iterator[tuple[Beliefs, str]]:
    """What may have been forgotten, or stated by mistake, and the advice that goes with it."""
    if not beliefs.rope:
        yield replace(beliefs, rope=True), "say that q and k still need rotary positions"
    if not beliefs.alibi:
        yield replace(beliefs, alibi=True), "say that the scores get an ALiBi bias"
    if beliefs.causal is not None:
        yield replace(beliefs, causal=None), "leave it unsaid whether it is causal"
    if beliefs.scale is not None:
        yield replace(beliefs, scale=None), "leave the factor on the scores unsaid"
    if beliefs.layout is not None:
        yield replace(beliefs, layout=None), "leave the axes unsaid"
