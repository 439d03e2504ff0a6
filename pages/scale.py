"""Step 2: divide by √d_k."""

from core.arithmetic import scale_cell
from core.attention import scale
from ui import stage, tensors
from ui.view import View


def render(view: View) -> None:
    """S and Z side by side."""
    stage.idea("scale")
    left, right = stage.columns()
    with left:
        before = tensors.matrix(view, "scores", (0, 0))
        after = tensors.matrix(view, "scaled_scores", (0, 1), lead="÷ √d_k")
        stage.show_step(view, [before, after], "scaled_scores")
    with right:
        stage.arithmetic(view, scale_cell)
        stage.code(scale)
        stage.pitfalls("scale")


if __name__ == "__main__":
    from app import main

    main()
