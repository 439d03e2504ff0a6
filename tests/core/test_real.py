"""Heads of trained models in the walk: the walk's numbers are the model's own."""

from dataclasses import replace

import numpy as np
import pytest

from core.captures import EXAMPLES, Capture, example_capture, to_capture
from core.export.programs import as_python
from core.export.tensors import from_npz, to_csv, to_npz
from core.grammar import SENTENCES
from core.link import query
from core.masks import causal
from core.offered import GIVEN
from core.real import UPLOADS, head_names, natural, notes, real_heads
from core.setup import Setup, allowed, changed, inputs, run
from core.tiny_model import N_HEADS, load_weights, read_sentence, run_model
from core.worksheet import worksheet

ANNA = SENTENCES["Anna"]


def setup_of(name: str, head: str, sentence: str = ANNA, capture: Capture | None = None) -> Setup:
    """The whole head, with its own mask."""
    size = natural(real_heads(name, sentence, head, capture))
    return Setup(name, size.seq_len, size.d_k, size.mask, sentence=sentence, real_head=head, capture=capture)


@pytest.mark.parametrize("head", head_names("model"))
def test_walk_shows_the_models_own_head(head: str) -> None:
    steps = run(setup_of("model", head)).heads.head(0)
    layer, index = divmod(head_names("model").index(head), N_HEADS)
    model = run_model(read_sentence(ANNA)).head(layer, index)
    np.testing.assert_array_equal(steps.q, model.q)
    np.testing.assert_array_equal(steps.k, model.k)
    np.testing.assert_array_equal(steps.v, model.v)
    np.testing.assert_allclose(steps.weights, model.weights, atol=1e-5)
    np.testing.assert_allclose(steps.output, model.output, atol=1e-5)


@pytest.mark.parametrize("name", EXAMPLES)
def test_walk_shows_a_captures_own_heads(name: str) -> None:
    capture = example_capture(name)
    for head in head_names(name):
        steps = run(setup_of(name, head)).heads.head(0)
        np.testing.assert_allclose(steps.output, capture.out[int(head)], atol=1e-5)
        if capture.weights is not None:
            np.testing.assert_allclose(steps.weights, capture.weights[int(head)], atol=1e-5)


def test_a_whole_layer_is_joined_by_the_trained_w_o() -> None:
    setup = replace(setup_of("model", "L1H2"), n_heads=N_HEADS)
    layer = run_model(read_sentence(ANNA)).layers[1].multi_head
    np.testing.assert_allclose(run(setup).output, layer.output, atol=1e-4)
    np.testing.assert_array_equal(inputs(setup).w_o, load_weights().layers[1].w_o)


def test_tokens_are_the_labels() -> None:
    assert inputs(setup_of("model", "L0H0")).key_tokens == ("<s>", *ANNA.split())
    assert inputs(setup_of("smollm2", "0")).query_tokens == example_capture("smollm2").tokens


@pytest.mark.parametrize(("name", "mask"), [("model", "causal"), ("smollm2", "causal"), ("minilm", "none")])
def test_the_mask_is_the_models_own(name: str, mask: str) -> None:
    setup = setup_of(name, head_names(name)[0])
    assert setup.mask == mask
    assert (allowed(setup) is None) == (mask == "none")


def test_a_shorter_sequence_is_a_prefix() -> None:
    whole = setup_of("model", "L1H0")
    short = replace(whole, seq_len=4)
    np.testing.assert_array_equal(inputs(short).q, inputs(whole).q[:, :4])
    np.testing.assert_allclose(run(short).heads.weights, run(whole).heads.weights[:, :4, :4], atol=1e-12)


def test_edits_reach_a_real_head_and_leave_the_weights_file_alone() -> None:
    setup = replace(setup_of("model", "L0H0"), edits="q.0.2.3=9")
    assert inputs(setup).q[0, 2, 3] == 9
    assert changed(setup)["scores"][0, 2].any()
    assert inputs(replace(setup, edits="")).q[0, 2, 3] != 9


def upload(n_q: int = 80, n_k: int = 80, **more: object) -> Capture:
    """Two query heads on one key/value head, wider than any preset allows."""
    rng = np.random.default_rng(3)
    arrays = {"q": (2, n_q, 5), "k": (1, n_k, 5), "v": (1, n_k, 6)}
    return to_capture({name: rng.normal(size=shape) for name, shape in arrays.items()} | more)


def test_long_captures_show_their_first_64_positions_and_say_so() -> None:
    capture = upload(causal=np.array(True))
    setup = setup_of("yours", "1", capture=capture)
    assert setup.seq_len == 64
    np.testing.assert_allclose(run(setup).heads.weights[0], capture.head(1).weights[:64, :64], atol=1e-12)
    assert "64 of the 80 positions" in " ".join(notes(real_heads("yours", "", "1", capture), 64, "causal"))


def test_queries_at_the_end_of_a_long_cache_are_in_the_window() -> None:
    capture = upload(n_q=2, n_k=100, causal=np.array(True))
    heads = real_heads("yours", "", "0", capture)
    window = heads.window(64)
    assert (window.q.shape[1], len(window.tokens)) == (1, 64)
    assert window.tokens[-1] == window.query_tokens[0] == "98"
    assert any("Positions 35 to 98" in note for note in notes(heads, 64, "causal"))


def test_another_scaling_gives_the_models_weights_all_the_same() -> None:
    capture = upload(n_q=7, n_k=7, scaling=np.array(0.9))
    np.testing.assert_allclose(
        run(setup_of("yours", "0", capture=capture)).heads.weights[0], capture.head(0).weights, atol=1e-12
    )
    heads = real_heads("yours", "", "0", capture)
    assert any("does not divide by √d_k" in note for note in notes(heads, 7, "none"))


def test_a_mask_of_its_own_is_kept_under_the_name_given() -> None:
    mask = causal(6, 6)
    mask[4, 1] = False
    setup = setup_of("yours", "0", capture=upload(n_q=6, n_k=6, mask=mask))
    assert setup.mask == GIVEN
    assert run(setup).heads.weights[0, 4, 1] == 0
    np.testing.assert_array_equal(allowed(replace(setup, seq_len=5)), mask[:5, :5])


def test_notes_tell_a_changed_mask_and_a_cut_sentence() -> None:
    minilm = real_heads("minilm", "", "0")
    assert notes(minilm, 17, "none") == []
    assert "cut" in notes(minilm, 5, "none")[0]
    assert "“none”" in notes(minilm, 17, "causal")[0]


def test_start_cell_is_a_look_back() -> None:
    size = natural(real_heads("model", SENTENCES["keys"], "L1H0"))
    words = run_model(read_sentence(SENTENCES["keys"])).words
    assert (words[size.row], words[size.col]) == ("are", "keys")


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"example": "model", "d_k": 4, "seq_len": 5}, "d_k is 4, but this head's queries and keys have 16"),
        ({"example": "model", "d_k": 16, "seq_len": 20}, "seq_len is 20"),
        ({"example": "model", "d_k": 16, "seq_len": 5, "n_heads": 2}, "n_heads is 2"),
        ({"example": "model", "d_k": 16, "seq_len": 5, "real_head": "L9H9"}, "there is no head 'L9H9'"),
        ({"example": "model", "d_k": 16, "seq_len": 5, "sentence": "the kets"}, "“kets” is not a word"),
        ({"example": "minilm", "real_head": "0", "d_k": 32, "mask": GIVEN}, "mask is 'given'"),
        ({"example": UPLOADS[0], "real_head": "0"}, "an uploaded capture is not here"),
    ],
)
def test_what_a_real_head_does_not_have_is_refused(choices: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Setup(**choices)


@pytest.mark.parametrize("name", ["model", "minilm", "yours"])
def test_links_files_and_programs_take_real_heads(name: str) -> None:
    mask = causal(6, 6)
    mask[4, 1] = False
    capture = upload(n_q=6, n_k=6, mask=mask) if name == "yours" else None
    setup = setup_of(name, head_names(name, capture)[0], capture=capture)
    assert f"example={name}" in query(setup)
    assert "capture=" not in query(setup)
    exec(compile(as_python(setup, "numpy"), name, "exec"), {"__name__": "__main__"})  # it asserts its results
    if name != "yours":
        assert from_npz(to_npz(setup))[0] == setup
    assert "projected" in to_csv(setup)
    assert "too wide for paper" in worksheet(setup)
