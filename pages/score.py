"""Step 1: every query meets every key in one dot product."""

from core.arithmetic import score_cell
from core.attention import score
from ui import predict, stage, tensors, trace
from ui.view import View


def render(view: View) -> None:
    """Q at the left, Kᵀ on top, S where they meet: laid out like the product itself."""
    stage.idea("score")
    matrices, arithmetic = stage.columns()
    with matrices:
        stage.show_step(view, product, "scores")
        stage.origin(view)
        stage.code(score)
    with arithmetic:
        predict.show(view, "score")
        trace.show(view, "score", lambda: stage.arithmetic(view, score_cell))
        stage.pitfalls("score")


def product(view: View) -> list:
    """Q (n_q × d_k), Kᵀ (d_k × n_k) and S (n_q × n_k), their rows and columns aligned."""
    shown = tensors.channels_drawn(view)
    queries = tensors.cut_channels(tensors.matrix(view, "q", (1, 0)), shown)
    keys = tensors.cut_channels(tensors.matrix(view, "k", (0, 1)), shown)
    scores = tensors.matrix(view, "scores", (1, 1), sources={"q": ["query"], "kT": ["key"]})
    return [queries, tensors.transposed(keys, "Keys Kᵀ"), scores]


if __name__ == "__main__":
    from app import main

    main()
