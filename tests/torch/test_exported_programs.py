"""The exported PyTorch programs, run for the corners of Setup."""

import pytest
import torch

from core.export import as_notebook, as_python
from core.setup import Setup
from tests.core.export.corners import CORNERS
from tests.core.export.test_programs import notebook_code


@pytest.fixture(autouse=True)
def _same_default_dtype():
    """The programs set it for themselves."""
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


def run(source):
    exec(compile(source, "exported", "exec"), {})


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
@pytest.mark.parametrize("version", ["torch", "module"])
def test_the_program_reproduces_the_state(version, setup, capsys):
    run(as_python(setup, version))
    assert capsys.readouterr().out.count("as in the tutor") == {"torch": 5, "module": 2}[version]


@pytest.mark.parametrize("version", ["torch", "module"])
def test_the_notebook_reproduces_the_state(version):
    run(notebook_code(as_notebook(Setup(mask="causal", n_heads=2), version)))


@pytest.mark.parametrize(
    ("version", "right", "wrong"),
    [
        ("torch", "math.sqrt(q.shape[-1])", "d_k"),
        ("torch", "masked_fill(~allowed", "masked_fill(allowed"),
        ("torch", "attn_mask=allowed", "attn_mask=None"),
        ("torch", "output.transpose(0, 1)", "output"),
        ("module", "math.sqrt(d_k)", "math.sqrt(h * d_k)"),
        ("module", "heads.transpose(1, 2).reshape", "heads.reshape"),
        ("module", "self.w_k(x).reshape(B, T, h, d_k).transpose(1, 2)", "self.w_k(x).reshape(B, h, T, d_k)"),
        ("module", "dim=-1", "dim=-2"),
        ("module", "torch.tensor(weight).T", "torch.tensor(weight).reshape(weight.shape[::-1])"),
    ],
)
def test_a_fault_in_the_program_is_found_by_its_own_check(version, right, wrong):
    source = as_python(Setup(mask="causal", n_heads=2), version)
    assert source.count(right) == 1
    with pytest.raises(AssertionError):
        run(source.replace(right, wrong))


def test_a_wrong_shape_is_found_on_its_line():
    source = as_python(Setup(n_heads=2), "module")
    with pytest.raises(AssertionError):
        run(
            source.replace(
                "self.w_v(x).reshape(B, T, h, d_v).transpose(1, 2)", "self.w_v(x).reshape(B, T, h, d_v)"
            )
        )
