"""The golden cases of tests/golden/attention.npz, one dict of arrays for each case."""

from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "golden" / "attention.npz"
STEPS = ("scores", "scaled_scores", "masked_scores", "weights", "output")


def cases(holding: str) -> dict[str, dict[str, np.ndarray]]:
    """Case name -> its arrays, for the cases that hold the named array."""
    with np.load(FILE) as file:
        names = {name.split("/")[0] for name in file.files if name.endswith(f"/{holding}")}
        found = {
            case: {name.split("/")[1]: file[name] for name in file.files if name.startswith(f"{case}/")}
            for case in sorted(names)
        }
    assert found
    return found


def assert_close(ours: np.ndarray, golden: np.ndarray) -> None:
    """Equal up to the arithmetic of the dtype; -inf and NaN at the same places."""
    assert ours.dtype == golden.dtype
    assert ours.shape == golden.shape
    tolerance = 1e-12 if golden.dtype == np.float64 else 1e-5
    size = np.abs(golden[np.isfinite(golden)]).max(initial=1)
    np.testing.assert_allclose(ours, golden, rtol=tolerance, atol=tolerance * size, equal_nan=True)
