"""What the handed-in arrays may mean: names, layouts, masks, and what the owner believes.

A Reading is one consistent meaning: a Problem and the arrays that its computation must
reproduce. Where the owner did not say, there are several readings, the likeliest first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.clinic.beliefs import AXES, LAYOUTS, Beliefs
from core.clinic.layouts import bare_problem, canonical_output
from core.clinic.mask_meanings import mask_meanings
from core.clinic.precision import Target
from core.clinic.wording import OUTPUT_ONLY
from core.faults.choices_mask import triangle
from core.faults.problem import Problem
from core.files import InputError

FLAT = ("BTD", "TBD", "X", "TBX")
HEAD_COUNTS = (2, 4, 8, 3, 6, 12, 16)  # tried where nobody says how many heads there are


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One consistent meaning of the arrays."""

    problem: Problem
    targets: tuple[Target, ...]
    notes: tuple[str, ...] = ()  # what had to be assumed
    layout: str = ""  # the axes of q, k and v, or of x
    other_weights: np.ndarray | None = None  # weights in a shape that the heads' own do not have


def readings(fields: dict[str, np.ndarray], beliefs: Beliefs) -> list[Reading]:
    """All meanings that fit the shapes, the likeliest first; InputError if none does."""
    found: list[Reading] = []
    first_error: InputError | None = None
    for believed, note in ((beliefs, ()), *_other_head_counts(fields, beliefs)):
        for layout in _layouts(fields, believed) if not note else _flat_layouts(fields, believed):
            try:
                for reading in _readings_of_layout(fields, believed, layout):
                    found.append(replace(reading, notes=(*note, *reading.notes)))
            except InputError as error:
                first_error = first_error or error
    if not found:
        raise first_error or InputError("shape_mismatch", "the shapes of the arrays fit no known layout")
    found = _with_layout_notes(_agreeing(found, beliefs), beliefs)
    return [reading for reading in found if shows_something(reading.problem)] or found


def only_output(reading: Reading) -> Reading:
    """The same without weights."""
    targets = tuple(target for target in reading.targets if target.name == "output")
    if len(targets) == len(reading.targets) or not targets:
        return reading
    return replace(reading, targets=targets, notes=(*reading.notes, OUTPUT_ONLY))


def _with_layout_notes(found: list[Reading], beliefs: Beliefs) -> list[Reading]:
    """Where the arrays fit several layouts and nobody said which, a reading tells its own."""
    if beliefs.layout is not None or len({reading.layout for reading in found}) == 1:
        return found
    return [replace(r, notes=(*r.notes, f"axes read as {AXES[r.layout]}")) for r in found]


def _agreeing(found: list[Reading], beliefs: Beliefs) -> list[Reading]:
    """The readings with as many heads as the owner says; InputError if the arrays hold no such number."""
    agreeing = [r for r in found if beliefs.n_heads in (None, r.problem.n_heads)]
    if not agreeing:
        counts = " or ".join(dict.fromkeys(str(r.problem.n_heads) for r in found))
        raise InputError("shape_mismatch", f"you say {beliefs.n_heads} heads, but the arrays have {counts}")
    return [r for r in agreeing if beliefs.n_kv_heads in (None, r.problem.n_kv_heads)] or agreeing


def shows_something(problem: Problem) -> bool:
    """Whether an explicit mask leaves any query a key: one read the wrong way round may hide everything."""
    if problem.allowed is None:
        return True
    pairs = problem.allowed.shape[-2:] == (problem.n_q, problem.n_k)
    return bool((problem.allowed & triangle(problem) if problem.causal and pairs else problem.allowed).any())


def _flat_layouts(fields: Mapping[str, np.ndarray], beliefs: Beliefs) -> tuple[str, ...]:
    return tuple(layout for layout in _layouts(fields, beliefs) if layout in FLAT)


def _other_head_counts(
    fields: Mapping[str, np.ndarray], beliefs: Beliefs
) -> list[tuple[Beliefs, tuple[str, ...]]]:
    """Nobody said how many heads lie side by side: more than one, where the width can be cut so."""
    if beliefs.n_heads is not None:
        return []
    if "q" in fields:
        widths = {fields["q"].shape[-1]} if fields["q"].ndim == 3 else set()
    else:
        widths = set(fields["wq"].shape) if fields["wq"].ndim == 2 else set()
    counts = [n for n in HEAD_COUNTS if any(width % n == 0 and width > n for width in widths)]
    return [(replace(beliefs, n_heads=n), (f"{n} heads (you did not say how many)",)) for n in counts]


def _layouts(fields: Mapping[str, np.ndarray], beliefs: Beliefs) -> tuple[str, ...]:
    if "q" not in fields:
        return (beliefs.layout,) if beliefs.layout in ("X", "TBX") else ("X",)
    rank = fields["q"].ndim
    if rank not in (2, 3, 4):
        raise InputError(
            "shape_mismatch",
            f"q must have 2, 3 or 4 axes (heads and batch in front), but its shape is {fields['q'].shape}",
        )
    stated = beliefs.layout
    if stated is not None and stated not in LAYOUTS:
        raise InputError("meta", f"the layout must be one of {', '.join(LAYOUTS)}, but it is {stated!r}")
    expected = {"TD": 2, "HTD": 3, "BTD": 3, "TBD": 3, "BHTD": 4, "BTHD": 4}
    if stated in expected:
        if rank != expected[stated]:
            raise InputError(
                "shape_mismatch",
                f"layout {stated} has {expected[stated]} axes, but q has shape {fields['q'].shape}",
            )
        return (stated,)
    if rank == 2:
        return ("TD",)
    if rank == 3:
        first = fields["q"].shape[0]
        return ("HTD", "BTD") if beliefs.n_heads == first and first > 1 else ("BTD", "HTD")
    return ("BHTD", "BTHD")


def _readings_of_layout(fields: Mapping[str, np.ndarray], beliefs: Beliefs, layout: str) -> Iterator[Reading]:
    if layout in ("X", "TBX") and beliefs.weights_as is None and beliefs.layout is None:
        yield from either_weights(fields, beliefs, layout)
        return
    base = bare_problem(fields, beliefs, layout)
    causals = (beliefs.causal,) if beliefs.causal is not None else (False, True)
    for mask_fields, mask_notes in mask_meanings(fields, beliefs, base):
        for causal in causals:
            if causal and base.n_q == 1 and beliefs.causal is None:
                continue
            problem = replace(
                base, causal=bool(causal), causal_known=beliefs.causal is not None,
                top_left=beliefs.causal_alignment == "top_left", **mask_fields,
            )  # fmt: skip
            problem = without_repetition(problem)
            causal_note = () if beliefs.causal is not None else ("causal" if causal else "not causal",)
            yield from _with_targets(fields, problem, layout, (*mask_notes, *causal_note))


def without_repetition(problem: Problem) -> Problem:
    """A causal problem whose explicit mask is the triangle again, or triangle and padding: said once.

    Otherwise no fault of one of the two could show, because the other hides the same pairs.
    """
    if not problem.causal or problem.allowed is None or problem.key_keep is not None:
        return problem
    if problem.allowed.shape[-2:] != (problem.n_q, problem.n_k):
        return problem  # it says the same for every query
    keep = problem.allowed.any(axis=(1, 2))
    if not np.array_equal(problem.allowed, triangle(problem) & np.asarray(keep)[:, None, None]):
        return problem
    keep = np.broadcast_to(keep, (problem.batch, problem.n_k))
    return replace(problem, allowed=None, key_keep=None if keep.all() else keep)


def either_weights(fields: Mapping[str, np.ndarray], beliefs: Beliefs, layout: str) -> Iterator[Reading]:
    """Nobody said how the projections are used: x @ w as in the paper, or x @ w.T as nn.Linear keeps them."""
    found = 0
    for weights_as in ("x @ w", "x @ w.T"):
        try:
            for reading in _readings_of_layout(fields, replace(beliefs, weights_as=weights_as), layout):
                found += 1
                yield replace(reading, notes=(f"projections used as {weights_as}", *reading.notes))
        except InputError:
            if weights_as == "x @ w.T" and not found:
                raise


def _with_targets(
    fields: Mapping[str, np.ndarray], problem: Problem, layout: str, notes: tuple[str, ...]
) -> Iterator[Reading]:
    targets = []
    if "out" in fields:
        out, merged = canonical_output(fields["out"], problem, layout)
        problem = replace(problem, merged=merged)
        targets.append(Target("output", out))
    other = None
    if "weights" in fields:
        weights = fields["weights"].astype(np.float64)
        shape = (problem.batch, problem.n_heads, problem.n_q, problem.n_k)
        if weights.ndim >= 2 and weights.size == np.prod(shape) and weights.shape[-2:] == shape[-2:]:
            targets.append(Target("weights", weights.reshape(shape)))
        else:
            other = weights
            if not targets:
                raise InputError(
                    "shape_mismatch", f"weights must have shape {shape}, but it is {weights.shape}"
                )
    yield Reading(problem, tuple(targets), notes, layout, other)
