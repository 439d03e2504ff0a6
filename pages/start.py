"""The pipeline: one word's row through all four steps."""

from core.attention import attention
from ui import predict, presenter, stage, tensors
from ui.view import View


def render(view: View) -> None:
    """Four whole matrices in a row, then the selected word's own row through the steps."""
    stage.idea("start")
    stage.show_step(view, pipeline, "weights", max_height=presenter.rest(280))
    row, code = stage.columns(11, 10)
    with row, presenter.screen("row"):
        stage.row_story(view)
    with code:
        predict.show(view, "start")
        stage.code(attention)
        stage.pitfalls("start")


def pipeline(view: View) -> list:
    """S → Z → A → O, each beside the operation that made it."""
    masked = view.setup.mask != "none"
    # For a class two above two, so larger, as long as the rows are few enough for that.
    folded = presenter.presenting() and len(view.inputs.query_tokens) <= presenter.FEW_ROWS
    places = ((0, 0), (0, 1), (1, 0), (1, 1)) if folded else ((0, 0), (0, 1), (0, 2), (0, 3))
    return [
        tensors.matrix(view, "scores", places[0]),
        tensors.matrix(view, "masked_scores" if masked else "scaled_scores", places[1], lead="÷ √d_k"),
        tensors.matrix(view, "weights", places[2], lead="softmax"),
        tensors.matrix(view, "output", places[3], lead="· V"),
    ]


if __name__ == "__main__":
    from app import main

    main()
