"""python -m core.clinic: what it prints and how it exits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.clinic.__main__ import main

ROOT = Path(__file__).parents[3]
CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize(
    ("name", "status", "word"),
    [
        ("ok_gqa", 0, "CORRECT"),
        ("scale_missing_td", 1, "scale.missing"),
        ("amb_dk_one", 2, "d_k is 1"),
        ("bad_nan_in_k", 3, "k holds NaN"),
    ],
)
def test_exit_status(name, status, word, capsys):
    assert main([str(CASES / f"{name}.npz")]) == status
    assert word in capsys.readouterr().out


def test_json(capsys):
    assert main(["--json", str(CASES / "two_scale_and_mask.npz")]) == 1
    found = json.loads(capsys.readouterr().out)
    assert set(found["explanations"][0]["faults"]) == {"scale.missing", "mask.missing_causal"}


def test_controls_overrule_the_file(capsys):
    path = str(CASES / "mask_missing_causal_td.npz")
    assert main([path]) == 1
    assert main([path, "--no-causal"]) == 2  # T equals d_k in that file
    assert main([path, "--heads", "0"]) == 3
    assert "n_heads must be" in capsys.readouterr().out


def test_unexplained_and_separate_files(tmp_path):
    random = np.random.default_rng(0)
    paths = []
    for name in ("q", "k", "v", "out"):
        paths.append(str(tmp_path / f"{name}.npy"))
        np.save(paths[-1], random.standard_normal((5, 8)))
    assert main(paths) == 1


def test_as_a_process():
    run = subprocess.run(
        [sys.executable, "-m", "core.clinic", str(CASES / "bad_truncated.npz")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert run.returncode == 3
    assert "not a complete .npz" in run.stdout
    assert run.stderr == ""
