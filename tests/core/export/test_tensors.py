import json

import numpy as np
import pytest

from core.export import FileError, count, from_csv, from_json, from_npz, tensors, to_csv, to_json, to_npz
from core.export.tensors import _cell
from core.setup import Setup, inputs, run
from tests.core.export.corners import CORNERS, LARGEST

SMALL = [setup for setup in CORNERS if sum(array.size for array in tensors(setup).values()) < 20_000]


def assert_same(found, setup):
    expected = tensors(setup)
    assert set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name, strict=True)


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_npz_reads_back_exactly(setup):
    back, arrays = from_npz(to_npz(setup))
    assert back == setup
    assert_same(arrays, setup)


@pytest.mark.parametrize("setup", SMALL, ids=repr)
def test_json_reads_back_exactly(setup):
    back, arrays = from_json(to_json(setup))
    assert back == setup
    assert_same(arrays, setup)


@pytest.mark.parametrize("setup", SMALL, ids=repr)
def test_csv_reads_back_exactly(setup):
    assert_same(from_csv(to_csv(setup)), setup)


def test_json_is_strict_json_with_its_infinities_as_text():
    text = to_json(Setup(mask="causal"))
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert content["tensors"]["masked_scores"][0][0][1] == "-Infinity"
    assert content["names"]["query_tokens"][4] == "it"


def test_not_a_number_survives():
    """No setup makes a row with nothing allowed today; the files hold one all the same."""
    from core.export.tensors import _listed, _unlisted

    array = np.array([[np.nan, np.inf], [-np.inf, -0.0]])
    np.testing.assert_array_equal(_unlisted(json.loads(json.dumps(_listed(array), allow_nan=False))), array)


def test_csv_names_rows_and_columns():
    lines = to_csv(Setup()).splitlines()
    assert lines[0] == "tensor,head,row,column,row_label,column_label,value"
    assert "scores,0,4,1,it,kite,8.0" in lines
    assert "projected,,4,1,it,1," + repr(float(run(Setup()).output[4, 1])) in lines


@pytest.mark.parametrize(
    ("label", "written"), [("=1+1", "'=1+1"), ("@x", "'@x"), ("-x", "'-x"), ("kite", "kite")]
)
def test_no_label_is_a_formula(label, written):
    assert _cell(label) == written


def test_a_state_too_large_for_text_is_refused_with_a_way_out():
    with pytest.raises(FileError, match=r"take the \.npz file"):
        to_json(LARGEST)
    with pytest.raises(FileError, match=r"take the \.npz file"):
        to_csv(LARGEST)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"not a zip", to_npz(Setup())[:-200]])
def test_foreign_npz_is_refused(data):
    with pytest.raises(FileError, match=r"this is no \.npz file"):
        from_npz(data)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"setup": {"d_k": 5}, "tensors": {}}', '{"setup": {}, "tensors": 3}']
)
def test_foreign_json_is_refused(text):
    with pytest.raises(FileError, match=r"this is no \.json file"):
        from_json(text)


def test_foreign_csv_is_refused():
    with pytest.raises(FileError, match="the first line must be"):
        from_csv("a,b\n1,2\n")
    lines = to_csv(Setup()).splitlines()
    with pytest.raises(FileError, match="cannot fill"):
        from_csv("\n".join(lines[:5] + lines[6:]))
    with pytest.raises(FileError, match=r"this is no \.csv file"):
        from_csv("\n".join([*lines, "q,0,x,0,it,thing,3"]))


@pytest.mark.parametrize("setup", CORNERS, ids=repr)
def test_count_is_the_number_of_numbers(setup):
    assert count(inputs(setup), run(setup)) == sum(array.size for array in tensors(setup).values())
