"""The mask: −∞ before softmax is exactly 0 after it."""

from core.arithmetic import mask_cell
from core.attention import mask
from core.leak import leak_test
from ui import controls, instead, labs, predict, presenter, stage, tensors, trace
from ui.view import View


def render(view: View) -> None:
    """The weights without a mask, the masked scores, the weights with it; then the leak test."""
    stage.idea("mask")
    open_view = view.but(mask="none")
    masked_view = view.but(mask="causal") if view.setup.mask == "none" else view
    if masked_view is not view:
        instead.tell("mask", "No mask chosen", "Choose causal", mask="causal")
    stage.show_step(masked_view, before_and_after, "weights", max_height=presenter.rest(272))
    leak, arithmetic, code = stage.thirds()
    with leak, presenter.screen("leak"):
        position = controls.replaced_word(view.inputs)
        tests = {shown.setup.mask: leak_test(shown.setup, position) for shown in (open_view, masked_view)}
        stage.leak(masked_view, tests)
    with arithmetic, presenter.screen("leak", "arithmetic"):
        trace.show(masked_view, "mask", lambda: stage.arithmetic(masked_view, mask_cell))
    with code:
        predict.show(view, "mask")
        stage.code(mask)
        stage.pitfalls("mask")
    labs.mask.show(masked_view)


def before_and_after(masked_view: View) -> list:
    """No mask at the left; with the mask, the scores and the weights."""
    open_view = masked_view.but(mask="none")
    return [
        tensors.matrix(open_view, "weights", (0, 0), id="open", title="Weights, no mask", sources={}),
        tensors.matrix(masked_view, "masked_scores", (0, 1)),
        tensors.matrix(masked_view, "weights", (0, 2), lead="softmax"),
    ]


if __name__ == "__main__":
    from app import main

    main()
