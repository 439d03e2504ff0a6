"""How much the clinic reads. Stated on its page; checked before anything is unpacked."""

MAX_FILE_BYTES = 64 * 2**20  # of all files together
MAX_ARRAY_NUMBERS = 2**22  # in one array
MAX_TOTAL_NUMBERS = 2**24  # in all arrays together
MAX_ENTRIES = 64  # arrays in an archive
MAX_HEADER_BYTES = 4096  # of one .npy header
MAX_JSON_HEADER_BYTES = 2**18  # of a .safetensors header
MAX_TEXT_BYTES = 16 * 2**20  # of a .json or .csv file
MAX_AXES = 8

LIMITS = (
    f"Files up to {MAX_FILE_BYTES // 2**20} MiB in all, {MAX_ARRAY_NUMBERS:,} numbers in one array, "
    f"{MAX_TOTAL_NUMBERS:,} in all arrays, {MAX_ENTRIES} arrays; .json and .csv up to "
    f"{MAX_TEXT_BYTES // 2**20} MiB."
)
