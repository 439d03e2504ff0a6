"""The pipeline: one word's row through all four steps."""

from core.attention import attention
from ui import predict, stage, tensors
from ui.view import View


def render(view: View) -> None:
    """Four whole matrices in a row, then the selected word's own row through the steps."""
    stage.idea("start")
    stage.show_step(view, pipeline(view), "weights", max_height=280)
    row, code = stage.columns(11, 10)
    with row:
        stage.row_story(view)
    with code:
        predict.show(view, "start")
        stage.code(attention)
        stage.pitfalls("start")


def pipeline(view: View) -> list:
    """S → Z → A → O, each beside the operation that made it."""
    masked = view.setup.mask != "none"
    return [
        tensors.matrix(view, "scores", (0, 0)),
        tensors.matrix(view, "masked_scores" if masked else "scaled_scores", (0, 1), lead="÷ √d_k"),
        tensors.matrix(view, "weights", (0, 2), lead="softmax"),
        tensors.matrix(view, "output", (0, 3), lead="· V"),
    ]


if __name__ == "__main__":
    from app import main

    main()
