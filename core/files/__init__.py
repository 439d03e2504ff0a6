"""Arrays from files that somebody else made: .npy, .npz and .safetensors, read without trusting them."""

from core.files.by_content import read_arrays
from core.files.errors import InputError
from core.files.npy import read_npy
from core.files.npz import read_npz
from core.files.safetensors import read_safetensors

__all__ = ["InputError", "read_arrays", "read_npy", "read_npz", "read_safetensors"]
