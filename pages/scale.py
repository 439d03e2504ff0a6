"""Step 2: divide by √d_k."""

from core.arithmetic import scale_cell
from core.attention import scale
from ui import labs, predict, stage, tensors, trace
from ui.view import View


def render(view: View) -> None:
    """S and Z side by side."""
    stage.idea("scale")
    matrices, arithmetic = stage.columns()
    with matrices:
        stage.show_step(view, division, "scaled_scores")
        stage.code(scale)
    with arithmetic:
        predict.show(view, "scale")
        trace.show(view, "scale", lambda: stage.arithmetic(view, scale_cell))
        stage.pitfalls("scale")
    labs.scale.show(view)


def division(view: View) -> list:
    """S, and Z = S / √d_k."""
    return [
        tensors.matrix(view, "scores", (0, 0)),
        tensors.matrix(view, "scaled_scores", (0, 1), lead="÷ √d_k"),
    ]


if __name__ == "__main__":
    from app import main

    main()
