"""Reading files: every kind that is read, and everything that is refused, with its sentence."""

import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest

from core.clinic import diagnose_uploads
from core.clinic.loading import load, load_paths
from core.export.tensors import to_json, to_npz
from core.files import InputError, limits
from core.files.npy import HEADER, from_bfloat16
from core.setup import Setup

RANDOM = np.random.default_rng(2)
ARRAYS = {name: RANDOM.standard_normal((5, 8)) for name in ("q", "k", "v", "out")}


def npz(arrays, save=np.savez):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def header_npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    text = header.encode("latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def zipped(entries, compress=zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compress) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def safetensors(tensors, metadata=None) -> bytes:
    header, data = {}, b""
    codes = {
        "float64": "F64",
        "float32": "F32",
        "float16": "F16",
        "bool": "BOOL",
        "int64": "I64",
        "uint16": "BF16",
    }
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": codes[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    if metadata:
        header["__metadata__"] = metadata
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def refused(name, data, label):
    with pytest.raises(InputError) as caught:
        load([(name, data)])
    assert caught.value.label == f"input.{label}", caught.value.message
    assert len(caught.value.message) > 15
    answer = diagnose_uploads([(name, data)])
    assert answer.verdict == "bad_input"
    assert answer.labels == [[f"input.{label}"]]
    assert answer.message == caught.value.message
    return caught.value.message


def same(found, expected=ARRAYS):
    assert set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


# --- what is read ------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(save):
    same(load([("file.npz", npz(ARRAYS, save))]))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i1", "i8", "u2", "?"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3, 4)])
def test_npy_as_numpy_reads_it(dtype, shape):
    array = np.asarray(RANDOM.standard_normal(shape) * 3).astype(dtype)
    for laid in (array, np.asfortranarray(array)):
        found = load([("q.npy", npy(laid))])["q"]
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype


def test_separate_files(tmp_path):
    paths = []
    for name, array in ARRAYS.items():
        paths.append(tmp_path / f"{name}.npy")
        np.save(paths[-1], array)
    same(load_paths(paths))


def test_names_that_mean_nothing_are_left_out():
    same(load([("file.npz", npz({**ARRAYS, "step": np.zeros(3), "loss": np.array(["x"], dtype=object)}))]))


def test_safetensors():
    meta = {"meta": json.dumps({"causal": False}), "mask": "a word about it", "format": "pt"}
    found = load([("file.safetensors", safetensors({n: a.astype("f4") for n, a in ARRAYS.items()}, meta))])
    assert json.loads(str(found.pop("meta"))) == {"causal": False}
    same(found, {name: array.astype("f4") for name, array in ARRAYS.items()})


def test_bfloat16_bits():
    bits = np.array([0x3F80, 0xC000, 0x3E80, 0x0000], dtype=np.uint16)
    np.testing.assert_array_equal(from_bfloat16(bits), [1.0, -2.0, 0.25, 0.0])
    found = load([("file.safetensors", safetensors({"q": bits.reshape(2, 2)}))])["q"]
    np.testing.assert_array_equal(found, [[1.0, -2.0], [0.25, 0.0]])


def test_json():
    document = {
        **{name: array.tolist() for name, array in ARRAYS.items()},
        "meta": {"causal": True},
        "comment": "mine",
    }
    found = load([("file.json", json.dumps(document).encode())])
    assert json.loads(str(found.pop("meta"))) == {"causal": True}
    same(found)


def test_csv_a_file_an_array():
    files = [
        (f"{n}.csv", "\n".join(",".join(map(repr, row)) for row in a.tolist()).encode())
        for n, a in ARRAYS.items()
    ]
    same(load(files))


def test_csv_with_the_name_in_front():
    lines = [",".join([name, *map(repr, row)]) for name, a in ARRAYS.items() for row in a.tolist()]
    same(load([("all.csv", ("\ufeff" + "\r\n".join(lines)).encode())]))


# --- what is refused -----------------------------------------------------------------------------------


def test_pickles_are_never_loaded():
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    array = np.empty(2, dtype=object)
    array[:] = [Trap(), Trap()]
    refused("q.npy", npy(array), "pickled")
    refused("file.npz", npz({**ARRAYS, "mask": array}), "pickled")
    refused("model.pt", pickle.dumps([1]), "pickled")
    refused("file.npz", zipped([("archive/data.pkl", b"x"), ("q.npy", npy(ARRAYS["q"]))]), "pickled")


@pytest.mark.parametrize("cut", [1, 10, 100, 1000])
def test_truncated(cut):
    assert len(refused("file.npz", npz(ARRAYS)[:-cut], "not_a_zip")) < 200
    refused("q.npy", npy(ARRAYS["q"])[: -min(cut, 440)], "malformed")
    refused("f.safetensors", safetensors(ARRAYS)[: -min(cut, 1000)], "malformed")


def test_headers_that_claim_too_much():
    huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"
    refused("q.npy", header_npy(huge % "1000000, 1000000"), "too_large")
    refused("q.npy", header_npy(huge % "4000000000,"), "too_large")
    refused("q.npy", header_npy(huge % "0, 99999999999"), "too_large")
    refused("q.npy", header_npy(huge % "10, 10", b"short"), "malformed")
    refused("q.npy", header_npy(huge % "1, 1", bytes(16)), "malformed")
    refused("q.npy", header_npy(huge % "-3, 4"), "malformed")
    refused("q.npy", header_npy(huge % ("1, " * 20)), "malformed")
    refused("q.npy", header_npy(huge % ("9" * 13)), "malformed")
    refused(
        "q.npy",
        header_npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", bytes(16)),
        "wrong_dtype",
    )
    refused(
        "q.npy",
        header_npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        "wrong_dtype",
    )
    refused("q.npy", header_npy("__import__('os').abort()"), "malformed")
    refused("q.npy", header_npy(" " * 60000), "malformed")
    refused("q.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b"x", "malformed")
    refused("q.npy", b"hello, this is not an array", "malformed")


def test_safetensors_headers_that_lie():
    def made(header, data=b""):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    refused("f.safetensors", struct.pack("<Q", 2**60), "malformed")
    refused("f.safetensors", struct.pack("<Q", 10**6) + bytes(10**6), "too_large")
    refused("f.safetensors", made(b"{"), "malformed")
    refused("f.safetensors", made(b"[" * 5000), "malformed")
    refused("f.safetensors", made([1]), "malformed")
    refused("f.safetensors", made({"q": entry}), "malformed")
    refused("f.safetensors", made({"q": {**entry, "data_offsets": [-16, 0]}}, bytes(16)), "malformed")
    refused("f.safetensors", made({"q": {**entry, "shape": [2**20, 2**20]}}, bytes(16)), "too_large")
    refused("f.safetensors", made({"q": {**entry, "shape": [True, 4]}}, bytes(16)), "malformed")
    refused("f.safetensors", made({"q": {**entry, "dtype": "C64"}}, bytes(16)), "wrong_dtype")
    refused("f.safetensors", made(b'{"q": {}, "q": {}}'), "duplicate_array")
    refused("f.safetensors", made({f"t{i}": entry for i in range(100)}), "too_large")


def test_zip_bombs():
    bomb = zipped([("q.npy", bytes(8 * limits.CLINIC_ARRAY_NUMBERS + 10**4))], zipfile.ZIP_DEFLATED)
    assert len(bomb) < 100_000
    refused("file.npz", bomb, "too_large")
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }"
    longer = zipped([("q.npy", header_npy(header, bytes(10**6)))], zipfile.ZIP_DEFLATED)
    refused("file.npz", longer, "malformed")
    lying = bytearray(zipped([("q.npy", header_npy(header, bytes(10**6)))], zipfile.ZIP_DEFLATED))
    directory = lying.rindex(b"PK\x01\x02")
    lying[directory + 24 : directory + 28] = struct.pack("<I", 200)  # the directory claims 200 bytes unpacked
    refused("file.npz", bytes(lying), "not_a_zip")


def test_archives_that_are_odd():
    entry = npy(ARRAYS["q"])
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([("q.npy", entry), ("q.npy", entry)])
    refused("file.npz", twice, "duplicate_array")
    refused("file.npz", zipped([(f"a{i}.npy", b"") for i in range(100)]), "too_large")
    refused("file.npz", zipped([("q.npy", entry)], zipfile.ZIP_BZIP2), "malformed")
    refused("file.npz", b"PK\x05\x06" + bytes(3), "not_a_zip")
    refused("file.npz", b"", "empty")
    damaged = bytearray(zipped([("q.npy", entry)]))
    damaged[150] ^= 0xFF
    refused("file.npz", bytes(damaged), "not_a_zip")
    encrypted = bytearray(zipped([("q.npy", entry)]))
    encrypted[encrypted.rindex(b"PK\x01\x02") + 8] |= 1
    refused("file.npz", bytes(encrypted), "malformed")


def test_hostile_names_are_not_followed_and_print_safely():
    arrays = zipped([("../../etc/q.npy", npy(ARRAYS["q"])), ("\x1b[31m\u202ek.npy", npy(ARRAYS["k"]))])
    assert diagnose_uploads([("file.npz", arrays)]).verdict == "bad_input"
    message = refused("q\x1b[31m\u202e<script>.exe", b"x", "unknown_type")
    assert message.isascii()
    assert "\x1b" not in message


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (b"{", "malformed"),
        (b"[1, 2]", "malformed"),
        (b"\xff\xfe\x00", "malformed"),
        (b"[" * 100_000, "malformed"),
        (b'{"q": [[1, 2], [3]]}', "malformed"),
        (b'{"q": [["a"]]}', "wrong_dtype"),
        (b'{"q": [null]}', "wrong_dtype"),
        (b'{"q": 1' + b"0" * 400 + b"}", "wrong_dtype"),
        (b'{"q": {"a": 1}}', "wrong_dtype"),
        (b'{"q": ' + b"[" * 50 + b"1" + b"]" * 50 + b"}", "too_large"),
    ],
)
def test_bad_json(text, label):
    refused("file.json", text, label)


@pytest.mark.parametrize("text", [b"1,2\n3", b"1,x", b"\xff\xfe", b'"' + b"1" * 200_000])
def test_bad_csv(text):
    refused("q.csv", text, "malformed")


def test_files_that_cannot_be_opened(tmp_path):
    for path in (tmp_path / "none.npz", tmp_path, "bad\0name.npz"):
        with pytest.raises(InputError) as caught:
            load_paths([path])
        assert caught.value.label == "input.unreadable"


def test_limits_are_checked_before_reading(tmp_path, monkeypatch):
    (tmp_path / "q.npy").write_bytes(npy(ARRAYS["q"]))
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 100)
    with pytest.raises(InputError) as caught:
        load_paths([tmp_path / "q.npy"])
    assert caught.value.label == "input.too_large"
    refused("q.npy", npy(ARRAYS["q"]), "too_large")


def test_the_header_pattern_is_what_numpy_writes():
    for shape in ((), (1,), (2, 3)):
        text = npy(np.zeros(shape))[10:128].decode("latin-1")
        assert HEADER.fullmatch(text)


@pytest.mark.parametrize("setup", [Setup(), Setup(mask="causal"), Setup(n_heads=2, mask="causal")])
def test_the_tutors_own_tensors_are_read_from_json_as_from_npz(setup):
    from_json = diagnose_uploads([("tensors.json", to_json(setup).encode())])
    from_npz = diagnose_uploads([("tensors.npz", to_npz(setup))])
    assert from_json.verdict in ("correct", "undetermined"), from_json.as_text()
    assert (from_json.verdict, from_json.facts) == (from_npz.verdict, from_npz.facts)


def test_tensors_beside_arrays_of_known_names_are_left_alone():
    one = {"q": [[1.0]], "k": [[1.0]], "v": [[1.0]], "out": [[1.0]]}
    both = json.dumps({**one, "tensors": {"q": [[2.0]], "mask": [["x"]]}}).encode()
    assert set(load([("both.json", both)])) == set(one)
    meta = json.dumps({"tensors": one, "meta": {"causal": True}}).encode()
    assert set(load([("with_meta.json", meta)])) == {*one, "meta"}
    for other in ([1, 2], 3, "q", None):
        assert load([("other.json", json.dumps({"tensors": other}).encode())]) == {}
