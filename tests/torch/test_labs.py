"""The committed goldens of the labs are what the pinned PyTorch gives."""

import numpy as np
import pytest
import torch

from tests.golden.make_labs import FILE, cases


@pytest.fixture(scope="module")
def made() -> dict[str, np.ndarray]:
    return cases()


def test_the_goldens_are_reproduced(made):
    with np.load(FILE) as committed:
        assert set(committed) == set(made)
        for name, array in made.items():
            np.testing.assert_allclose(array, committed[name], rtol=1e-9, atol=1e-12, err_msg=name)


def test_exp_of_a_masked_score_is_exactly_zero():
    assert torch.exp(torch.tensor(-torch.inf)).item() == 0.0
