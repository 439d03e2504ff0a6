"""Step 3: each row of scores becomes shares of 1."""

from core.arithmetic import softmax_cell
from core.attention import softmax
from core.readouts import column_sums, row_sums
from ui import labs, predict, stage, tensors, trace
from ui.view import View


def render(view: View) -> None:
    """Z beside A, with the row sums at its right and the column sums below it."""
    stage.idea("softmax")
    matrices, arithmetic = stage.columns()
    with matrices:
        stage.show_step(view, shares, "weights")
        stage.code(softmax)
    with arithmetic:
        predict.show(view, "softmax")
        trace.show(view, "softmax", lambda: stage.arithmetic(view, softmax_cell, wide=True))
        stage.pitfalls("softmax")
    labs.softmax.show(view)


def shares(view: View) -> list:
    """The scores that softmax reads, the weights, and what the weights add up to both ways."""
    weights = view.one.weights
    return [
        tensors.matrix(view, "masked_scores", (0, 0), title="Scaled scores Z"),
        tensors.matrix(view, "weights", (0, 1), lead="softmax"),
        tensors.sums(view, row_sums(weights), "row", (0, 2)),
        tensors.sums(view, column_sums(weights), "column", (1, 1)),
    ]


if __name__ == "__main__":
    from app import main

    main()
