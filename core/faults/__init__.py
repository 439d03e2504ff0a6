"""Named faults of attention, and the chain of choices that computes what each of them gives.

core.model_faults writes nine of them out, each as one function in the place of attention.
"""

from core.faults import (  # noqa: F401  (they register)
    choices_blend,
    choices_fill,
    choices_heads,
    choices_mask,
    choices_position,
    choices_projection,
    choices_rare_outputs,
    choices_rare_scores,
    choices_score,
)
from core.faults.catalogue import FAULTS, Fault, fault_named
from core.faults.live import FaultySteps, faults_for, faulty_attention

__all__ = ["FAULTS", "Fault", "FaultySteps", "fault_named", "faults_for", "faulty_attention"]
