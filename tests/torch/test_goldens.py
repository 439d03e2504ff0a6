import numpy as np

from tests.golden.make_attention import FILE, make


def test_the_committed_goldens_are_what_pytorch_gives() -> None:
    made = make()
    with np.load(FILE) as committed:
        assert set(committed.files) == set(made)
        for name, array in made.items():
            np.testing.assert_allclose(committed[name], array, rtol=1e-5, atol=1e-5, err_msg=name)
