"""What is drawn is the tensor it names: values, labels, shape and marks."""

from dataclasses import replace

import numpy as np
import pytest

from core.setup import Setup
from ui import tensors
from ui.controls import Selection
from ui.tensors import TENSORS
from ui.view import View

KITE = View.of(Setup(), Selection(4, 1, 0, 0))
HEADS = View.of(Setup(n_heads=4, mask="causal", edits="k.2.1.0=9"), Selection(4, 1, 0, 2))


@pytest.mark.parametrize("view", [KITE, HEADS], ids=["kite", "four heads"])
@pytest.mark.parametrize("name", TENSORS)
def test_a_matrix_is_the_tensor_it_names(view: View, name: str) -> None:
    drawn = tensors.matrix(view, name)
    tensor = getattr(view.steps.heads, name)[view.head]
    np.testing.assert_array_equal(drawn.values, tensor)
    assert drawn.shape == f"{tensor.shape[0]} × {tensor.shape[1]}"
    assert (len(drawn.row_labels), len(drawn.col_labels)) == tensor.shape


def test_sources_name_axes_that_both_matrices_have() -> None:
    for name, tensor in TENSORS.items():
        for source, axes in tensor.sources.items():
            assert set(axes) <= {tensor.rows, tensor.cols}, name
            assert set(axes) <= {TENSORS[source].rows, TENSORS[source].cols}, name


def test_marks_are_the_changed_cells_of_the_head() -> None:
    assert not tensors.matrix(HEADS, "scores", head=1).changed.any()
    changed = tensors.matrix(HEADS, "scores", head=2).changed
    assert changed[:, 1].any()
    assert not np.delete(changed, 1, axis=1).any()  # a key is a column of the scores


def test_transposed_keys_are_the_keys() -> None:
    keys = tensors.matrix(HEADS, "k")
    flipped = tensors.transposed(keys, "Keys Kᵀ")
    np.testing.assert_array_equal(flipped.values, keys.values.T)
    assert flipped.id == "kT"  # an edit of its cell comes back under this name, its axes to be swapped
    assert (flipped.row_axis, flipped.col_axis, flipped.shape) == ("channel", "key", "4 × 7")
    np.testing.assert_array_equal(flipped.changed, keys.changed.T)


def test_cut_channels_hold_the_selected_one() -> None:
    view = View.of(Setup(d_k=64), Selection(4, 1, 30, 0))
    shown = tensors.channels_drawn(view)
    cut = tensors.cut_channels(tensors.matrix(view, "q"), shown)
    assert 30 in range(shown.start, shown.stop)
    np.testing.assert_array_equal(cut.values, view.one.q[:, shown])
    assert (cut.col_start, cut.shape) == (shown.start, "7 × 64")
    assert list(cut.col_labels) == list(view.inputs.channels[shown])
    last = shown.stop - 1
    assert cut.title == f"Queries Q, columns {shown.start} to {last}"
    assert tensors.transposed(cut, "Turned").title == f"Turned, rows {shown.start} to {last}"


def test_all_heads_draw_each_head_once() -> None:
    drawn = tensors.all_heads(HEADS, "weights")
    for head, matrix in enumerate(drawn):
        np.testing.assert_array_equal(matrix.values, HEADS.steps.heads.weights[head])
    assert len({matrix.place for matrix in drawn}) == len(drawn) == 4


def test_values_below_zero_get_a_scale_with_a_sign() -> None:
    assert tensors.matrix(KITE, "v").colours == "sequential"
    below = View.of(replace(KITE.setup, edits="v.0.0.0=-1"), KITE.selection)
    assert tensors.matrix(below, "v").colours == "diverging"


@pytest.mark.parametrize("n_heads", [2, 4, 8])
def test_rungs_are_corners_of_the_queries(n_heads: int) -> None:
    view = View.of(Setup(n_heads=n_heads), Selection(4, 1, 0, 0))
    first, cut, swapped, last = tensors.rungs(view)
    n_rows, width = tensors.rung_corner(view)
    for position in range(n_rows):
        for head in range(n_heads):
            row = view.inputs.q[head, position, :width]
            np.testing.assert_array_equal(first.values[position, head * width : (head + 1) * width], row)
            np.testing.assert_array_equal(cut.values[position * n_heads + head], row)
            np.testing.assert_array_equal(swapped.values[head * n_rows + position], row)
            assert (
                cut.row_labels[position * n_heads + head] == f"{view.inputs.query_tokens[position]}, h{head}"
            )
            assert (
                swapped.row_labels[head * n_rows + position]
                == f"h{head}, {view.inputs.query_tokens[position]}"
            )
            assert (swapped.origin[head * n_rows + position] == position).all()
    np.testing.assert_array_equal(last.values, first.values)


def test_join_draws_concat_times_w_o() -> None:
    concat, w_o, projected = tensors.join(HEADS)
    np.testing.assert_array_equal(concat.values, HEADS.steps.concat)
    np.testing.assert_allclose(projected.values, concat.values @ w_o.values, rtol=1e-13)
