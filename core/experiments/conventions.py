"""Mask lab: one boolean array, two meanings, and what PyTorch does with each."""

from dataclasses import dataclass

import numpy as np

from core.attention import mask, softmax
from core.experiments.prose import Table


@dataclass(frozen=True, slots=True)
class TorchFact:
    """How one function of PyTorch 2.13 reads a boolean mask, and what it does with a dead row."""

    call: str
    true_means: str  # "may attend" or "is blocked"
    dead_row: str  # "NaN" or "0"


TORCH_FACTS = (
    TorchFact("F.scaled_dot_product_attention(attn_mask=…)", "may attend", "0"),
    TorchFact("nn.MultiheadAttention(attn_mask=…), weights asked for (the default)", "is blocked", "NaN"),
    TorchFact("nn.MultiheadAttention(attn_mask=…, need_weights=False)", "is blocked", "0"),
    TorchFact("nn.MultiheadAttention(key_padding_mask=…)", "is blocked", "NaN"),
)


def torch_table() -> Table:
    """TORCH_FACTS, one row a call."""
    header = ("call", "True in the mask means", "a row with nothing left")
    return (header, *((fact.call, fact.true_means, fact.dead_row) for fact in TORCH_FACTS))


@dataclass(frozen=True, slots=True, eq=False)
class ConventionLab:
    """One boolean array, read both ways."""

    array: np.ndarray  # (n_q, n_k) bool
    may_attend: np.ndarray  # (n_q, n_k) weights when True means "may attend"
    blocked: np.ndarray  # (n_q, n_k) weights when True means "is blocked"

    @property
    def caption(self) -> str:
        """What the two readings give."""
        dead = (
            int(np.isnan(self.blocked).any(axis=-1).sum()),
            int(np.isnan(self.may_attend).any(axis=-1).sum()),
        )
        shared = (np.nan_to_num(self.may_attend) > 0) & (np.nan_to_num(self.blocked) > 0)
        return (
            f"The same array of {int(self.array.sum())} True and {int((~self.array).sum())} False, read as "
            f"“may attend” and as “is blocked”: {int(shared.sum())} cells have weight under both readings. "
            f"Rows with nothing left: {dead[1]} and {dead[0]}. Neither reading raises an error."
        )

    @property
    def note(self) -> str:
        """Who reads it how."""
        return (
            "PyTorch 2.13 has both: F.scaled_dot_product_attention takes True as “may attend”, "
            "nn.MultiheadAttention takes True as “is blocked”. A dead row: "
            + "; ".join(f"{fact.call}: {fact.dead_row}" for fact in TORCH_FACTS)
            + ". (Zeros are what goes into the output projection; its bias comes after.)"
        )


def convention_lab(scaled_scores: np.ndarray, array: np.ndarray) -> ConventionLab:
    """scaled_scores (n_q, n_k), a boolean array of that shape -> its weights read both ways."""
    return ConventionLab(array, softmax(mask(scaled_scores, array)), softmax(mask(scaled_scores, ~array)))
