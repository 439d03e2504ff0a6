"""Queries and keys as points of one plane, chosen so that dot products change as little as possible."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Points whose dot products are the closest that two coordinates can come to the scores."""

    queries: np.ndarray  # (n_q, 2)
    keys: np.ndarray  # (n_k, 2)
    share: float  # of the scores' sum of squares that the plane keeps, 0 to 1


def query_key_plane(scores: np.ndarray) -> Plane:
    """scores (n_q, n_k) of one head -> a Plane with queries @ keys.T as near to the scores as it can be.

    The singular value decomposition S = U D Vᵀ, cut after two values, is the best approximation of
    rank 2 (Eckart and Young, 1936). Each side takes √D. Unlike a projection of the vectors
    themselves, it shows what attention uses: who points the way that a query points.
    """
    u, d, v_t = np.linalg.svd(scores, full_matrices=False)
    d = np.pad(d, (0, max(0, 2 - len(d))))
    kept = min(2, u.shape[1])
    total = float((d**2).sum())
    root = np.sqrt(d[:kept])
    queries, keys = u[:, :kept] * root, v_t[:kept].T * root
    # A singular pair may come with either sign: the keys' heaviest coordinate is made positive.
    signs = np.sign(keys[np.abs(keys).argmax(axis=0), np.arange(kept)])
    signs[signs == 0] = 1
    missing = ((0, 0), (0, 2 - kept))
    return Plane(
        np.pad(queries * signs, missing),
        np.pad(keys * signs, missing),
        float((d[:2] ** 2).sum()) / total if total else 1.0,
    )
