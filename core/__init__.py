"""The mathematics of the attention tutor: NumPy and the standard library, no screen."""
