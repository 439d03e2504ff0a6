"""Step 4: each output row is a weighted average of the value rows."""

from core.arithmetic import blend_cell
from core.attention import blend
from ui import labs, predict, stage, tensors, trace
from ui.view import View


def render(view: View) -> None:
    """A at the left, V on top of O: laid out like the product itself."""
    stage.idea("blend")
    matrices, arithmetic = stage.columns()
    with matrices:
        stage.show_step(view, product, "output")
        stage.code(blend)
    with arithmetic:
        predict.show(view, "blend")
        trace.show(view, "blend", lambda: stage.arithmetic(view, blend_cell, view.value_channel))
        stage.pitfalls("blend")
    labs.blend.show(view)


def product(view: View) -> list:
    """A (n_q × n_k), V (n_k × d_v) and O (n_q × d_v)."""
    return [
        tensors.matrix(view, "weights", (1, 0)),
        tensors.matrix(view, "v", (0, 1)),
        tensors.matrix(view, "output", (1, 1)),
    ]


if __name__ == "__main__":
    from app import main

    main()
