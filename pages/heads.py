"""Many heads: the width is cut, each head attends on its own slice, the outputs are joined."""

from dataclasses import replace

from core.heads import join_heads, merge_heads, multi_head, split_heads
from core.real import MODEL, head_names
from core.tiny_model import N_HEADS as MODEL_HEADS
from ui import controls, fan, instead, labs, predict, stage, tensors, text
from ui.view import View


def render(view: View) -> None:
    """The fan-out and fan-in with its shapes, then one of its three parts in numbers."""
    stage.idea("heads")
    if view.setup.is_real and view.setup.example != MODEL:
        text.caption("heads", "One head of a capture")
        return
    many = several(view)
    fan.show(many)
    part = controls.heads_part(list(PARTS))
    if many is not view:
        tell_more(view)
    PARTS[part](many)
    labs.heads.show(many)


def several(view: View) -> View:
    """Two heads where one is chosen; of the tiny model all heads of the chosen head's layer, with its W_O."""
    if view.setup.n_heads > 1:
        return view
    if not view.setup.is_real:
        return view.but(n_heads=2)
    names = head_names(MODEL)
    head = names.index(view.setup.real_head) % MODEL_HEADS
    layer = view.but(n_heads=MODEL_HEADS, edits="")
    return replace(layer, selection=replace(view.selection, head=head))


def tell_more(view: View) -> None:
    """More heads are shown than are chosen."""
    if view.setup.is_real:
        text.caption("heads", "One head of the tiny model")
    else:
        instead.tell("heads", "One head chosen", "Choose 2 heads", n_heads=2)


def side_by_side(view: View) -> None:
    """The weights of every head, and what each gives the selected pair of words."""
    maps, numbers = stage.columns()
    with maps:
        stage.show_live(view, all_weights, "The weights of all heads")
        stage.code(multi_head)
    with numbers:
        predict.show(view, "heads")
        stage.compare_heads(view)
        stage.pitfalls("heads")


def all_weights(view: View) -> list:
    """A of every head."""
    return stage.every_head(view, "weights")


def shapes(view: View) -> None:
    """Q on its way into the heads and back; the selected element's index on every rung."""
    stage.show_live(view, tensors.rungs, "Q in its four shapes", max_height=360)
    code, index = stage.columns()
    with code:
        stage.code(split_heads, merge_heads)
    with index:
        predict.show(view, "heads")
        stage.addresses(view)
        stage.pitfalls("heads")


def join(view: View) -> None:
    """The heads' outputs side by side, times W_O."""
    matrices, numbers = stage.columns()
    with matrices:
        stage.show_live(view, tensors.join, "Concatenate and project")
        stage.code(join_heads)
    with numbers:
        predict.show(view, "heads")
        stage.projection(view)
        stage.pitfalls("heads")


PARTS = {"Heads side by side": side_by_side, "Shapes": shapes, "Concatenate and project": join}


if __name__ == "__main__":
    from app import main

    main()
