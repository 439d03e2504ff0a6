import ast
import json
import subprocess
import sys
import time

import pytest

from core.export import VERSIONS, as_notebook, as_python, cells, file_name
from core.export.blanks import NUMPY_BLANKS
from core.setup import Setup, with_edit
from tests.core.export.corners import CORNERS, LARGEST


def run(source):
    """Run a program's text; it raises where a number differs."""
    names = {}
    exec(compile(source, "exported", "exec"), names)
    return names


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_the_numpy_program_reproduces_the_state(setup, capsys):
    run(as_python(setup, "numpy"))
    assert capsys.readouterr().out.count("as in the tutor") == 4


@pytest.mark.parametrize("setup", CORNERS[:4], ids=repr)
def test_the_numpy_notebook_reproduces_the_state(setup):
    run(notebook_code(as_notebook(setup, "numpy")))


def test_the_file_runs_alone(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(as_python(Setup(mask="causal"), "numpy"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(file)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "weights: as in the tutor, shape (1, 7, 7)" in done.stdout


def test_the_largest_state_is_written_in_time():
    start = time.perf_counter()
    source = as_python(LARGEST, "numpy")
    assert time.perf_counter() - start < 20
    run(source)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("np.sqrt(q.shape[-1])", "d_k"),
        ("axis=-1, keepdims=True)\n", "axis=-2, keepdims=True)\n"),
        ("k.swapaxes(-1, -2)", "q.swapaxes(-1, -2)"),
        ("-np.inf)", "0.0)"),
        ("[3, -1, 1, -1]", "[3, -1, 1, 0]"),
        ("x.transpose(1, 0, 2)", "x"),
    ],
)
def test_a_fault_in_the_program_is_found_by_its_own_check(right, wrong):
    source = as_python(Setup(mask="causal", n_heads=2), "numpy")
    assert source.count(right) >= 1
    with pytest.raises(AssertionError):
        run(source.replace(right, wrong))


def test_edited_cells_are_in_the_program():
    setup = Setup(edits=with_edit(Setup(), "q", 0, 4, 0, 2.5))
    assert "[2.5, -1, 1, -1]" in as_python(setup, "numpy")
    run(as_python(setup, "numpy"))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_python_and_holds_the_inputs(version):
    source = as_python(Setup(), version)
    ast.parse(source)
    assert "3, -1, 1, -1]" in source
    assert "0.8544076199041872" in source
    assert max(map(len, source.splitlines())) < 400


@pytest.mark.parametrize("version", VERSIONS)
def test_a_notebook_is_valid_nbformat_4(version):
    notebook = json.loads(as_notebook(Setup(mask="causal"), version))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    identities = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identities)) == len(identities)
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("markdown", "code")
        assert cell["id"].isalnum()
        assert all(isinstance(line, str) for line in cell["source"])
        keys = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (keys | {"execution_count", "outputs"} if cell["cell_type"] == "code" else keys)


@pytest.mark.parametrize("version", VERSIONS)
def test_file_and_notebook_are_the_same_program(version):
    made = cells(Setup(), version)
    file, notebook = as_python(Setup(), version), notebook_code(as_notebook(Setup(), version))
    assert notebook == "\n\n".join(cell.text for cell in made if cell.kind == "code")
    assert all(cell.text in file for cell in made if cell.kind == "code")


def test_blanks_are_open_and_filling_them_gives_the_program_back():
    source = as_python(Setup(mask="causal"), "numpy", blanks=True)
    assert source.count("____") == len(NUMPY_BLANKS) + 1  # and one in the task
    with pytest.raises(NameError):
        run(source)
    for blank in NUMPY_BLANKS:
        assert blank.open in source
        source = source.replace(blank.open, blank.open.replace("____", blank.accepted[0]))
    run(source)


def test_file_names_tell_the_state():
    assert (
        file_name(Setup(mask="causal+padding"), "numpy", "py")
        == "attention_kite_t7_dk4_h1_causal_padding_numpy.py"
    )
    assert (
        len({file_name(Setup(), version, ending) for version in VERSIONS for ending in ("py", "ipynb")}) == 6
    )


@pytest.mark.parametrize(("version", "blanks"), [("jax", False), ("torch", True), ("module", True)])
def test_unknown_versions_are_refused(version, blanks):
    with pytest.raises(ValueError, match="version"):
        as_python(Setup(), version, blanks=blanks)


def notebook_code(text):
    notebook = json.loads(text)
    return "\n\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
