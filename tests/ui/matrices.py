"""Matrices for tests."""

import numpy as np

from ui.matrix import Matrix


def make(values: np.ndarray, **more) -> Matrix:
    """A matrix with as many labels as it needs."""
    values = np.asarray(values)
    labels = [[f"{side}{i}" for i in range(n)] for side, n in zip("rc", values.shape, strict=True)]
    return Matrix(
        **{
            "id": "scores",
            "title": "Scores S",
            "values": values,
            "row_labels": labels[0],
            "col_labels": labels[1],
            "row_axis": "query",
            "col_axis": "key",
            "colours": "diverging",
            **more,
        }
    )
