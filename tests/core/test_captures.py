"""core/captures.py"""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import attention
from core.capture_errors import errors
from core.capture_fields import MAX_POSITIONS
from core.captures import (
    EXAMPLES,
    Capture,
    CaptureError,
    example_capture,
    read_capture,
    to_capture,
)
from core.heads import merge_heads, repeat_key_value_heads
from core.masks import causal

RNG = np.random.default_rng(3)


def tensors(h: int = 4, h_kv: int = 2, n_q: int = 5, n_k: int = 5, d: int = 8) -> dict[str, np.ndarray]:
    shapes = {"q": (h, n_q, d), "k": (h_kv, n_k, d), "v": (h_kv, n_k, d)}
    return {name: RNG.normal(size=shape) for name, shape in shapes.items()}


def truth(arrays: dict[str, np.ndarray], allowed: np.ndarray | None = None) -> np.ndarray:
    """The output of all heads, by the core's own attention on repeated heads."""
    h = len(arrays["q"])
    k, v = (repeat_key_value_heads(arrays[name], h) for name in ("k", "v"))
    return attention(arrays["q"], k, v, allowed).output


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def output_error(capture: Capture) -> float:
    error = errors(capture).output
    assert error is not None
    return error


def allowed(capture: Capture) -> np.ndarray:
    """Of the first head."""
    assert capture.allowed is not None
    return capture.allowed[0]


# The captures that come with the app


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_shipped_captures_are_reproduced(name: str) -> None:
    capture = example_capture(name)
    weights_error = errors(capture).weights
    assert output_error(capture) < 1e-5
    assert weights_error is None or weights_error < 1e-5
    assert "Apache-2.0" in capture.source


def test_what_the_shipped_captures_are() -> None:
    minilm, smollm2 = example_capture("minilm"), example_capture("smollm2")
    assert (minilm.n_heads, minilm.n_kv_heads, minilm.q.shape[-1]) == (12, 12, 32)
    assert (smollm2.n_heads, smollm2.n_kv_heads, smollm2.q.shape[-1]) == (9, 3, 64)
    assert errors(minilm).weights is not None
    assert minilm.allowed is None
    assert np.array_equal(allowed(smollm2), causal(15))
    assert minilm.tokens[:3] == ("[CLS]", "the", "keys")
    assert "all-MiniLM-L6-v2" in minilm.source
    assert "SmolLM2-135M-Instruct" in smollm2.source
    assert (minilm.layer, smollm2.layer) == ("1", "16")


def test_wrong_numbers_are_not_reproduced() -> None:
    arrays = tensors()
    capture = to_capture({**arrays, "out": truth(arrays) + 0.1})
    assert output_error(capture) == pytest.approx(0.1)


# Layouts


@given(st.sampled_from([(4, 4), (4, 2), (4, 1), (6, 3)]), st.integers(1, 6), st.integers(0, 4), st.booleans())
@settings(deadline=None, max_examples=40)
def test_every_head_is_attention_with_its_own_key_value_head(
    heads: tuple[int, int], n_q: int, more: int, is_causal: bool
) -> None:
    arrays = tensors(*heads, n_q=n_q, n_k=n_q + more)
    capture = to_capture({**arrays, "causal": np.array(is_causal)})
    expected = truth(arrays, causal(n_q, n_q + more) if is_causal else None)
    ours = np.stack([capture.head(i).output for i in range(heads[0])])
    assert np.allclose(ours, expected, atol=1e-12)
    assert len(capture.query_tokens) == n_q
    assert capture.query_tokens == capture.tokens[-n_q:]


def test_a_batch_of_one_and_a_single_head_are_accepted() -> None:
    arrays = tensors(1, 1)
    batch = to_capture({name: array[None] for name, array in arrays.items()})
    single = to_capture({name: array[0] for name, array in arrays.items()})
    assert np.array_equal(batch.q, arrays["q"])
    assert np.array_equal(single.q, arrays["q"])


@pytest.mark.parametrize("layout", ["heads first", "positions first", "side by side", "batch of one"])
def test_layouts_of_the_output(layout: str) -> None:
    arrays = tensors()
    out = truth(arrays)
    given_out = {
        "heads first": out,
        "positions first": out.swapaxes(0, 1),
        "side by side": merge_heads(out),
        "batch of one": merge_heads(out)[None],
    }[layout]
    assert output_error(to_capture({**arrays, "out": given_out})) < 1e-12


def test_other_names_are_accepted() -> None:
    arrays = tensors()
    capture = to_capture(
        {"query": arrays["q"], "K": arrays["k"], "values": arrays["v"], "attn_output": truth(arrays)}
    )
    assert output_error(capture) < 1e-12


def test_another_scaling_is_used() -> None:
    arrays = tensors()
    capture = to_capture({**arrays, "scaling": np.array(0.1)})
    steps = capture.head(1)
    assert np.allclose(steps.scaled_scores, steps.scores * 0.1)
    usual = to_capture({**arrays, "scaling": np.array(8**-0.5)}).head(1)
    assert np.array_equal(usual.weights, to_capture(arrays).head(1).weights)


def test_half_precision_is_computed_in_float32() -> None:
    arrays = {name: array.astype(np.float16) for name, array in tensors().items()}
    assert to_capture(arrays).head(0).weights.dtype == np.float32


def test_a_thousand_positions_are_made_head_by_head() -> None:
    arrays = {name: x.astype(np.float32) for name, x in tensors(2, 1, MAX_POSITIONS, MAX_POSITIONS).items()}
    steps = to_capture({**arrays, "causal": np.array(True)}).head(1)
    assert steps.weights.shape == (1024, 1024)
    assert np.allclose(steps.weights.sum(-1), 1, atol=1e-5)


# Masks


@pytest.mark.parametrize("kind", ["bool", "0 and 1", "added", "added, per head", "batch"])
def test_masks(kind: str) -> None:
    arrays, below = tensors(), causal(5)
    added = np.where(below, 0.0, np.finfo(np.float32).min)
    mask = {
        "bool": below,
        "0 and 1": below.astype(int),
        "added": added,
        "added, per head": np.stack([added] * 4),
        "batch": added[None, None],
    }[kind]
    capture = to_capture({**arrays, "mask": mask})
    out = np.stack([capture.head(i).output for i in range(4)])
    assert np.allclose(out, truth(arrays, below), atol=1e-12)


def test_a_padding_mask_hides_keys() -> None:
    capture = to_capture({**tensors(), "attention_mask": np.array([[1, 1, 1, 0, 0]])})
    assert (capture.head(0).weights[:, 3:] == 0).all()
    assert (capture.head(0).weights[:, :3] > 0).all()


def test_a_mask_and_causal_add_up() -> None:
    keys = np.array([True, True, False, True, True])
    capture = to_capture({**tensors(), "mask": keys, "causal": np.array(True)})
    assert np.array_equal(allowed(capture), causal(5) & keys)


def test_what_is_taken_for_granted_is_said() -> None:
    assert any("no mask and no causal" in text for text in to_capture(tensors()).assumed)
    with_mask = to_capture({**tensors(), "mask": causal(5), "scaling": np.array(1.0)})
    assert with_mask.assumed == ("In the mask, True (or 1) was taken to mean: may attend.",)


# What is refused, and how it is said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"v": None}, r"needs q, k and v, but v cannot be found among k, q"),
        ({"q": np.ones((4, 5, 6))}, r"equally wide, but q has 6, k has 8 \(q \(4, 5, 6\), k \(2, 5, 8\)"),
        ({"v": np.ones((2, 4, 8))}, r"5 keys, 4 values"),
        ({"v": np.ones((1, 5, 8))}, r"k has 2, v has 1"),
        ({"q": np.ones((3, 5, 8))}, r"multiple of the key/value heads, but there are 3 and 2"),
        ({"q": np.ones((4, 6, 8))}, r"more queries \(6\) than keys \(5\)"),
        ({"q": np.ones((2, 4, 5, 8))}, r"batch axis before them must be 1, but the shape is \(2, 4, 5, 8\)"),
        ({"q": np.ones(8)}, r"q needs the axes \(heads, positions, width\).*\(8,\)"),
        ({"q": np.ones((4, 0, 8))}, r"none of them empty, but its shape is \(4, 0, 8\)"),
        ({"q": np.ones((4, 5, 8), complex)}, r"real numbers, but its dtype is complex128"),
        ({"q": np.ones((4, 1025, 8))}, r"1024 positions .* \(4, 1025, 8\)"),
        ({"k": np.full((2, 5, 8), np.nan)}, r"k must be finite .*, but at .* \(0, 0, 0\) it is nan"),
        ({"k": np.full((2, 5, 8), -1e7)}, r"k must be .* 1,000,000 at most .* \(0, 0, 0\) it is -10000000.0"),
        ({"out": np.full((4, 5, 8), "x")}, r"out must hold real numbers, but its dtype is <U1"),
        ({"weights": np.ones((4, 5, 5), bool)}, r"weights must hold real numbers, but its dtype is bool"),
        ({"out": np.ones((4, 5, 7))}, r"out needs the shape \(4, 5, 8\), or \(5, 32\).* \(4, 5, 7\)"),
        ({"weights": np.ones((4, 5, 6))}, r"weights need the shape \(4, 5, 5\).* \(4, 5, 6\)"),
        ({"tokens": np.array(["a", "b"])}, r"tokens must be 5 texts.*\(2,\)"),
        ({"tokens": np.arange(5)}, r"tokens must be 5 texts.*int"),
        ({"mask": np.ones((4, 4), bool)}, r"mask needs the shape \(5, 5\), \(4, 5, 5\).* \(4, 4\)"),
        ({"mask": np.tri(5) * -0.5}, r"numbers to add .*\(a bias such as ALiBi"),
        ({"mask": ~causal(5)}, r"query 4 \(head 0\) may attend to no key"),
        ({"scaling": np.array(np.inf)}, r"scaling must be 10,000 at most in size, but it is inf"),
        ({"scaling": np.array("1")}, r"scaling must be one number, but it has shape \(\), dtype <U1"),
        ({"causal": np.array([True, False])}, r"causal must be one True or False"),
        ({"Q": np.ones((4, 5, 8))}, r"q and Q both stand for q"),
    ],
)
def test_refusals(change: dict[str, np.ndarray | None], says: str) -> None:
    arrays = {name: array for name, array in {**tensors(), **change}.items() if array is not None}
    with pytest.raises(CaptureError, match=says):
        to_capture(arrays)


def test_a_head_that_is_not_there() -> None:
    with pytest.raises(IndexError, match="no head 4: this capture has the heads 0 to 3"):
        to_capture(tensors()).head(4)


def test_an_uploaded_file_is_read_or_refused() -> None:
    arrays = tensors()
    assert output_error(read_capture(npz(**arrays, out=truth(arrays)))) < 1e-12
    with pytest.raises(CaptureError, match=r"'photo\.npz' is neither"):
        read_capture(b"not a file of arrays", "photo.npz")


@given(
    st.dictionaries(
        st.sampled_from(["q", "k", "v", "mask", "out", "tokens", "causal", "scaling", "weights", "layer"]),
        st.tuples(st.lists(st.integers(0, 3), max_size=4), st.sampled_from(["f4", "i8", "?", "U3", "f2"])),
    )
)
@settings(deadline=None, max_examples=200)
def test_whatever_the_arrays_are_it_is_a_capture_or_a_sentence(
    kinds: dict[str, tuple[list[int], str]],
) -> None:
    with contextlib.suppress(CaptureError):  # any other error fails the test
        capture = to_capture({name: np.ones(shape, dtype) for name, (shape, dtype) in kinds.items()})
        assert np.isfinite(capture.head(0).weights).all()
        errors(capture)


def test_tokens_of_characters_that_do_not_exist_are_refused() -> None:
    q = np.ones((1, 2, 3), np.float32)
    tokens = np.array([0xFFFFFFFF, 65], "<u4").view("<U1")
    with pytest.raises(CaptureError, match="characters that do not exist"):
        to_capture({"q": q, "k": q, "v": q, "tokens": tokens})
