"""Arrays as Python source that reads back exactly."""

import base64
import zlib

import numpy as np

MOST_WRITTEN = 512  # numbers that are written out; more are packed

UNPACK = '''\
def unpack(text, shape):
    """Compressed float64 numbers, as written by the tutor, back into an array."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<f8").reshape(shape).copy()'''


def assignment(name: str, array: np.ndarray) -> str:
    """`name = np.array(...)` with every number to its last bit; a large array in packed form."""
    array = np.asarray(array, dtype="<f8")
    if array.size > MOST_WRITTEN:
        packed = base64.b64encode(zlib.compress(array.tobytes(), 3)).decode("ascii")
        lines = "\n".join(packed[start : start + 100] for start in range(0, len(packed), 100))
        return f'{name} = unpack("""\n{lines}\n""", {array.shape})'
    comment = f"  # {' × '.join(map(str, array.shape))}"
    return f"{name} = np.array([{comment}\n{_rows(array, 1)}], dtype=np.float64)"


def needs_unpack(*arrays: np.ndarray) -> bool:
    """Whether any of these is written in packed form."""
    return any(array.size > MOST_WRITTEN for array in arrays)


def _rows(array: np.ndarray, depth: int) -> str:
    """The inside of the outermost brackets, one row a line."""
    indent = "    " * depth
    if array.ndim == 1:
        return f"{indent}{', '.join(_number(value) for value in array)},\n"
    if array.ndim == 2:
        return "".join(f"{indent}[{', '.join(_number(value) for value in row)}],\n" for row in array)
    return "".join(f"{indent}[\n{_rows(part, depth + 1)}{indent}],\n" for part in array)


def _number(value: float) -> str:
    """The shortest source that reads back as the same float."""
    if not np.isfinite(value):
        return {np.inf: "np.inf", -np.inf: "-np.inf"}.get(float(value), "np.nan")
    if value == int(value) and abs(value) < 1e15 and not (value == 0 and np.signbit(value)):
        return str(int(value))
    return repr(float(value))
