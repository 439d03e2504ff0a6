"""Masks that no list can hold: a window of some width, or any other set of pairs, found from the data."""

from collections.abc import Iterator, Sequence

import numpy as np

from core.clinic.layouts import heads_output
from core.clinic.precision import Target, relative_error
from core.faults.choices_mask import together as joined
from core.faults.pipeline import RIGHT, Choice, State, run
from core.faults.problem import Problem

MAX_KEYS = 128  # for more keys than this no mask is looked for
TINY = 1e-300
NEAR = 0.05  # the relative error at which a window is worth a closer look


def with_mask(label: str, variant: str, cells: np.ndarray, instead: bool = False) -> Choice:
    """The mask that was meant and `cells` besides; `instead`: `cells` alone."""

    def compute(p: Problem, s: State) -> dict:
        if not s.mask_fits:
            return RIGHT["combine"].compute(p, s)
        meant = None if instead else RIGHT["combine"].compute(p, s)["allowed"]
        return {"allowed": joined(meant, cells)}

    return Choice("combine", compute, label, variant)


def window_choices(problem: Problem, targets: Sequence[Target]) -> Iterator[Choice]:
    """Windows of every width, to one side and to both, that come near the output."""
    if problem.n_k > MAX_KEYS:
        return
    distance = np.arange(problem.n_k) - (np.arange(problem.n_q)[:, None] + problem.n_k - problem.n_q)
    for back in range(problem.n_k - 1):
        for ahead, instead in ((0, False), (back, problem.causal)):  # one that looks ahead is not causal
            cells = (distance >= -back) & (distance <= ahead)
            told = f"{back} back, {ahead} ahead"
            choice = with_mask("mask.window_not_wanted", told, cells, instead)
            if cells.any(-1).all() and relative_error(run(problem, [choice]), targets) < NEAR:
                yield choice


def recovered_masks(problem: Problem, targets: Sequence[Target]) -> Iterator[Choice]:
    """The mask that the weights show, or that the output implies, if it is not the one that was meant."""
    right = run(problem)
    by_name = {target.name: target.array for target in targets}
    found = []
    if "weights" in by_name:
        found.append(by_name["weights"] != 0)
    out = heads_output(problem, by_name["output"]) if "output" in by_name else None
    if out is not None and problem.n_k <= MAX_KEYS:
        found += [implied_mask(right, out, axes) for axes in ((1,), (0, 1))]
    meant = np.ones(right.weights.shape, bool) if right.allowed is None else right.allowed
    for cells in found:
        if cells is not None and cells.any(-1).all() and (cells != meant).any():
            yield with_mask("mask.other_cells", _first_difference(cells, meant), cells, instead=True)


def implied_mask(right: State, out: np.ndarray, shared: tuple[int, ...]) -> np.ndarray | None:
    """The (B, 1, n_q, n_k) mask under which these scores and values give `out`; None if it is not unique.

    With e = exp(score), the output row of a query is the mean of the values with weights a e, where a
    is 0 or 1: so sum over j of a_j e_j (v_j - out) = 0. That is linear in a, and heads (and entries)
    that share a mask have one a: the null vector of all their equations together.
    """
    if not all(np.isfinite(array).all() for array in (out, right.scaled, right.v)):
        return None
    exps = np.exp(right.scaled - right.scaled.max(axis=-1, keepdims=True))
    from_out = right.v[..., None, :, :] - out[..., :, None, :]  # (B, h, n_q, n_k, d_v)
    equations = np.moveaxis(exps[..., None] * from_out, 2, 0)  # (n_q, B, h, n_k, d_v)
    n_q, batch, heads, n_k, d_v = equations.shape
    together = batch if 0 in shared else 1
    if together * heads * d_v < n_k - 1:
        return None
    rows = equations.reshape(n_q, batch // together, -1, n_k, d_v)
    rows = rows / (np.abs(rows).max(axis=(-3, -2, -1), keepdims=True) + TINY)  # huge ones must not overflow
    normal = (rows @ rows.swapaxes(-1, -2)).sum(axis=2)  # (n_q, B or 1, n_k, n_k)
    try:
        null = np.linalg.eigh(normal)[1][..., 0]
    except np.linalg.LinAlgError:  # numbers too wild to solve for: no mask is found
        return None
    null = null * np.sign(null.sum(axis=-1, keepdims=True))
    cells = null > 0.5 * null.max(axis=-1, keepdims=True)
    return np.broadcast_to(cells.swapaxes(0, 1)[:, None], (batch, 1, n_q, n_k))


def _first_difference(cells: np.ndarray, meant: np.ndarray) -> str:
    cells, meant = np.broadcast_arrays(cells, meant)
    entry, head, query, key = (int(i) for i in np.argwhere(cells != meant)[0])
    sees = "sees" if cells[entry, head, query, key] else "does not see"
    count = np.count_nonzero((cells != meant).any(axis=(0, 1)))
    return f"query {query} {sees} key {key}; pairs that differ: {count}"
