import numpy as np

from core.export.lines import lines
from core.export.sources import NUMPY_FUNCTIONS, TORCH_FUNCTIONS
from core.setup import Setup, allowed, inputs, run


def test_the_lines_are_the_programs_own():
    for line in lines(Setup()):
        assert line.numpy in NUMPY_FUNCTIONS
        assert line.torch in TORCH_FUNCTIONS
    assert [line.part for line in lines(Setup())] == ["score", "scale", "mask", "softmax", "blend"]


def test_run_one_after_the_other_they_make_the_values():
    setup = Setup(mask="causal", n_heads=2)
    given = inputs(setup)
    names = {"q": given.q, "k": given.k, "v": given.v, "allowed": allowed(setup), "d_k": setup.d_k, "np": np}
    exec(NUMPY_FUNCTIONS, names)
    for line in lines(setup):
        exec(line.numpy, names)
        np.testing.assert_allclose(names[line.numpy.partition(" = ")[0]], line.value, atol=1e-15)
        assert line.value is not None
        np.testing.assert_array_equal(line.value, getattr(run(setup).heads, line.tensor))
