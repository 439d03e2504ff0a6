"""The pages Real heads and Your tensors: they show the model's and the file's own numbers."""

import io
from collections.abc import Callable

import numpy as np
import pytest

from core.attention import attention, softmax
from core.capture_errors import errors, own_tensor
from core.captures import example_capture, to_capture
from core.grammar import SENTENCES
from core.head_scores import JOBS, cut_cells, measure
from core.held_out import TASKS
from core.interventions import findings
from core.real import head_names
from core.setup import Setup, run
from core.tiny_model import N_HEADS, Change, Cut, read_sentence, run_model
from tests.pages.conftest import drawn, read, words
from ui import captures_board

KEYS = read_sentence(SENTENCES["keys"])
NINA = "Paul called Nina because she"
WALK = ("start", "score", "scale", "softmax", "blend", "mask", "heads")
WHOLE = {"example": "model", "mask": "causal", "sentence": NINA, "seq_len": 6, "real_head": "L0H0"}


def test_the_page_draws_all_eight_maps_of_the_sentence(open_page: Callable) -> None:
    page = open_page("real_heads")
    steps = run_model(KEYS)
    for index, name in enumerate(head_names("model")):
        weights = steps.head(*divmod(index, N_HEADS)).weights
        np.testing.assert_array_equal(drawn(page)[name]["values"], weights)


def test_the_score_table_is_the_measured_one(open_page: Callable) -> None:
    heads, table = measure().heads, drawn(open_page("real_heads"))["jobs"]
    assert table["values"].shape == (9, len(JOBS))
    for col, job in enumerate(JOBS):
        np.testing.assert_allclose(table["values"][:8, col], heads.weight[job].ravel())
        assert table["values"][8, col] == heads.uniform[job]


def test_one_cell_is_cut_and_the_prediction_stands_beside_the_right_one(open_page: Callable) -> None:
    page = open_page("real_heads", **WHOLE, row=5, col=3, cut="true")
    words_of = read_sentence(NINA)
    trained, cut = run_model(words_of), run_model(words_of, Change(cuts=(Cut(0, 0, 5, 3),)))
    shown = drawn(page)["next"]
    assert shown["colLabels"] == ["as trained", "changed"]
    swam = shown["rowLabels"].index("swam")
    np.testing.assert_array_equal(shown["values"][swam, 0], trained.probabilities[5].max())
    assert shown["values"][swam, 0] > 0.9 > 0.1 > shown["values"][swam, 1]
    np.testing.assert_array_equal(drawn(page)["L0H0"]["values"], cut.head(0, 0).weights)
    assert drawn(page)["L0H0"]["values"][5, 3] == 0
    measured = cut_cells("coreference", 0, 0)
    assert all(f"{p:.3f}" in words(page) for p in (measured.before, measured.after, measured.control))


@pytest.mark.parametrize("fault", ["scale.missing", "mask.missing_causal", "score.qk_swapped"])
def test_a_fault_shows_its_price_and_its_code(open_page: Callable, fault: str) -> None:
    page = open_page("real_heads", fault=fault)
    trained, broken = measure(), measure(Change(fault=fault))
    for task in TASKS:
        row = f"| {task} | {trained.n[task]} | {trained.accuracy[task]:.3f} | {broken.accuracy[task]:.3f} |"
        assert row in words(page)
    assert f"| {trained.text_loss:.2f} | {broken.text_loss:.2f} |" in words(page)
    assert f"def {fault.replace('.', '_')}" in page.get("code")[0].value


def test_a_head_is_switched_off(open_page: Callable) -> None:
    page = open_page("real_heads", off="L1H1")
    off = measure(Change(off=frozenset({(1, 1)})))
    assert drawn(page)["L1H1"]["title"] == "L1H1, off"
    assert f"{off.text_loss:.2f}" in words(page)


def test_what_is_true_is_said_with_measured_numbers(open_page: Callable) -> None:
    text = words(open_page("real_heads")).replace("\\", "")
    assert all(sentence in text for sentence in findings())


def test_a_cut_that_leaves_nothing_is_told(open_page: Callable) -> None:
    page = open_page("real_heads", **WHOLE | {"row": 0, "col": 0, "cut": "true"})
    assert "cannot be cut" in page.warning[0].value
    assert drawn(page)["next"]["colLabels"] == ["as trained"]


def test_unknown_words_are_told_and_kept(open_page: Callable) -> None:
    page = open_page("real_heads")
    page.text_input(key="typed").set_value("the kets are dusty .").run()
    assert "kets” is not a word of this model" in page.warning[0].value.replace("\\", "")
    assert "keys" in page.warning[0].value
    assert page.text_input(key="typed").value == "the kets are dusty ."
    page.text_input(key="typed").set_value("the keys are dusty .").run()
    assert not page.warning
    assert drawn(page)["L0H0"]["rowLabels"] == ["<s>", "the", "keys", "are", "dusty", "."]


def test_unknown_words_are_told_once(open_page: Callable) -> None:
    junk = "the k\u202eets are dusty ."
    page = open_page("real_heads", example="model", sentence=junk)
    (told,) = page.warning
    assert "“k‹U+202E›ets” is not a word" in read(told.value)
    (told,) = open_page("score", example="model", sentence=junk).warning
    assert "is not a word" in told.value


def test_a_file_is_named_once_where_it_is_refused(open_page: Callable) -> None:
    for data in (b"PK\x03\x04 cut", b"no arrays at all", b"", np_file(q=np.ones(3))):
        page = open_page("your_tensors")
        page.main.get("file_uploader")[0].set_value([("../my\u202efile.npz", data, "")]).run()
        (told,) = page.error
        assert read(told.value).startswith("../my‹U+202E›file.npz: ")
        assert read(told.value).count("‹U+202E›") == 1


def np_file(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_a_word_is_added_and_an_example_started_from(open_page: Callable) -> None:
    page = open_page("real_heads")
    page.selectbox(key="start_from").select("Anna").run()
    assert page.text_input(key="typed").value == SENTENCES["Anna"]
    page.selectbox(key="add_word").select("the").run()
    assert page.text_input(key="sentence").value == SENTENCES["Anna"] + " the"
    assert page.number_input(key="seq_len").value == len(SENTENCES["Anna"].split()) + 2


def test_visiting_leaves_the_walk_alone_until_something_is_picked(open_page: Callable) -> None:
    page = open_page("real_heads", example="coref")
    assert page.selectbox(key="example").value == "coref"
    page.selectbox(key="which_head").select("L1H3").run()
    assert page.selectbox(key="example").value == "model"
    assert page.selectbox(key="mask").value == "causal"
    assert page.number_input(key="seq_len").value == len(KEYS) + 1


@pytest.mark.parametrize("slug", WALK)
def test_a_head_of_the_model_is_traced_through_the_walk(open_page: Callable, slug: str) -> None:
    page = open_page(slug, **WHOLE, row=5, col=3)
    steps = run(Setup("model", 6, 16, "causal", sentence=NINA, real_head="L0H0")).heads.head(0)
    matrices = drawn(page)
    shown = [name for name in matrices if name in ("q", "scores", "scaled_scores", "weights", "output")]
    assert shown or slug == "heads"
    for name in shown:
        whole = getattr(steps, name)
        columns = slice(matrices[name]["colStart"], matrices[name]["colStart"] + matrices[name]["cols"])
        np.testing.assert_array_equal(matrices[name]["values"], whole[:, columns])
    if slug == "heads":
        layer = run_model(read_sentence(NINA)).layers[0].multi_head.heads
        np.testing.assert_allclose(matrices["weights.2"]["values"], layer.weights[2], atol=1e-6)


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_captures_are_browsed_and_traced(open_page: Callable, name: str) -> None:
    page = open_page("your_tensors", example=name, real_head="5", seq_len=15, drawn=captures_board.COMPUTED)
    weights = example_capture(name).head(5).weights
    np.testing.assert_array_equal(drawn(page)["matrices"]["values"], weights)
    assert drawn(page)["matrices"]["title"] == "Weights A, from q and k"
    assert "Apache-2.0" in words(page)
    assert f"{errors(example_capture(name)).output:.1e}" in words(page)
    assert "no more than rounding in float32" in words(page)
    assert not page.main.warning
    assert "def capture(model" in page.get("code")[0].value
    score = open_page("score", example=name, real_head="5", seq_len=15)
    np.testing.assert_allclose(
        drawn(score)["scores"]["values"], example_capture(name).head(5).scores[:15, :15], atol=1e-4
    )
    assert not drawn(open_page("heads", example=name, real_head="5"))


def test_the_files_own_weights_are_drawn_where_it_holds_some(open_page: Callable) -> None:
    page = open_page("your_tensors", example="minilm", real_head="5", other="smollm2", other_head=3)
    own, matrices = own_tensor(example_capture("minilm"), "weights", 5), drawn(page)
    assert not np.array_equal(own, example_capture("minilm").head(5).weights)  # they differ by rounding
    for name in ("matrices", "5"):
        np.testing.assert_array_equal(matrices[name]["values"], own)
    assert matrices["matrices"]["title"] == "Weights A, from the file"
    assert matrices["other_map"]["title"] == "Weights A, from q and k"  # that file holds none
    assert "holds no weights" in words(open_page("your_tensors", example="smollm2"))


def test_a_file_whose_own_weights_are_wrong_is_not_called_right(open_page: Callable) -> None:
    arrays = wrong_axis()
    page = open_page("your_tensors")
    page.main.get("file_uploader")[0].set_value([("mine.npz", np_file(**arrays), "")]).run()
    (told,) = page.main.warning
    cell = errors(to_capture(arrays)).beyond[0]
    assert cell.head == 2
    assert "own weights and output are not what q, k and v give" in read(told.value)
    assert f"Weights, head 2, query {cell.row}, key {cell.col}: the file holds {cell.own:.3f}" in read(
        told.value
    )
    assert f"the four steps give {cell.computed:.3f}" in read(told.value)
    assert "The four steps, run on q, k and v" not in words(page)
    np.testing.assert_array_equal(drawn(page)["2"]["values"], arrays["weights"][2])
    page.button(key="worst_yours").click().run()
    assert (page.selectbox(key="which_head").value, page.number_input(key="row").value) == ("2", cell.row)
    np.testing.assert_array_equal(drawn(page)["matrices"]["values"], arrays["weights"][2])
    page.segmented_control("drawn").set_value(captures_board.COMPUTED).run()
    np.testing.assert_array_equal(drawn(page)["matrices"]["values"], to_capture(arrays).head(2).weights)


def wrong_axis() -> dict[str, np.ndarray]:
    """A capture whose head 2 has its softmax over the queries."""
    rng = np.random.default_rng(7)
    q, k, v = (rng.normal(size=(4, 6, 8)).astype(np.float32) for _ in "qkv")
    steps = attention(q, k, v)
    weights = steps.weights.copy()
    weights[2] = softmax(steps.scaled_scores[2].T).T
    return {"q": q, "k": k, "v": v, "weights": weights, "out": weights @ v}


def test_two_captures_stand_side_by_side(open_page: Callable) -> None:
    page = open_page("your_tensors", example="minilm", other="smollm2", other_head=3)
    np.testing.assert_array_equal(
        drawn(page)["other_map"]["values"], example_capture("smollm2").head(3).weights
    )
    assert "3 query heads share each key/value head" in words(page)


def test_a_length_beyond_the_sentence_is_mended_everywhere(open_page: Callable) -> None:
    page = open_page("score", example="model", seq_len=64)
    most = len(KEYS) + 1
    assert page.number_input(key="seq_len").value == most
    assert page.query_params["seq_len"] == str(most)
    assert drawn(page)["scores"]["rows"] == most
    assert page.slider[0].value == most


@pytest.mark.parametrize("example", ["model", "minilm"])
def test_the_kite_after_a_trained_head_has_its_own_size(open_page: Callable, example: str) -> None:
    page = open_page("score", example=example, d_k=1024, n_heads=8, seed=7)
    page.selectbox(key="example").select("kite").run()
    assert not page.exception
    assert page.select_slider(key="d_k").value == 4
    assert page.selectbox(key="n_heads").value == 1
    assert page.number_input(key="seed").value == 0


def test_the_model_after_the_kite_has_its_own_sentence(open_page: Callable) -> None:
    page = open_page("score", sentence=NINA, real_head="L1H3")
    page.selectbox(key="example").select("model").run()
    assert page.text_input(key="sentence").value == SENTENCES["keys"]
    assert page.number_input(key="seq_len").value == len(KEYS) + 1


def test_an_upload_that_is_not_here_is_asked_for_again(open_page: Callable) -> None:
    page = open_page("score", example="yours", real_head="3", seq_len=20)
    assert "choose yours again" in page.sidebar.warning[0].value
    page.run()
    assert "choose yours again" in page.sidebar.warning[0].value
    page.selectbox(key="example").select("coref").run()
    assert not page.sidebar.warning
    assert "choose yours again" in open_page("your_tensors", example="yours").info[0].value
