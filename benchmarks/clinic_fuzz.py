"""Feed the clinic malformed files, and watch that it answers each one, soon and in little memory.

    python -m benchmarks.clinic_fuzz [--files 20000] [--seed 0]

Valid files of every kind are damaged by a seeded mutator: cut short, bytes changed, pieces doubled,
removed or swapped between files, headers that lie about sizes, dtypes, offsets and names, entries
that unpack to more than they claim. A file that is still readable afterwards is not counted.
Stops at the first exception, and at any file that takes more than a second or 256 MiB. A whole run
writes docs/measured/clinic.md.
"""

import argparse
import io
import json
import resource
import struct
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.clinic_report import report
from benchmarks.report import Section, Table
from core.clinic import diagnose_uploads

SECONDS, EXTRA_MEMORY = 1.0, 256 * 2**20
NUMBERS = (
    0,
    1,
    -1,
    7,
    255,
    256,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
HEADER_WORDS = (
    "'|O'",
    "'<f8'",
    "'<f2'",
    "'<c16'",
    "'<U999999'",
    "'>i4'",
    "'|V2'",
    "'|b1'",
    "[('a', '<f8')]",
    "True",
    "False",
    "None",
    "()",
    "(-1,)",
    "(0, 5)",
    "(99999999999,)",
    "(1000000, 1000000)",
    "(3, 4)",
    "(3,)",
    "(3, 4, 1)",
    "'shape'",
    "'descr'",
    "{",
    "}",
    "\\x00",
    "__import__",
)


def _untouched(_header: dict) -> None:
    pass


def _unheard(_line: str) -> None:
    pass


def valid_files(random: np.random.Generator) -> list[tuple[str, bytes]]:
    """A good file of every kind, small."""
    arrays = {
        name: random.standard_normal((3, 4)).astype(random.choice(["f2", "f4", "f8"]))
        for name in ("q", "k", "v", "out")
    }
    arrays["mask"] = np.tri(3, dtype=bool)
    meta = {"layout": "TD", "causal": bool(random.integers(2)), "num_heads": 1}
    whole = {**arrays, "meta": np.array(json.dumps(meta))}
    text = {**{name: array.tolist() for name, array in arrays.items()}, "meta": meta}
    rows = [
        ",".join([name, *(repr(float(x)) for x in row)])
        for name, array in arrays.items()
        if name != "mask"
        for row in array
    ]
    one = io.BytesIO()
    np.save(one, arrays["q"])
    return [
        ("file.npz", _saved(np.savez, whole)),
        ("file.npz", _saved(np.savez_compressed, whole)),
        ("q.npy", one.getvalue()),
        ("file.safetensors", _safetensors(arrays, meta)),
        ("file.json", json.dumps(text).encode()),
        ("all.csv", "\n".join(rows).encode()),
    ]


def _saved(save: Callable, arrays: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def _safetensors(
    arrays: dict[str, np.ndarray],
    meta: dict[str, object],
    change: Callable[[dict], None] = _untouched,
) -> bytes:
    codes = {"float16": "F16", "float32": "F32", "float64": "F64", "bool": "BOOL"}
    header: dict[str, object] = {"__metadata__": {"meta": json.dumps(meta)}}
    data = b""
    for name, array in arrays.items():
        raw = array.tobytes()
        header[name] = {
            "dtype": codes[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


# --- damage ----------------------------------------------------------------------------------------------


def _cut(data: bytes, random: np.random.Generator) -> bytes:
    return data[: random.integers(0, len(data))]


def _change_bytes(data: bytes, random: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(random.integers(1, 9)):
        changed[random.integers(len(changed))] = random.integers(256)
    return bytes(changed)


def write_number(data: bytes, random: np.random.Generator) -> bytes:
    """A telling number over 2, 4 or 8 bytes somewhere: lengths, offsets, counts."""
    width = int(random.choice([2, 4, 8]))
    place = int(random.integers(0, max(1, len(data) - width)))
    number = NUMBERS[random.integers(len(NUMBERS))] % 2 ** (8 * width)
    return data[:place] + number.to_bytes(width, "little") + data[place + width :]


def _remove_piece(data: bytes, random: np.random.Generator) -> bytes:
    begin, end = sorted(random.integers(0, len(data) + 1, 2))
    return data[:begin] + data[end:]


def _double_piece(data: bytes, random: np.random.Generator) -> bytes:
    begin, end = sorted(random.integers(0, len(data) + 1, 2))
    return data[:end] + data[begin:end] + data[end:]


def header_word(data: bytes, random: np.random.Generator) -> bytes:
    """Another word in the header of an array."""
    start = data.find(b"{'descr'")
    if start < 0:
        return _change_bytes(data, random)
    place = start + int(random.integers(0, 70))
    word = HEADER_WORDS[random.integers(len(HEADER_WORDS))].encode()
    return data[:place] + word + data[place + len(word) * int(random.integers(0, 2)) :]


DAMAGE = (_cut, _change_bytes, write_number, _remove_piece, _double_piece, header_word)


def lying_npy(random: np.random.Generator) -> bytes:
    """A .npy whose header claims something else than it holds."""
    descr, order = HEADER_WORDS[random.integers(9)], HEADER_WORDS[9 + random.integers(3)]
    sizes = ", ".join(str(NUMBERS[i]) for i in random.integers(0, len(NUMBERS), random.integers(0, 12)))
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({sizes}), }}".encode()
    version = int(random.integers(0, 5))
    length = len(text) if random.random() < 0.8 else NUMBERS[random.integers(len(NUMBERS))] % 2**16
    packed = struct.pack("<H" if version == 1 else "<I", length)
    return b"\x93NUMPY" + bytes([version, 0]) + packed + text + bytes(int(random.integers(0, 200)))


def lying_file(random: np.random.Generator) -> tuple[str, bytes]:
    """A well-formed container round something that is not."""
    kind = random.integers(4)
    if kind == 0:
        return "q.npy", lying_npy(random)
    if kind == 1:
        names = random.choice(
            ["q.npy", "k.npy", "../v.npy", "out", "q", "meta.npy", "\u202ek.npy", "a" * 300, "x/../q.npy"], 4
        )
        return "file.npz", _zipped([(str(name), lying_npy(random)) for name in dict.fromkeys(names)], random)
    if kind == 2:
        arrays = {name: np.zeros((3, 4), np.float32) for name in ("q", "k", "v", "out")}
        return "file.safetensors", _safetensors(arrays, {}, lambda header: _lie(header, random))
    return "file.json", json.dumps({name: _nested(random, 0) for name in ("q", "k", "v", "out")}).encode()


def _zipped(entries: list[tuple[str, bytes]], random: np.random.Generator) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(
        file,
        "w",
        int(random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])),
    ) as archive:
        for name, data in entries:
            bomb = bytes(10**6) if random.random() < 0.05 else b""
            archive.writestr(name, data + bomb)
    return file.getvalue()


def _lie(header: dict, random: np.random.Generator) -> None:
    entry = header[str(random.choice(["q", "k", "v", "out"]))]
    key = str(random.choice(["dtype", "shape", "data_offsets"]))
    numbers = [NUMBERS[i] for i in random.integers(0, len(NUMBERS), random.integers(0, 10))]
    entry[key] = [numbers, "F64", None, {}, "x", -1, [[1]], ["3", 4]][random.integers(8)]


def _nested(random: np.random.Generator, depth: int) -> object:
    kind = random.integers(8)
    if kind < 3 and depth < 6:
        return [_nested(random, depth + 1) for _ in range(random.integers(0, 4))]
    return [1, 0.5, None, "x", True, 10**400, {"a": 1}, float("nan")][kind]


def damaged(random: np.random.Generator) -> tuple[str, bytes]:
    """One malformed file."""
    if random.random() < 0.3:
        return lying_file(random)
    files = valid_files(random)
    name, data = files[random.integers(len(files))]
    for _ in range(random.integers(1, 4)):
        data = DAMAGE[random.integers(len(DAMAGE))](data, random) if data else data
    if random.random() < 0.05:  # under the name of another kind
        name = files[random.integers(len(files))][0]
    return name, data


# --- watch ------------------------------------------------------------------------------------------------


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass
class Watched:
    """What a run has seen so far."""

    answers: Counter[str] = field(default_factory=Counter)  # verdicts, and labels of the malformed
    files: int = 0
    slowest: float = 0.0  # seconds of CPU
    growth: int = 0  # bytes that the process has grown by


def fuzz(count: int, seed: int = 0, tell: Callable[[str], None] = _unheard) -> Watched:
    """Until `count` malformed files were answered -> how many answers of each kind, time and memory."""
    seen, before = Watched(), _memory()
    while seen.answers["bad_input"] < count:
        name, data = damaged(np.random.default_rng([seed, seen.files]))
        begin = time.process_time()
        answer = diagnose_uploads([(name, data)], max_faults=1)
        seconds = time.process_time() - begin
        seen.slowest, seen.growth = max(seen.slowest, seconds), _memory() - before
        if seconds > SECONDS or seen.growth > EXTRA_MEMORY:
            raise AssertionError(
                f"file {seen.files} of seed {seed} took {seconds:.1f} s, memory grew by "
                f"{seen.growth / 2**20:.0f} MiB"
            )
        seen.answers[answer.verdict] += 1
        if answer.verdict == "bad_input":
            message = answer.message
            assert message.isprintable(), repr(message)
            assert len(message) < 1000, message
            seen.answers[answer.labels[0][0]] += 1
        seen.files += 1
        if seen.files % 2000 == 0:
            tell(f"{seen.files} files, {seen.answers['bad_input']} malformed")
    return seen


def section(seen: Watched) -> Section:
    """The run as it stands in docs/measured/clinic.md."""
    labels = [name for name, _ in seen.answers.most_common() if "." in name]
    about = (
        f"{seen.answers['bad_input']} malformed files (of {seen.files}; the others were still readable and "
        "got a verdict): every one ended in *bad_input* with one printable sentence, none in an exception. "
        f"The slowest took {seen.slowest:.2f} s of CPU (limit {SECONDS:g} s); the process grew by "
        f"{seen.growth / 2**20:.0f} MiB over the whole run (limit {EXTRA_MEMORY / 2**20:.0f} MiB)."
    )
    rows = [[f"`{name}`", str(seen.answers[name])] for name in labels]
    return Section("Malformed files", about, ["numpy"], [Table(("answer", "files"), rows)])


def main() -> None:
    """Run it; a whole run is written down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    seen = fuzz(chosen.files, chosen.seed, lambda line: print(line, flush=True))
    if chosen.files >= 20_000:
        report(section(seen))
    else:
        print(section(seen).markdown())


if __name__ == "__main__":
    main()
