"""core/files/by_content.py: what is read equals what was written, and a hostile file costs nothing."""

import contextlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.clinic.loading import load
from core.files import InputError, read_arrays
from core.files.limits import CAPTURE_ARRAY_NUMBERS, CLINIC_ARRAY_NUMBERS, MAX_TOTAL_NUMBERS


def npz(compressed: bool = False, **arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, allow_pickle=True, **arrays)
    return file.getvalue()


def safetensors(header: dict, content: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content


def npy(header: str, content: bytes = b"") -> bytes:
    """A .npy file with this header, in a zip archive."""
    text = header.encode("latin1")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("q.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content)
    return file.getvalue()


@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.sampled_from(["f8", "f4", "f2", "i8", "u1", "?", "U5", ">f4"]),
    st.booleans(),
)
@settings(deadline=None)
def test_an_npz_comes_back(shape: list[int], dtype: str, compressed: bool) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    back = read_arrays(npz(compressed, q=array, other=array.T))
    assert np.array_equal(back["q"], array)
    assert np.array_equal(back["other"], array.T)
    assert back["q"].dtype == array.dtype


def test_a_safetensors_file_comes_back() -> None:
    q = np.arange(12, dtype="<f4").reshape(3, 4)
    on = np.array([True, False])
    header = {
        "__metadata__": {"tokens": '["a", "b"]', "causal": "true", "source": "a model", "scaling": "0.5"},
        "q": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]},
        "on": {"dtype": "BOOL", "shape": [2], "data_offsets": [48, 50]},
    }
    back = read_arrays(safetensors(header, q.tobytes() + on.tobytes()))
    assert np.array_equal(back["q"], q)
    assert np.array_equal(back["on"], on)
    assert back["tokens"].tolist() == ["a", "b"]
    assert back["causal"].item() is True
    assert back["source"].item() == "a model"
    assert back["scaling"].item() == 0.5


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    numbers = np.array([1.0, -2.5, 3.140625], "<f4")  # all exact in bfloat16
    upper = (numbers.view("<u4") >> 16).astype("<u2")
    header = {"q": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}
    assert np.array_equal(read_arrays(safetensors(header, upper.tobytes()))["q"], numbers)


@pytest.mark.parametrize("data", [b"", b"PK", b"hello world, this is text", bytes(100)])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        read_arrays(data)


def test_pickled_objects_are_never_loaded() -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (pytest.fail, ("a pickle was loaded",))

    with pytest.raises(InputError, match=r"Python objects .*never loaded"):
        read_arrays(npz(q=np.array([Trap()], dtype=object)))


def test_a_file_that_claims_gigabytes_is_refused_before_it_is_read() -> None:
    claim = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }"
    tracemalloc.start()
    with pytest.raises(InputError, match=r"shape \(100000, 100000\): the limit is 16,777,216 numbers"):
        read_arrays(npy(claim))
    with pytest.raises(InputError, match="the limit is 16,777,216 numbers"):
        read_arrays(
            safetensors({"q": {"dtype": "F64", "shape": [100000, 100000], "data_offsets": [0, 80 * 10**9]}})
        )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_many_arrays_share_one_limit() -> None:
    n = MAX_TOTAL_NUMBERS // 2 + 1
    half = np.zeros(n, bool)
    with pytest.raises(InputError, match="more than 16,777,216 numbers in all"):
        read_arrays(npz(True, a=half, b=half))
    entry = {"dtype": "BOOL", "shape": [n], "data_offsets": [0, n]}
    with pytest.raises(InputError, match="more than 16,777,216 numbers in all"):
        read_arrays(safetensors({"a": entry, "b": entry}, half.tobytes()))
    with pytest.raises(InputError, match="the archive claims"):
        read_arrays(npz(True, a=np.zeros(n), b=np.zeros(n)))


def test_a_capture_s_map_may_be_larger_than_an_array_of_the_clinic() -> None:
    n = CLINIC_ARRAY_NUMBERS + 1
    assert n <= CAPTURE_ARRAY_NUMBERS
    allowed = npz(True, mask=np.ones(n, bool))
    assert read_arrays(allowed)["mask"].sum() == n
    with pytest.raises(InputError, match="4,194,304 numbers in one array"):
        load([("file.npz", allowed)])


def test_a_zip_that_unpacks_to_more_than_it_claims_is_not_unpacked() -> None:
    claim = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
    with pytest.raises(InputError, match="claims 16 bytes of numbers, the file has more"):
        read_arrays(npy(claim, bytes(1000)))
    with pytest.raises(InputError, match="claims 16 bytes of numbers, the file has only 3"):
        read_arrays(npy(claim, bytes(3)))


@pytest.mark.parametrize(
    "header",
    [
        "{",
        "[]",
        "{'descr': '<f8'}",
        "{'descr': 'no', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 2}",
        "__import__('os').getcwd()",
        "(" * 5000,
    ],
)
def test_broken_headers_are_refused(header: str) -> None:
    with pytest.raises(InputError, match="'q'"):
        read_arrays(npy(header, bytes(16)))


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F32", "shape": [-2], "data_offsets": [0, -8]},
        {"dtype": "Q99", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": "two", "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2]},
        {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]},
        7,
    ],
)
def test_broken_safetensors_are_refused(entry: object) -> None:
    with pytest.raises(InputError):
        read_arrays(safetensors({"q": entry}, bytes(8)))


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_damage_is_a_sentence_or_still_a_file(data: st.DataObject) -> None:
    q = np.arange(6.0).reshape(2, 3)
    header = {"q": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}}
    whole = data.draw(st.sampled_from([npz(q=q), npz(True, q=q), safetensors(header, q.tobytes())]))
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 4)) if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):  # any other error fails the test
        assert isinstance(read_arrays(bytes(damaged)), dict)


def test_an_lzma_archive_is_refused() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as file:
        member = io.BytesIO()
        np.save(member, np.ones((2, 3)))
        file.writestr("q.npy", member.getvalue())
    with pytest.raises(InputError, match="compressed by a method that"):
        read_arrays(archive.getvalue(), "a.npz")


def test_an_endless_size_in_a_safetensors_header_is_refused() -> None:
    header = b'{"q": {"dtype": "F32", "shape": [1e400], "data_offsets": [0, 4]}}'
    with pytest.raises(InputError, match="header"):
        read_arrays(len(header).to_bytes(8, "little") + header + b"abcd", "a.safetensors")
