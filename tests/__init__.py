"""The tests mirror the code, file by file."""
