import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tests.ui.matrices import make
from ui.matrix import Matrix, news

WORDS = ("The", "kite", "The")
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1, 2), np.inf, -np.inf, np.nan])
ANY = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=4), elements=NUMBERS)


def complaint(values=((1.0, 2.0), (3.0, 4.0)), **more) -> str:
    with pytest.raises(ValueError, match=r"[Mm]atrix") as raised:
        make(np.asarray(values), **more)
    return str(raised.value)


def test_labels_that_do_not_fit_are_refused_with_both_counts():
    text = complaint(np.zeros((7, 4)), row_labels=WORDS)
    assert text == "Matrix 'scores' has 3 row labels, but its values have shape (7, 4): 7 rows."
    assert "2 column labels" in complaint(np.zeros((7, 4)), col_labels="ab")


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.zeros((3, 0))])
def test_a_matrix_without_cells_is_refused(values):
    assert f"needs rows and columns, found shape {values.shape}" in complaint(values)


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((2, 2, 2))])
def test_other_ranks_are_refused(values):
    with pytest.raises(ValueError, match="needs rows and columns, found shape"):
        Matrix("s", "S", values, WORDS, WORDS, "query", "key", "share")


@pytest.mark.parametrize("values", [np.zeros((2, 2), complex), np.full((2, 2), "1"), np.full((2, 2), None)])
def test_what_is_no_real_number_is_refused(values):
    assert f"needs an array of real numbers, found {values.dtype}" in complaint(values)


def test_lists_are_refused():
    with pytest.raises(ValueError, match="needs an array of real numbers, found list"):
        Matrix("s", "S", [[1.0]], "a", "b", "query", "key", "share")


def test_colours_are_known_and_fit_the_categories():
    assert "diverging, share, sequential, origin; matrix 'scores' has 'rainbow'" in complaint(
        colours="rainbow"
    )
    assert "found colours='origin' and origin=None" in complaint(colours="origin")
    assert "found colours='share' and origin=given" in complaint(
        colours="share", origin=np.zeros((2, 2), int)
    )


def test_marks_of_another_shape_are_refused_with_both_shapes():
    text = complaint(changed=np.zeros((2, 3), bool))
    assert text == "Matrix 'scores': changed has shape (2, 3), values has (2, 2)."


@given(ANY, ANY)
def test_news_is_what_the_present_matrix_does_not_hold_at_the_same_place(next_one, present):
    found = news(make(next_one), make(present))

    assert found.shape == next_one.shape
    for (row, col), number in np.ndenumerate(next_one):
        there = present[row : row + 1, col : col + 1]
        assert found[row, col] == (there.tobytes() != number.tobytes())


def test_nothing_is_news_of_a_matrix_to_itself_whatever_its_layout():
    turned = np.arange(12.0).reshape(3, 4).T
    assert not news(make(turned), make(turned.copy())).any()
    assert not news(make(np.eye(3, dtype=bool)), make(np.eye(3))).any()
