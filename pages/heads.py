"""Many heads: the width is cut, each head attends on its own slice, the outputs are joined."""

from core.heads import merge_heads, multi_head, split_heads
from ui import controls, fan, stage, tensors, text
from ui.view import View


def render(view: View) -> None:
    """The fan-out and fan-in with its shapes, then one of its three parts in numbers."""
    stage.idea("heads")
    many = view.but(n_heads=2) if view.setup.n_heads == 1 else view
    fan.show(many)
    part = controls.heads_part(list(PARTS))
    if many is not view:
        text.caption("heads", "One head chosen")
    matrices, explained = stage.columns()
    with matrices:
        stage.show(many, PARTS[part](many), part)
    with explained:
        EXPLAINED[part](many)
        stage.pitfalls("heads")


def side_by_side(view: View) -> list:
    """The weights of every head."""
    return tensors.all_heads(view, "weights")


def explain_heads(view: View) -> None:
    """What each head gives the selected pair of words."""
    stage.compare_heads(view)
    stage.code(multi_head)


def explain_shapes(view: View) -> None:
    """The selected element's index on every rung."""
    stage.addresses(view)
    stage.code(split_heads, merge_heads)


def explain_join(view: View) -> None:
    """The selected number of the joined output, term by term."""
    stage.projection(view)


PARTS = {"Heads side by side": side_by_side, "Shapes": tensors.rungs, "Concatenate and project": tensors.join}
EXPLAINED = {
    "Heads side by side": explain_heads,
    "Shapes": explain_shapes,
    "Concatenate and project": explain_join,
}


if __name__ == "__main__":
    from app import main

    main()
