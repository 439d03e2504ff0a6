"""Every page, run as Streamlit runs it: what it says, and that what it draws is what was computed."""

from collections.abc import Callable

import numpy as np
import pytest

from core.examples import EXAMPLES
from core.leak import leak_test
from core.setup import Setup, inputs, run
from pages import PAGES
from tests.pages.conftest import drawn, words
from ui.teaching import notes, terms_of

WALK = ("start", "score", "scale", "softmax", "blend", "mask", "heads")
SLUGS = [page.slug for page in PAGES if page.slug in WALK]  # the others have tests of their own
STATES = [
    Setup(),
    Setup(seq_len=64, d_k=1024, n_heads=8, mask="window"),
    Setup(seq_len=10, mask="causal+padding", edits="q.0.4.0=5;v.0.1.0=-3"),
    Setup(example="needle", seq_len=8, mask="causal"),
    Setup(example="two_heads", n_heads=2),
    Setup(example="random", seq_len=2, d_k=1, seed=7, mask="padding"),
]


@pytest.mark.parametrize("slug", SLUGS)
def test_page_says_its_idea_and_shows_the_code_that_runs(open_page: Callable, slug: str) -> None:
    page = open_page(slug)
    assert page.get("code")
    assert "def " in page.get("code")[0].value
    assert [expander.label for expander in page.main.get("expander")] == ["What goes wrong here"]


@pytest.mark.parametrize("setup", STATES, ids=lambda setup: f"{setup.example}-{setup.seq_len}-{setup.mask}")
@pytest.mark.parametrize("slug", SLUGS)
def test_every_matrix_is_the_tensor_it_names(open_page: Callable, slug: str, setup: Setup) -> None:
    matrices = drawn(open_page(slug, **_parameters(setup)))
    assert matrices
    for name, matrix in matrices.items():
        whole = _tensor(slug, setup, name)
        if name not in ("q", "kT"):  # of these a window of channels is drawn
            assert matrix["values"].shape == whole.shape
        rows, columns = matrix["rowStart"], matrix["colStart"]
        part = whole[rows : rows + matrix["rows"], columns : columns + matrix["cols"]]
        np.testing.assert_array_equal(matrix["values"], part, err_msg=f"{name} on {slug}")


def _parameters(setup: Setup) -> dict[str, object]:
    """What stands in the URL for this state; each field has its own name there."""
    first = Setup()
    return {
        name: getattr(setup, name) for name in Setup.__slots__ if getattr(setup, name) != getattr(first, name)
    }


def _tensor(slug: str, setup: Setup, name: str) -> np.ndarray:
    """The array that a matrix of this id on this page must show, from the core alone."""
    if name == "open":
        return run(_but(setup, mask="none")).heads.weights[0]
    if slug == "mask" and setup.mask == "none":
        setup = _but(setup, mask="causal")
    if slug == "heads" and setup.n_heads == 1:
        setup = _but(setup, n_heads=2)
    steps = run(setup)
    if name == "leak":
        last = setup.seq_len - 1
        return np.stack([leak_test(_but(setup, mask=mask), last).moved[0] for mask in ("none", setup.mask)])
    if name in ("row_sums", "column_sums"):
        sums = steps.heads.weights[0].sum(axis=-1 if name == "row_sums" else -2)
        return np.round(sums[:, None] if name == "row_sums" else sums[None], 12)
    if name == "kT":
        return steps.heads.k[0].T
    tensor, _, head = name.partition(".")
    return getattr(steps.heads, tensor)[int(head or 0)]


def _but(setup: Setup, **changes: object) -> Setup:
    return Setup(**{name: getattr(setup, name) for name in Setup.__slots__} | changes)


# --- the kite, in the numbers that every reader first sees ---


def test_score_of_the_kite_is_written_out(open_page: Callable) -> None:
    page = open_page("score")
    assert "it asks → kite offers" in words(page)
    assert "3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8" in words(page)
    assert drawn(page)["scores"]["values"][4, 1] == 8


def test_scale_of_the_kite_is_written_out(open_page: Callable) -> None:
    page = open_page("scale")
    assert "8 / √4 = 8 / 2 = 4" in words(page)
    assert drawn(page)["scaled_scores"]["values"][4].tolist() == [-1, 4, 0, -1, 1, -1, 1.5]


def test_softmax_of_the_kite_is_written_out(open_page: Callable) -> None:
    page = open_page("softmax")
    assert "e⁴ / (e⁻¹ + e⁴ + e⁰ + e⁻¹ + e¹ + e⁻¹ + e^1.5)" in words(page)
    assert "= 54.598 / 63.902 = 0.854" in words(page)
    assert drawn(page)["weights"]["values"][4, 1].round(3) == 0.854


def test_blend_of_the_kite_is_written_out(open_page: Callable) -> None:
    page = open_page("blend")
    assert "0.854·9" in words(page)
    assert "= 7.851" in words(page)
    assert drawn(page)["output"]["values"][4].round(2).tolist() == [7.85, 0.16, 1.51]


def test_start_page_follows_the_row_of_it(open_page: Callable) -> None:
    text = words(open_page("start"))
    assert all(number in text for number in ("8", "4", "0.854", "7.851"))


def test_causal_mask_leaves_the_first_word_to_itself(open_page: Callable) -> None:
    page = open_page("mask", mask="causal", row=0, col=1)
    matrices = drawn(page)
    assert matrices["weights"]["values"][0].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert np.isneginf(matrices["masked_scores"]["values"][np.triu_indices(7, 1)]).all()
    assert "hidden: 2 becomes −∞" in words(page)
    assert "The" in words(page)


def test_leak_test_counts_the_rows_that_move(open_page: Callable) -> None:
    page = open_page("mask", mask="causal")
    assert "no mask: **7 of 7** rows move" in words(page)
    assert "causal: **1 of 7** rows move" in words(page)
    page.selectbox(key="replace").select("4 it").run()
    assert "causal: **3 of 7** rows move" in words(page)
    assert leak_test(Setup(mask="causal"), 4).told(0) in words(page)


def test_two_heads_look_elsewhere(open_page: Callable) -> None:
    page = open_page("heads", example="two_heads", n_heads=2, col=3)
    assert "it → because in each head" in words(page).replace("**", "")
    weights = [drawn(page)[f"weights.{head}"]["values"][4] for head in (0, 1)]
    assert [int(row.argmax()) for row in weights] == [1, 3]


@pytest.mark.parametrize("part", ["Shapes", "Concatenate and project"])
def test_heads_page_shows_its_other_parts(open_page: Callable, part: str) -> None:
    page = open_page("heads", example="two_heads", n_heads=2, part=part)
    matrices = drawn(page)
    if part == "Shapes":
        ladder = [matrices[f"rung{number}"] for number in range(4)]
        assert [rung["shape"] for rung in ladder] == [
            "1 × 7 × 8",
            "1 × 7 × 2 × 4",
            "1 × 2 × 7 × 4",
            "1 × 7 × 8",
        ]
        q = inputs(Setup(example="two_heads", n_heads=2)).q
        np.testing.assert_array_equal(ladder[2]["values"], q.reshape(14, 4))
    else:
        steps = run(Setup(example="two_heads", n_heads=2))
        np.testing.assert_array_equal(matrices["projected"]["values"], steps.output)
        np.testing.assert_array_equal(
            matrices["concat"]["values"] @ matrices["w_o"]["values"], matrices["projected"]["values"]
        )


# --- the shared inputs, as a reader moves them ---


def test_a_slider_that_a_browser_meets_late_begins_where_the_length_is(open_page):
    """A run that was cut short may have sent no slider: the browser takes the start of the next one."""
    page = open_page("start", seq_len="9").run()
    assert list(page.slider(key="seq_len_dragged").proto.default) == [9]


def test_slider_reaches_every_matrix(open_page: Callable) -> None:
    page = open_page("start")
    page.slider(key="seq_len_dragged").set_value(12).run()
    assert page.number_input(key="seq_len").value == 12
    shapes = {name: matrix["values"].shape for name, matrix in drawn(page).items()}
    assert shapes == {"scores": (12, 12), "scaled_scores": (12, 12), "weights": (12, 12), "output": (12, 3)}


@pytest.mark.parametrize(
    ("slug", "example", "said"),
    [
        ("clinic", "kite", True),
        ("real_heads", "kite", True),
        ("real_heads", "model", False),
        ("score", "kite", False),
    ],
)
def test_the_sidebar_says_whose_inputs_it_holds(
    open_page: Callable, slug: str, example: str, said: bool
) -> None:
    assert ("belong to the walk" in words(open_page(slug, example=example))) == said


def test_a_typed_length_moves_the_slider(open_page: Callable) -> None:
    page = open_page("start", seq_len=9)
    assert page.slider(key="seq_len_dragged").value == 9
    page.number_input(key="seq_len").set_value(11).run()
    assert page.slider(key="seq_len_dragged").value == 11


def test_shrinking_keeps_the_selected_cell_inside(open_page: Callable) -> None:
    page = open_page("score", row=6, col=6)
    page.number_input(key="seq_len").set_value(3).run()
    assert not page.exception
    assert (page.number_input(key="row").value, page.number_input(key="col").value) == (2, 2)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_starts_at_its_own_size_and_cell(open_page: Callable, name: str) -> None:
    page = open_page("score", edits="q.0.0.0=9")
    page.selectbox(key="example").select(name).run()
    assert not page.exception
    example = EXAMPLES[name]
    assert page.number_input(key="seq_len").value == example.seq_len
    assert page.number_input(key="row").value == example.row
    if name != "kite":
        assert page.text_input(key="edits").value == ""
    assert drawn(page)["scores"]["values"].shape[1] == example.seq_len


def test_all_heads_stand_side_by_side(open_page: Callable) -> None:
    page = open_page("softmax", n_heads=4)
    page.selectbox(key="head").select("all").run()
    assert list(drawn(page)) == [f"weights.{head}" for head in range(4)]


def test_edit_marks_what_it_changed_and_is_undone_by_one_click(open_page: Callable) -> None:
    page = open_page("score", edits="q.0.4.0=4")  # which opens the box of the numbers to edit
    page.number_input(key="edit_q").set_value(5).run()
    assert page.text_input(key="edits").value == "q.0.4.0=5"
    assert drawn(page)["scores"]["values"][4, 1] == 12
    assert drawn(page)["scores"]["changed"]
    next(one for one in page.button if one.label == "Undo all edits").click().run()
    assert page.text_input(key="edits").value == ""
    assert drawn(page)["scores"]["values"][4, 1] == 8
    assert not drawn(page)["scores"]["changed"]


JUNK = {
    "example": "<b>",
    "seq_len": "many",
    "d_k": "5",
    "mask": "inverted",
    "n_heads": "3",
    "head": "9",
    "seed": "-1",
    "row": "99",
    "col": "x",
    "channel": "1e9",
    "edits": "q.9.9.9=nan;;=;z",
    "n_pad": "0",
    "window": "NaN",
    "replace": "nobody",
    "part": "?",
    "nonsense": "1",
}


@pytest.mark.parametrize("slug", SLUGS)
def test_junk_in_the_url_gives_the_default_page(open_page: Callable, slug: str) -> None:
    junk, clean = drawn(open_page(slug, **JUNK)), drawn(open_page(slug))
    assert {name: matrix["values"].tolist() for name, matrix in junk.items()} == {
        name: matrix["values"].tolist() for name, matrix in clean.items()
    }


@pytest.mark.parametrize("slug", [page.slug for page in PAGES])
def test_a_changed_input_settles(open_page: Callable, slug: str) -> None:
    """The page is drawn before the sidebar; if the two never agreed, the script would start over for ever."""
    page = open_page(slug)
    page.number_input(key="seed").set_value(3).run()
    assert not page.exception
    assert page.number_input(key="seed").value == 3


@pytest.mark.parametrize(("mask", "size"), [("padding", "n_pad"), ("window", "window")])
def test_a_size_that_is_no_longer_drawn_does_not_start_the_page_again_for_ever(open_page, mask, size):
    """The size stays in Streamlit's memory when its slider goes with the mask."""
    app = open_page("start", mask=mask, **{size: 3})
    app.selectbox(key="mask").set_value("causal").run(timeout=10)
    assert not app.exception
    assert app.slider(key="seq_len_dragged").value == 7


def test_the_first_pages_notes_count_its_square_matrices(open_page: Callable) -> None:
    matrices = drawn(open_page("start", seq_len=9))
    square = [one["symbol"] for one in matrices.values() if one["values"].shape == (9, 9)]
    assert square == ["S", "Z", "A"]
    assert "Three of them, S, Z and A, are T × T" in notes("start").trap


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_sidebar_says_the_examples_title(open_page: Callable, name: str) -> None:
    captions = [one.value for one in open_page("score", example=name).sidebar.caption]
    assert f"**{EXAMPLES[name].title}.** {EXAMPLES[name].about}" in captions


def test_the_score_page_says_where_q_k_and_v_come_from(open_page: Callable) -> None:
    said = "three learned matrices"
    assert said in words(open_page("score"))
    assert said not in words(open_page("score", example="model"))
    assert {"Projection (W_Q, W_K, W_V)", "Embedding x"} <= {term.name for term in terms_of("score")}
