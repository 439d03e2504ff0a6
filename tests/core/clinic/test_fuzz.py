"""Malformed files end in bad_input, and nothing raises. The full run is benchmarks/clinic_fuzz.py."""

import json
import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.clinic_fuzz import fuzz, section
from core.clinic import diagnose, diagnose_uploads
from core.clinic.report import EXIT_CODES

NAMES = st.sampled_from(
    ["q", "k", "v", "out", "mask", "key_keep", "weights", "meta", "__metadata__", "x", "\u202e", "../q"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES | st.sampled_from(["dtype", "shape", "data_offsets"]), inner, max_size=4)
    ),
    max_leaves=12,
)
ENTRY = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F64", "F32", "F16", "BF16", "BOOL", "I8", "X"]) | JSON,
        "shape": st.lists(st.integers(-1, 2**70) | st.integers(0, 4), max_size=5) | JSON,
        "data_offsets": st.lists(st.integers(-1, 2**70) | st.integers(0, 64), min_size=2, max_size=2) | JSON,
    }
)


def answered(file_name: str, data: bytes) -> None:
    answer = diagnose_uploads([(file_name, data)], max_faults=1)
    assert answer.verdict in EXIT_CODES
    assert answer.message.isprintable()
    json.loads(answer.as_json())


def test_mutated_files():
    seen = fuzz(1500, seed=1)
    assert seen.answers["bad_input"] == 1500
    assert "| `input.malformed` |" in section(seen).markdown()


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["f.npz", "q.npy", "f.safetensors", "f.json", "q.csv", "f.pt", ""]),
    st.binary(max_size=200),
)
def test_any_bytes_under_any_name(file_name, data):
    answer = diagnose_uploads([(file_name, data)], max_faults=1)
    assert answer.verdict == "bad_input"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=150))
def test_any_bytes_after_the_magic_of_numpy(data):
    assert diagnose_uploads([("q.npy", b"\x93NUMPY\x01\x00" + data)]).verdict == "bad_input"


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(NAMES, ENTRY | JSON, max_size=6), st.binary(max_size=256))
def test_any_safetensors_header(header, data):
    text = json.dumps(header).encode()
    answered("f.safetensors", struct.pack("<Q", len(text)) + text + data)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(NAMES, JSON, max_size=6))
def test_any_json(document):
    answered("f.json", json.dumps(document).encode())


SHAPES = st.lists(st.integers(0, 4), max_size=5).map(tuple)
DTYPES = st.sampled_from(["f2", "f4", "f8", "i4", "u1", "?", "c8", "U3", "S3", "M8[s]"])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(NAMES, st.tuples(SHAPES, DTYPES), max_size=6), st.sampled_from([0, 1, np.nan, np.inf]))
def test_arrays_of_any_shape_and_dtype(arrays, value):
    with np.errstate(all="ignore"):
        made = {name: np.full(shape, 1, dtype="f8").astype(dtype) for name, (shape, dtype) in arrays.items()}
        for array in made.values():
            if array.dtype.kind == "f" and array.size:
                array.flat[0] = value
    answer = diagnose(made, max_faults=1)
    assert answer.verdict in EXIT_CODES
    json.loads(answer.as_json())
