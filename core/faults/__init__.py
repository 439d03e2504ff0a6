"""Named faults of attention, and the chain of choices that computes what each of them gives."""

from core.faults import choices_blend, choices_heads, choices_mask, choices_score  # noqa: F401  (they register)
