"""The two lines of code are those of the very variant."""

import numpy as np
import pytest

from core.clinic import diagnose
from core.clinic.code_lines import lines_of
from core.faults.pipeline import FAULTY
from core.faults.problem import problem_of
from tests.core.softmax import soft

RANDOM = np.random.default_rng(3)
PLAIN = problem_of(*(RANDOM.standard_normal((2, 4, 5, 6)) for _ in range(3)))
GROUPED = problem_of(*(RANDOM.standard_normal((2, h, 5, 6)) for h in (4, 2, 2)))


def choice(label, variant):
    return next(c for some in FAULTY.values() for c in some if (c.label, c.variant) == (label, variant))


@pytest.mark.parametrize(("label", "variant", "problem", "faulty", "right"), [
    ("heads.split_without_transpose", "only k", PLAIN, "k = k.reshape(B, h, T, d_k)",
     "k = k.reshape(B, T, h, d_k).swapaxes(1, 2)"),
    ("heads.split_without_transpose", "only k", GROUPED, "k = k.reshape(B, h_kv, T, d_k)",
     "k = k.reshape(B, T, h_kv, d_k).swapaxes(1, 2)"),
    ("heads.split_without_transpose", "only v", PLAIN, "v = v.reshape(B, h, T, d_v)",
     "v = v.reshape(B, T, h, d_v).swapaxes(1, 2)"),
    ("heads.split_without_transpose", "only q and k", PLAIN,
     "q = q.reshape(B, h, T, d_k); k = k.reshape(B, h, T, d_k)",
     "q = q.reshape(B, T, h, d_k).swapaxes(1, 2); k = k.reshape(B, T, h, d_k).swapaxes(1, 2)"),
    ("heads.gqa_tiled", "only v", GROUPED, "v = np.tile(v, (1, h // h_kv, 1, 1))",
     "v = v.repeat(h // h_kv, axis=1)"),
    ("score.rope_on_one_side", "only k", PLAIN, "k = rotate(k, position_k)",
     "q, k = rotate(q, position_q), rotate(k, position_k)"),
    ("score.normalised", "only k", PLAIN, "k = k / np.linalg.norm(k, axis=-1, keepdims=True)",
     "scores = q @ k.swapaxes(-1, -2)"),
    ("heads.split_without_transpose", "", PLAIN, "q = q.reshape(B, h, T, d_k)",
     "q = q.reshape(B, T, h, d_k).swapaxes(1, 2)"),
])  # fmt: skip
def test_the_tensor_of_the_variant_is_shown(label, variant, problem, faulty, right):
    assert lines_of(choice(label, variant), problem) == (faulty, right)


@pytest.mark.parametrize(("causal", "reach", "faulty", "right"), [
    (True, 0, "allowed = causal & (i - j <= 3)", "allowed = causal"),
    (False, 0, "allowed = (j <= i) & (i - j <= 3)", "allowed = np.ones((n_q, n_k), dtype=bool)"),
    (False, 3, "allowed = np.abs(i - j) <= 3", "allowed = np.ones((n_q, n_k), dtype=bool)"),
])  # fmt: skip
def test_a_window_stands_beside_the_mask_that_was_read(causal, reach, faulty, right):
    """Where the file is read as not causal, the right line does not say causal."""
    row, col = np.indices((9, 9))
    q, k, v = (RANDOM.standard_normal((2, 4, 9, 6)) for _ in range(3))
    cells = (col - row <= reach) & (row - col <= 3)
    out = soft(np.where(cells, q @ k.swapaxes(-1, -2) / 6**0.5, -np.inf)) @ v
    answer = diagnose(q=q, k=k, v=v, out=out, layout="BHTD", causal=causal)
    assert answer.labels == [["mask.window_not_wanted"]]
    assert answer.explanations[0].faulty_lines == (faulty,)
    assert answer.explanations[0].right_lines == (right,)
