"""Everything that knows the screen: controls, matrices, figures, text. Pages build on it."""
