"""JAX and ONNX Runtime: right in each one's own convention, and their well-known misuses are named.

PyTorch is in tests/torch/test_clinic_libraries.py.
"""

from pathlib import Path

import pytest

from core.clinic import diagnose_files

LIBRARIES = Path(__file__).parent / "libraries"  # made by make.py there
MISUSES = {
    "jax_chunk": "mask.causal_top_left",
    "onnx_chunk": "mask.causal_top_left",
    "jax_mask_inverted": "mask.inverted",
    "onnx_mask_inverted": "mask.inverted",
    "jax_wrong_layout": "heads.attends_over_heads",
}


@pytest.mark.parametrize("file", sorted(LIBRARIES.glob("*.npz")), ids=lambda file: file.stem)
def test_jax_and_onnx_runtime(file):
    answer = diagnose_files([file])
    if file.stem in MISUSES:
        assert answer.labels[0] == [MISUSES[file.stem]], answer.as_text()
        return
    assert answer.verdict == "correct", answer.as_text()


@pytest.mark.parametrize("name", ["jax_chunk", "onnx_chunk"])
def test_their_alignment_is_right_if_it_is_meant(name):
    assert diagnose_files([LIBRARIES / f"{name}.npz"], causal_alignment="top_left").verdict == "correct"
