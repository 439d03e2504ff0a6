"""What the clinic answers on made-up input: conventions, ties, honesty, number formats, large input."""

import json
import resource

import numpy as np
import pytest

from core.clinic import diagnose
from core.clinic.fits import RATES
from core.faults.pipeline import FAULTY, run
from core.faults.problem import problem_of
from tests.core.softmax import soft

RANDOM = np.random.default_rng(11)
B, H, T, D = 2, 3, 7, 10
Q, K, V = (RANDOM.standard_normal((B, H, T, D)) for _ in range(3))
TRI = np.tri(T, dtype=bool)
STATED = {"layout": "BHTD", "causal": False}


def attend(q=Q, k=K, v=V, allowed=True, factor=None):
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if factor is None else factor)
    return soft(np.where(allowed, scores, -np.inf)) @ v


def verdict(**arrays):
    return diagnose(**arrays).verdict


# --- right in every convention -----------------------------------------------------------------


def test_right_whatever_is_left_unsaid():
    assert verdict(q=Q, k=K, v=V, out=attend()) == "correct"
    causal = diagnose(q=Q, k=K, v=V, out=attend(allowed=TRI))
    assert causal.verdict == "correct"
    assert "causal" in causal.notes


def test_right_with_heads_behind_time():
    laid = {name: array.swapaxes(1, 2) for name, array in (("q", Q), ("k", K), ("v", V), ("out", attend()))}
    assert diagnose(laid).verdict == "correct"
    assert diagnose(laid, layout="BTHD").verdict == "correct"


def test_the_wrong_layout_is_attention_over_heads():
    out = attend(*(x.swapaxes(1, 2) for x in (Q, K, V))).swapaxes(1, 2)
    assert diagnose(q=Q, k=K, v=V, out=out, **STATED).labels == [["heads.attends_over_heads"]]


# --- nobody said which axes are which --------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("heads_behind_time", [False, True])
def test_a_forgotten_causal_mask_is_told_before_attention_over_heads(dtype, seed, heads_behind_time):
    """Both give these numbers, in two readings of the axes: round-off must not choose between them."""
    random = np.random.default_rng(seed)
    q, k, v = (random.standard_normal((2, 4, 10, 16)).astype(dtype) for _ in range(3))
    arrays = {"q": q, "k": k, "v": v, "out": attend(*(x.astype(float) for x in (q, k, v))).astype(dtype)}
    if heads_behind_time:
        arrays = {name: array.swapaxes(1, 2) for name, array in arrays.items()}
    mine, other = ("(B, T, h, d)", "(B, h, T, d)")[:: 1 if heads_behind_time else -1]
    answer = diagnose(arrays, causal=True)
    assert answer.labels == [["mask.missing_causal"], ["heads.attends_over_heads"]]
    assert f"axes read as {mine}" in answer.notes
    assert f"Read in another way (axes read as {other})" in answer.message
    assert answer.message.startswith("One fault reproduces your numbers: the causal mask is missing.")
    assert answer.facts["n_heads"] == 4
    assert diagnose(arrays, causal=True, n_heads=4).labels == [["mask.missing_causal"]]
    assert diagnose(arrays, causal=True, n_heads=10).labels == [["heads.attends_over_heads"]]


@pytest.mark.parametrize(
    ("shape", "axes"), [((2, 1, 7, 10), "(B, h, T, d)"), ((2, 7, 1, 10), "(B, T, h, d)")]
)
def test_a_single_key_is_not_the_last_word_on_axes_that_nobody_named(shape, axes):
    """Right for seven heads of one position each; for one head of seven positions, v is untouched."""
    arrays = {name: RANDOM.standard_normal(shape) for name in "qkv"}
    answer = diagnose(arrays | {"out": arrays["v"]})
    assert answer.verdict == "undetermined"
    assert answer.message.endswith(
        f" But if you say that the axes are {axes}, this comes out: "
        "one fault reproduces your numbers: the values come back untouched."
    )
    layout = {"(B, h, T, d)": "BHTD", "(B, T, h, d)": "BTHD"}
    assert diagnose(arrays | {"out": arrays["v"]}, layout=layout[axes]).labels == [["blend.returns_v"]]
    (stated,) = set(layout.values()) - {layout[axes]}
    assert "But if" not in diagnose(arrays | {"out": arrays["v"]}, layout=stated).message


def test_equal_values_are_right_in_every_order_of_the_axes():
    """The mean of equal values is the value: no fault is hinted at where both orders are right."""
    for shape in ((2, 1, 7, 10), (2, 7, 1, 10)):
        values = np.ones(shape)
        answer = diagnose(
            q=RANDOM.standard_normal(shape), k=RANDOM.standard_normal(shape), v=values, out=values
        )
        assert answer.verdict == "undetermined"
        assert "But if" not in answer.message


def test_one_key_in_every_order_of_the_axes():
    alone = {name: RANDOM.standard_normal((2, 1, 1, 10)) for name in "qkv"}
    assert "But if" not in diagnose(alone | {"out": alone["v"]}).message


@pytest.mark.parametrize("stated", [{"rope": True}, {"alibi": True}])
def test_a_forgotten_position_is_told_before_attention_over_heads(stated):
    (name,) = stated
    for seed in range(4):
        q, k, v = (np.random.default_rng([seed, i]).standard_normal((2, 4, 9, 8)) for i in range(3))
        answer = diagnose(q=q, k=k, v=v, out=attend(q, k, v), causal=False, **stated)
        assert answer.labels[0] == [f"score.{name}_missing"]


def test_a_stated_number_of_heads_tells_the_axes():
    """Otherwise attention over the heads passes for right attention in the other layout."""
    out = attend(*(x.swapaxes(1, 2) for x in (Q, K, V))).swapaxes(1, 2)
    assert diagnose(q=Q, k=K, v=V, out=out, n_heads=H).labels == [["heads.attends_over_heads"]]
    assert diagnose(q=Q, k=K, v=V, out=out, n_heads=T).verdict == "correct"
    free = diagnose(q=Q, k=K, v=V, out=out)
    assert free.verdict == "correct"
    assert "axes read as (B, T, h, d)" in free.notes


def test_a_number_of_heads_that_no_axis_has_is_bad_input():
    answer = diagnose(q=Q, k=K, v=V, out=attend(), n_heads=5)
    assert (answer.verdict, answer.message) == ("bad_input", "you say 5 heads, but the arrays have 3 or 7")


def test_as_many_entries_as_heads_may_lie_side_by_side():
    """(B, T, h d) with B = h = 2: the first axis need not be the heads."""
    q, k, v = (RANDOM.standard_normal((2, 2, T, D)) for _ in range(3))
    flat = {name: side_by_side(x) for name, x in (("q", q), ("k", k), ("v", v), ("out", attend(q, k, v)))}
    assert diagnose(flat, n_heads=2).verdict == "correct"
    apart = {name: x[0] for name, x in (("q", q), ("k", k), ("v", v), ("out", attend(q, k, v)))}
    assert diagnose(apart, n_heads=2).verdict == "correct"


@pytest.mark.parametrize("polarity", ["keep", "hide"])
def test_mask_polarity_is_inferred_and_can_be_stated(polarity):
    mask = TRI if polarity == "keep" else ~TRI
    out = attend(allowed=TRI)
    assert diagnose(q=Q, k=K, v=V, out=out, mask=mask, **STATED).verdict == "correct"
    assert diagnose(q=Q, k=K, v=V, out=out, mask=mask, mask_true=polarity, **STATED).verdict == "correct"
    other = "hide" if polarity == "keep" else "keep"
    assert ["mask.inverted"] in diagnose(q=Q, k=K, v=V, out=out, mask=mask, mask_true=other, **STATED).labels


@pytest.mark.parametrize("low", [-np.inf, -1e9, np.finfo(np.float32).min])
def test_additive_masks(low):
    assert (
        verdict(q=Q, k=K, v=V, out=attend(allowed=TRI), mask=np.where(TRI, 0.0, low), **STATED) == "correct"
    )


def test_a_general_additive_mask_is_a_bias():
    bias = RANDOM.standard_normal((H, T, T))
    out = soft(Q @ K.swapaxes(-1, -2) / D**0.5 + bias) @ V
    assert verdict(q=Q, k=K, v=V, out=out, attn_mask=bias, **STATED) == "correct"


def test_masks_of_one_axis_per_batch_and_head():
    """nn.MultiheadAttention takes (B h, T, T)."""
    allowed = (RANDOM.random((B * H, T, T)) > 0.5) | np.eye(T, dtype=bool)
    out = attend(allowed=allowed.reshape(B, H, T, T))
    assert verdict(q=Q, k=K, v=V, out=out, attn_mask=~allowed, **STATED) == "correct"


def test_another_scale_can_be_meant():
    out = attend(factor=1.0)
    assert diagnose(q=Q, k=K, v=V, out=out, **STATED).labels == [["scale.missing"]]
    assert diagnose(q=Q, k=K, v=V, out=out, scale=1.0, **STATED).verdict == "correct"


def test_names_of_other_libraries():
    arrays = {"query": Q, "Key": K, "value_states": V, "attn.output": attend()}
    assert diagnose(arrays, **STATED).verdict == "correct"


def test_weights_alone():
    weights = soft(Q @ K.swapaxes(-1, -2) / D**0.5)
    assert diagnose(q=Q, k=K, weights=weights, **STATED).verdict == "correct"
    wrong = soft(Q @ K.swapaxes(-1, -2))
    assert diagnose(q=Q, k=K, weights=wrong, **STATED).labels == [["scale.missing"]]


def test_weights_that_did_not_make_the_output():
    answer = diagnose(q=Q, k=K, v=V, out=attend(), weights=Q @ K.swapaxes(-1, -2), **STATED)
    assert answer.verdict == "correct"
    assert any("not the ones" in note for note in answer.notes)


def test_linear_layers_keep_the_transpose():
    x, (wq, wk, wv, wo) = RANDOM.standard_normal((2, 7, 12)), RANDOM.standard_normal((4, 12, 12))

    def heads(y):
        return y.reshape(2, 7, 3, 4).swapaxes(1, 2)

    out = attend(heads(x @ wq.T), heads(x @ wk.T), heads(x @ wv.T)).swapaxes(1, 2).reshape(2, 7, 12) @ wo.T
    arrays = {"x": x, "wq": wq, "wk": wk, "wv": wv, "wo": wo, "out": out}
    assert diagnose(arrays, n_heads=3, causal=False).verdict == "correct"
    assert diagnose(arrays, n_heads=3, causal=False, weights_as="x @ w.T").verdict == "correct"
    assert ["projection.w_transposed"] in diagnose(arrays, n_heads=3, causal=False, weights_as="x @ w").labels


def test_right_only_under_a_reading_of_the_mask():
    """Whether it is meant to be causal was not said: the verdict says what it rests on."""
    full = diagnose(q=Q, k=K, v=V, out=attend(), layout="BHTD")
    assert full.condition == ", if every position may see every other"
    assert full.as_text().startswith("CORRECT, if every position may see every other\n")
    assert full.message.startswith("This is scaled dot-product attention, if every position may see")
    below = diagnose(q=Q, k=K, v=V, out=attend(allowed=TRI), layout="BHTD")
    assert below.condition == ", if no position may see a later one"
    keep = np.arange(T) < np.array([[4], [T]])
    padded = diagnose(q=Q, k=K, v=V, out=attend(allowed=keep[:, None, None]), layout="BHTD", key_keep=keep)
    assert padded.condition == ", if every position may see every other that is no padding"
    for stated in ({"causal": False}, {"mask": np.ones((T, T), bool)}):
        answer = diagnose(q=Q, k=K, v=V, out=attend(), layout="BHTD", **stated)
        assert answer.condition == ""
        assert "if" not in answer.message
    last = diagnose(q=Q[..., -1:, :], k=K, v=V, out=attend()[..., -1:, :], layout="BHTD")
    assert last.condition == ""


def test_a_mask_that_holds_the_triangle_needs_no_other():
    """A causal window, handed in as a mask and said to be causal."""
    window = TRI & ~np.tri(T, k=-3, dtype=bool)
    answer = diagnose(q=Q, k=K, v=V, out=attend(allowed=window), mask=window, layout="BHTD", causal=True)
    assert answer.verdict == "correct", answer.as_text()


# --- honesty ---------------------------------------------------------------------------------------


def test_noise_is_unexplained():
    answer = diagnose(q=Q, k=K, v=V, out=RANDOM.standard_normal(Q.shape), **STATED)
    assert answer.verdict == "unexplained"
    assert answer.explanations == ()
    assert answer.exit_code == 1


def test_a_fault_has_to_reproduce_every_number():
    out = attend(factor=1.0)
    out[1, 2, 3, 4] += 1e-6
    assert verdict(q=Q, k=K, v=V, out=out, **STATED) == "unexplained"


def test_the_same_tensor_thrice_cannot_tell_a_swap():
    answer = diagnose(q=Q, k=Q, v=Q, out=attend(Q, Q, Q), **STATED)
    assert answer.verdict == "undetermined"
    assert any("q and k hold the same numbers" in reason for reason in answer.not_tested)


def test_a_mask_that_hides_nothing_cannot_tell():
    keep = np.ones((B, T), dtype=bool)
    answer = diagnose(q=Q, k=K, v=V, out=attend(), key_keep=keep, **STATED)
    assert answer.verdict == "undetermined"
    assert any("hides nothing" in reason for reason in answer.not_tested)


def test_coarser_arithmetic_inside_is_not_a_fault():
    """As on a GPU whose float32 products keep 10 bits."""
    rounded = [np.ldexp(np.rint(np.frexp(x)[0] * 2048) / 2048, np.frexp(x)[1]) for x in (Q, K, V)]
    answer = diagnose(q=Q, k=K, v=V, out=attend(*rounded).astype(np.float32), **STATED)
    assert answer.verdict == "correct"
    assert "coarser format" in answer.message


@pytest.mark.parametrize("places", [("q", "k", "v"), ("weights",), ("scores",)])
@pytest.mark.parametrize(("bits", "cut"), [(11, np.rint), (11, np.trunc), (12, np.rint)])
def test_short_formats_in_one_place_are_recognised(places, bits, cut):
    def kept(name, x):
        mantissa, exponent = np.frexp(x)
        return np.ldexp(cut(mantissa * 2**bits) / 2**bits, exponent) if name in places else x

    q, k, v = kept("q", Q), kept("k", K), kept("v", V)
    weights = kept("weights", soft(kept("scores", q @ k.swapaxes(-1, -2)) / D**0.5))
    answer = diagnose(q=Q, k=K, v=V, out=(weights @ v).astype(np.float32), **STATED)
    expected = ("correct",) if bits == 11 else ("correct", "undetermined")
    assert answer.verdict in expected


def test_a_small_mistake_of_no_name_is_not_called_correct():
    """It is as close as half precision would be, but no half precision gives these numbers."""
    wave = 1 + 0.002 * np.sin(np.arange(B * H * T * D).reshape(B, H, T, D))
    for x in (np.float64, np.float32):
        answer = diagnose(q=Q, k=K, v=V, out=(attend() * wave).astype(x), **STATED)
        assert answer.verdict == "undetermined", answer.as_text()
        assert "digits only" in answer.message
        assert answer.not_tested == ("anything smaller than the 3 digits that agree",)


def test_rows_with_nothing_allowed():
    keep = np.arange(T) >= np.array([[2], [0]])
    allowed = TRI & keep[:, None, None, :]
    with np.errstate(invalid="ignore"):
        out = attend(allowed=allowed)
    arrays = {"q": Q, "k": K, "v": V, "key_keep": keep}
    said = {"layout": "BHTD", "causal": True}
    answer = diagnose({**arrays, "out": out}, **said)
    assert answer.labels == [["mask.fully_masked_row"]]
    assert "not the maths" in answer.message
    zeros = np.where(allowed.any(-1, keepdims=True), out, 0.0)
    assert diagnose({**arrays, "out": zeros}, **said).verdict == "correct"
    mean = np.where(allowed.any(-1, keepdims=True), out, V.mean(-2, keepdims=True))
    assert diagnose({**arrays, "out": mean}, **said).verdict == "correct"


def test_padded_queries_may_hold_anything_usual():
    keep = np.arange(T) < np.array([[4], [T]])
    out = attend(allowed=keep[:, None, None, :])
    hidden_too = np.where(keep[:, None, :, None], out, 0.0)
    for each in (out, hidden_too):
        assert verdict(q=Q, k=K, v=V, key_keep=keep, out=each, **STATED) == "correct"


# --- faults beyond the catalogue's numbers ------------------------------------------------------------


def test_a_scale_of_no_name_is_fitted():
    answer = diagnose(q=Q, k=K, v=V, out=attend(factor=0.7134), **STATED)
    assert answer.labels == [["scale.wrong_constant"]]
    assert answer.explanations[0].details == ("times 0.7134",)


def test_a_fill_of_no_name_is_fitted():
    out = soft(np.where(TRI, Q @ K.swapaxes(-1, -2) / D**0.5, -3.3)) @ V
    answer = diagnose(q=Q, k=K, v=V, out=out, layout="BHTD", causal=True)
    assert answer.labels == [["mask.filled_with_small_negative"]]
    assert answer.explanations[0].details == ("-3.3",)


def test_a_factor_on_the_output_is_fitted():
    assert diagnose(q=Q, k=K, v=V, out=1.5 * attend(), **STATED).labels == [["blend.output_scaled"]]


@pytest.mark.parametrize("rate", RATES[1::2])
@pytest.mark.parametrize("d_v", [7, 10])
def test_dropout_is_found(rate, d_v):
    random = np.random.default_rng(int(100 * rate))
    v = V[..., :d_v]
    weights = soft(Q @ K.swapaxes(-1, -2) / D**0.5)
    weights = np.where(random.random(weights.shape) > rate, weights / (1 - rate), 0)
    answer = diagnose(q=Q, k=K, v=v, out=weights @ v, **STATED)
    assert answer.labels == [["blend.dropout_active"]]
    assert answer.explanations[0].details == (f"p = {rate:.2f}",)


def test_dropout_on_the_output():
    out = np.where(RANDOM.random(Q.shape) > 0.3, attend() / 0.7, 0)
    assert diagnose(q=Q, k=K, v=V, out=out, **STATED).labels == [["blend.dropout_active"]]


# --- number formats ------------------------------------------------------------------------------------


def test_overflow_is_told_apart_from_a_wrong_step():
    q, k = (400 * Q).astype(np.float16), (100 * K).astype(np.float16)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = (q.astype(float) @ k.astype(float).swapaxes(-1, -2)).astype(np.float16).astype(float)
        out = soft(scores / D**0.5) @ V
    answer = diagnose(q=q, k=k, v=V.astype(np.float16), out=out.astype(np.float16), **STATED)
    assert answer.labels == [["score.fp16_overflow"]]
    assert answer.explanations[0].number_format
    assert "number format" in answer.message


def test_bfloat16_in_a_float32_file():
    def short(x):
        bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
        return ((bits + 0x8000) & np.uint32(0xFFFF0000)).view(np.float32)

    q, k, v = short(Q), short(K), short(V)
    weights = short(soft(short(q @ k.swapaxes(-1, -2)) / D**0.5))
    assert verdict(q=q, k=k, v=v, out=short(weights @ v), **STATED) == "correct"


# --- the answer itself ------------------------------------------------------------------------------------


def test_json_has_the_promised_fields():
    answer = diagnose(q=Q, k=K, v=V, out=attend(factor=1.0), **STATED)
    found = json.loads(answer.as_json())
    assert found["verdict"] == "fault"
    assert found["message"]
    assert found["not_tested"] == []
    assert {"faults", "step", "max_error", "page"} <= set(found["explanations"][0])
    assert found["explanations"][0]["faults"] == ["scale.missing"]
    assert found["explanations"][0]["step"] == found["explanations"][0]["page"] == "scale"


def test_progress_is_told():
    seen = []
    diagnose(
        q=Q,
        k=K,
        v=V,
        out=RANDOM.standard_normal(Q.shape),
        progress=lambda part, what: seen.append((part, what)),
        **STATED,
    )
    assert len(seen) > 10
    assert seen[-1] == (1.0, "done")
    assert all(0 <= part <= 1 for part, _ in seen)


def test_large_input_is_sampled_and_says_so():
    q, k, v = (RANDOM.standard_normal((6, 8, 300, 8)).astype(np.float32) for _ in range(3))
    answer = diagnose(q=q, k=k, v=v, out=attend(q, k, v, factor=1.0), **STATED)
    assert answer.labels == [["scale.missing"]]
    assert "of 6 batch entries" in answer.sampled


def test_too_long_is_refused_before_any_score_is_made():
    long = np.zeros((50_000, 2), np.float32)
    answer = diagnose(q=long, k=long, v=long, out=long)
    assert answer.labels == [["input.too_large"]]
    assert "50000 queries" in answer.message
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for more in ({"mask": np.ones(50_000, bool)}, {"key_keep": np.ones(50_000, bool)}, {"causal": True}):
        assert diagnose(q=long, k=long, v=long, out=long, **more).labels == [["input.too_large"]]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB; a triangle has 2.5 GB


def test_faults_that_mix_heads_are_found_in_middle_sized_input():
    q, k, v = (RANDOM.standard_normal((2, 8, 40, 12)).astype(np.float32) for _ in range(3))
    for label in ("heads.weights_averaged", "softmax.axis_batch", "score.qk_swapped", "mask.peeks_one_ahead"):
        choice = next(c for cs in FAULTY.values() for c in cs if c.label == label)
        problem = problem_of(*(a.astype(float) for a in (q, k, v)), causal=True)
        out = run(problem, [choice]).output.astype(np.float32)
        assert [label] in diagnose(q=q, k=k, v=v, out=out, layout="BHTD", causal=True).labels


@pytest.mark.parametrize(
    ("arrays", "label"),
    [
        ({"q": Q, "k": K[..., :9], "v": V, "out": V}, "input.shape_mismatch"),
        ({"q": Q, "k": K, "v": V[:, :, :5], "out": V}, "input.shape_mismatch"),
        ({"q": Q, "k": K, "v": V, "out": V[..., :3]}, "input.shape_mismatch"),
        (
            {"q": Q, "k": K[:, :2], "v": V[:, :2], "out": V, "meta": np.array('{"layout": "BHTD"}')},
            "input.shape_mismatch",
        ),
        ({"q": Q[0, 0, 0], "k": K, "v": V, "out": V}, "input.shape_mismatch"),
        ({"q": Q, "k": K, "v": V}, "input.missing_array"),
        ({"q": Q, "out": V}, "input.missing_array"),
        ({}, "input.missing_array"),
        ({"q": Q, "k": K, "v": V, "out": V, "query": Q}, "input.duplicate_array"),
        ({"q": np.where(Q > 2, np.inf, Q), "k": K, "v": V, "out": V}, "input.inf_in_inputs"),
        ({"q": Q, "k": np.where(K > 2, np.nan, K), "v": V, "out": V}, "input.nan_in_inputs"),
        ({"q": Q + 0j, "k": K, "v": V, "out": V}, "input.wrong_dtype"),
        ({"q": Q > 0, "k": K, "v": V, "out": V}, "input.wrong_dtype"),
        ({"q": np.array([["a"]]), "k": K, "v": V, "out": V}, "input.wrong_dtype"),
        ({"q": [[1, 2], [3]], "k": K, "v": V, "out": V}, "input.wrong_dtype"),
        (
            {"q": np.zeros((0, 4)), "k": np.zeros((0, 4)), "v": np.zeros((0, 4)), "out": np.zeros((0, 4))},
            "input.empty",
        ),
        ({"q": Q, "k": K, "v": V, "out": V, "mask": np.ones((3, 5), bool)}, "input.shape_mismatch"),
        ({"q": Q, "k": K, "v": V, "out": V, "key_keep": np.ones((T,), bool)}, "input.shape_mismatch"),
        ({"q": Q, "k": K, "v": V, "out": V, "key_keep": np.full((B, T), 7)}, "input.wrong_dtype"),
        ({"q": Q, "k": K, "v": V, "out": V, "meta": np.array("{")}, "input.meta"),
        ({"q": Q, "k": K, "v": V, "out": V, "meta": np.array('{"causal": "yes"}')}, "input.meta"),
        ({"q": Q, "k": K, "v": V, "out": V, "meta": np.array('{"num_heads": -1}')}, "input.meta"),
        ({"x": V[0], "wq": Q[0, 0], "wk": Q[0, 0], "wv": Q[0, 0], "out": V[0]}, "input.shape_mismatch"),
    ],
)
def test_bad_input(arrays, label):
    answer = diagnose(arrays)
    assert answer.verdict == "bad_input"
    assert answer.labels == [[label]]
    assert answer.exit_code == 3
    assert len(answer.message) > 10


def test_both_shapes_are_named():
    message = diagnose(q=Q, k=K[..., :9], v=V, out=V).message
    assert str(Q.shape) in message
    assert str(K[..., :9].shape) in message


@pytest.mark.parametrize(
    "pair",
    [
        ("blend.v_wrong_entry", "scale.missing"),
        ("heads.weights_averaged", "mask.missing_causal"),
        ("score.k_wrong_entry", "scale.missing"),
        ("score.k_wrong_head", "blend.residual_added"),
        ("score.k_out_of_order", "mask.missing_causal"),
        ("heads.order_reversed", "softmax.axis_batch"),
    ],
    ids="+".join,
)
def test_pairs_that_mix_heads_or_entries_are_found_in_middle_sized_input(pair):
    q, k, v = (RANDOM.standard_normal((2, 4, 33, 10)) for _ in range(3))
    problem = problem_of(q, k, v, causal=True)
    choices = [next(c for cs in FAULTY.values() for c in cs if c.label == label) for label in pair]
    out = run(problem, choices).output
    answer = diagnose(q=q, k=k, v=v, out=out, layout="BHTD", causal=True)
    assert set(pair) in [set(labels) for labels in answer.labels], answer.as_text()


def test_of_large_input_the_commonest_pairs_are_tried_and_that_is_said():
    q, k, v = (RANDOM.standard_normal((1, 1, 270, 4)) for _ in range(3))
    allowed = np.tri(270, dtype=bool)
    pair = diagnose(q=q, k=k, v=v, out=attend(q, k, v, factor=1.0), layout="BHTD", causal=True)
    assert pair.labels == [["scale.missing", "mask.missing_causal"]]
    assert "only the commonest" in pair.sampled
    unknown = diagnose(q=q, k=k, v=v, out=attend(q, k, v, allowed).cumsum(-2), layout="BHTD", causal=True)
    assert unknown.verdict == "unexplained"
    assert "only the commonest" in unknown.sampled


# --- what nobody said ----------------------------------------------------------------------------


def side_by_side(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


@pytest.mark.parametrize("causal", [False, True])
def test_the_number_of_heads_is_found_if_nobody_said_it(causal):
    q, k, v = (RANDOM.standard_normal((B, 4, T, D)) for _ in range(3))
    out = side_by_side(attend(q, k, v, TRI if causal else True))
    answer = diagnose(q=side_by_side(q), k=side_by_side(k), v=side_by_side(v), out=out)
    assert (answer.verdict, answer.facts["n_heads"], answer.facts["causal"]) == ("correct", 4, causal)
    assert answer.notes[0] == "4 heads (you did not say how many)"


def test_grouped_heads_are_found_if_nobody_said_them():
    q, k, v = (RANDOM.standard_normal((B, h, T, D)) for h in (4, 2, 2))
    out = attend(q, k.repeat(2, 1), v.repeat(2, 1), factor=1.0)
    answer = diagnose(**{n: side_by_side(x) for n, x in {"q": q, "k": k, "v": v, "out": out}.items()})
    assert (answer.labels, answer.facts["n_kv_heads"]) == ([["scale.missing"]], 2)


@pytest.mark.parametrize("use", ["x @ w", "x @ w.T"])
def test_heads_of_projections_are_found_if_nobody_said_them(use):
    width = 4 * D
    x, *weights = (RANDOM.standard_normal(shape) for shape in ((B, T, width), *[(width, width)] * 4))
    flat = [x @ (w if use == "x @ w" else w.T) / width**0.5 for w in weights[:3]]
    out = side_by_side(attend(*(f.reshape(B, T, 4, D).swapaxes(1, 2) for f in flat)))
    out = out @ (weights[3] if use == "x @ w" else weights[3].T)
    named = dict(zip(("wq", "wk", "wv"), (w / width**0.5 for w in weights), strict=False))
    answer = diagnose(x=x, **named, wo=weights[3], out=out)
    assert answer.verdict == "correct", answer.as_text()
    assert answer.notes[1] == f"projections used as {use}"


def test_an_output_in_another_order_of_axes_is_read():
    assert verdict(q=Q, k=K, v=V, out=attend().swapaxes(1, 2), **STATED) == "correct"
    assert verdict(q=Q[0, 0], k=K[0, 0], v=V[0, 0], out=attend()[:1, 0]) == "correct"
    flat = {name: side_by_side(x) for name, x in (("q", Q), ("k", K), ("v", V))}
    assert verdict(**flat, out=attend(), n_heads=H) == "correct"


def test_whole_numbers_do_not_excuse_a_rough_output():
    """Small whole numbers fit any format: they do not tell that half precision was used."""
    q, k, v = (RANDOM.integers(-3, 4, (6, 8)).astype(float) for _ in range(3))
    out = attend(q, k, v)
    assert verdict(q=q, k=k, v=v, out=out) == "correct"
    wave = 1 + 0.02 * np.sin(np.arange(48).reshape(6, 8))
    assert verdict(q=q, k=k, v=v, out=out * wave) == "unexplained"


# --- found from the data -------------------------------------------------------------------------


@pytest.mark.parametrize("with_weights", [False, True])
def test_another_mask_is_recovered(with_weights):
    q, k, v = (RANDOM.standard_normal((1, 2, 9, 6)) for _ in range(3))
    cells = np.tri(9, dtype=bool)
    cells[2, 7], cells[5, 1] = True, False
    weights = soft(np.where(cells, q @ k.swapaxes(-1, -2) / 6**0.5, -np.inf))
    more = {"weights": weights} if with_weights else {}
    answer = diagnose(q=q, k=k, v=v, out=weights @ v, layout="BHTD", causal=True, **more)
    assert answer.labels == [["mask.other_cells"]], answer.as_text()
    assert answer.explanations[0].details == ("query 2 sees key 7; pairs that differ: 2",)


def test_a_mask_of_each_entry_is_recovered():
    q, k, v = (RANDOM.standard_normal((3, 3, 8, 6)) for _ in range(3))
    cells = (RANDOM.random((3, 1, 8, 8)) > 0.5) | np.eye(8, dtype=bool)
    answer = diagnose(q=q, k=k, v=v, out=attend(q, k, v, cells), **STATED)
    assert answer.labels == [["mask.other_cells"]], answer.as_text()


def test_a_mask_shared_by_all_entries_is_recovered_from_narrow_values():
    q, k = (RANDOM.standard_normal((4, 1, 10, 6)) for _ in range(2))
    v = RANDOM.standard_normal((4, 1, 10, 3))
    cells = (RANDOM.random((10, 10)) > 0.5) | np.eye(10, dtype=bool)
    answer = diagnose(q=q, k=k, v=v, out=attend(q, k, v, cells), **STATED)
    assert answer.labels == [["mask.other_cells"]], answer.as_text()


def test_a_mask_is_read_off_the_weights_where_the_output_cannot_tell():
    q, k, v = RANDOM.standard_normal((9, 6)), RANDOM.standard_normal((9, 6)), RANDOM.standard_normal((9, 2))
    cells = (RANDOM.random((9, 9)) > 0.5) | np.eye(9, dtype=bool)
    weights = soft(np.where(cells, q @ k.T / 6**0.5, -np.inf))
    given = {"q": q, "k": k, "v": v, "out": weights @ v, "causal": False}
    assert diagnose(**given).verdict == "unexplained"
    assert diagnose(**given, weights=weights).labels == [["mask.other_cells"]]


@pytest.mark.parametrize("with_projection", [False, True])
def test_a_mask_is_recovered_from_joined_heads(with_projection):
    q, k, v = (RANDOM.standard_normal((2, 3, 8, 6)) for _ in range(3))
    cells = (RANDOM.random((8, 8)) > 0.5) | np.eye(8, dtype=bool)
    out = side_by_side(attend(q, k, v, cells))
    given = {name: side_by_side(x) for name, x in (("q", q), ("k", k), ("v", v))}
    if with_projection:
        wo = RANDOM.standard_normal((18, 18))
        joined = np.concatenate(list(given.values()), axis=-1)
        eye = np.eye(54)
        given = {"x": joined, "wq": eye[:, :18], "wk": eye[:, 18:36], "wv": eye[:, 36:], "wo": wo}
        out = out @ wo
    answer = diagnose(**given, out=out, n_heads=3, causal=False)
    assert answer.labels == [["mask.other_cells"]], answer.as_text()


def test_a_mask_is_recovered_from_half_precision():
    q, k, v = (RANDOM.standard_normal((2, 4, 9, 6)).astype(np.float16) for _ in range(3))
    cells = (RANDOM.random((9, 9)) > 0.4) | np.eye(9, dtype=bool)
    out = attend(*(x.astype(float) for x in (q, k, v)), cells).astype(np.float16)
    assert diagnose(q=q, k=k, v=v, out=out, **STATED).labels == [["mask.other_cells"]]


@pytest.mark.parametrize(("back", "ahead"), [(2, 0), (1, 1), (3, 3)])
def test_the_width_of_a_window_is_found(back, ahead):
    far = np.arange(T) - np.arange(T)[:, None]
    out = attend(allowed=(far >= -back) & (far <= ahead))
    for causal in (False, True):
        answer = diagnose(q=Q, k=K, v=V, out=out, layout="BHTD", causal=causal)
        assert answer.labels == [["mask.window_not_wanted"]], answer.as_text()
        assert answer.explanations[0].details == (f"{back} back, {ahead} ahead",)


def test_numbers_are_found():
    scores = Q @ K.swapaxes(-1, -2) / D**0.5
    capped = diagnose(q=Q, k=K, v=V, out=soft(30 * np.tanh(scores / 30)) @ V, **STATED)
    assert (capped.labels, capped.explanations[0].details) == ([["scale.softcapped"]], ("at 30",))
    e = np.exp(scores)
    sunk = diagnose(q=Q, k=K, v=V, out=e / (0.25 + e.sum(-1, keepdims=True)) @ V, **STATED)
    assert (sunk.labels, sunk.explanations[0].details) == ([["softmax.constant_added"]], ("0.25",))


def test_dropped_weights_that_are_not_rescaled():
    weights = soft(Q @ K.swapaxes(-1, -2) / D**0.5)
    dropped = np.where(RANDOM.random(weights.shape) < 0.8, weights, 0.0)
    answer = diagnose(q=Q, k=K, v=V, out=dropped @ V, weights=dropped, **STATED)
    assert answer.labels == [["blend.dropout_active"]]
    assert "not rescaled" in answer.explanations[0].details[0]
    late = diagnose(q=Q, k=K, v=V, out=weights * TRI @ V, weights=weights * TRI, **STATED)
    assert sorted(late.labels) == [["blend.dropout_active"], ["mask.after_softmax"]]


def test_zeros_in_the_output_alone_are_no_dropout():
    answer = diagnose(q=Q, k=K, v=V, out=np.maximum(attend(), 0), **STATED)
    assert answer.labels == [["blend.output_rectified"]]
    some = np.where(RANDOM.random((B, H, T, D)) < 0.8, attend(), 0.0)
    assert verdict(q=Q, k=K, v=V, out=some, **STATED) == "unexplained"


# --- masks by other names ------------------------------------------------------------------------

KEEP = np.arange(T) < np.array([[4], [6]])
PAIRS = KEEP[:, None, None] & TRI


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("attention_mask", KEEP.astype(int)),
        ("attention_mask", np.where(KEEP[:, None, None], 0.0, np.finfo(np.float32).min)),
        ("key_padding_mask", ~KEEP),
        ("key_padding_mask", np.where(KEEP, 0.0, -np.inf)),
        ("lengths", KEEP.sum(1)),
        ("valid_lens", KEEP.sum(1).astype(float)),
    ],
)
def test_padding_in_every_form(name, array):
    out = attend(allowed=KEEP[:, None, None])
    assert verdict(q=Q, k=K, v=V, out=out, **{name: array}, **STATED) == "correct"
    missing = diagnose(q=Q, k=K, v=V, out=attend(), **{name: array}, **STATED)
    assert missing.labels[0] == ["mask.missing_padding"]  # before what needs one more assumption


@pytest.mark.parametrize("pairs", [PAIRS, np.where(PAIRS, 0.0, np.finfo(np.float32).min)])
@pytest.mark.parametrize("causal", [None, True])
def test_an_attention_mask_of_pairs(pairs, causal):
    """As Transformers hands it on: padding and triangle in one, (B, 1, T, T)."""
    given = {"q": Q, "k": K, "v": V, "attention_mask": pairs, "layout": "BHTD", "causal": causal}
    assert verdict(**given, out=attend(allowed=PAIRS)) == "correct"
    labels = diagnose(**given, out=attend(allowed=TRI)).labels
    assert ["mask.missing_padding"] in labels or causal is None


def test_a_triangle_that_is_said_twice_is_still_tested():
    given = {"q": Q, "k": K, "v": V, "mask": TRI, "layout": "BHTD", "causal": True}
    assert verdict(**given, out=attend(allowed=TRI)) == "correct"
    assert diagnose(**given, out=attend()).labels == [["mask.missing_causal"]]


@pytest.mark.parametrize("lengths", [[1, 2, 3], [T + 1, 2], [2.5, 1]])
def test_lengths_that_fit_no_batch_are_refused(lengths):
    answer = diagnose(q=Q, k=K, v=V, out=attend(), lengths=np.array(lengths), **STATED)
    assert answer.labels == [["input.shape_mismatch"]]
    assert "lengths must hold a whole number" in answer.message


def test_arrays_that_are_not_used_are_told():
    answer = diagnose(q=Q, k=K, v=V, out=attend(), dropout_seed=np.arange(3), **STATED)
    assert answer.notes[-1] == "arrays whose names mean nothing here were not used: 'dropout_seed'"


class Tensor:
    """As PyTorch's, which NumPy cannot read while it is on a graph or in bfloat16."""

    def __init__(self, array, dtype="torch.bfloat16", readable=False):
        self.array, self.dtype, self.readable = array, dtype, readable

    def detach(self):
        return Tensor(self.array, self.dtype)

    def cpu(self):
        return Tensor(self.array, self.dtype, self.dtype != "torch.bfloat16")

    def float(self):
        return Tensor(self.array.astype(np.float32), "torch.float32", True)

    def __array__(self, dtype=None, copy=None):
        if not self.readable:
            raise TypeError("this tensor cannot be read by NumPy")
        return self.array


@pytest.mark.parametrize("dtype", ["torch.bfloat16", "torch.float64"])
def test_tensors_are_taken_off_their_graph(dtype):
    tensors = {n: Tensor(x, dtype) for n, x in {"q": Q, "k": K, "v": V, "out": attend()}.items()}
    assert verdict(**tensors, **STATED) == "correct"


def test_rows_of_different_lengths_are_told():
    ragged = np.array([np.ones(2), np.ones(3)], dtype=object)
    answer = diagnose(q=ragged, k=K, v=V, out=V)
    assert answer.labels == [["input.wrong_dtype"]]
    assert "'q' is not an array of numbers (rows of different lengths?)" in answer.message


# --- wild numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("huge", [1e200, 1e300])
def test_a_huge_output_is_not_called_right(huge):
    """Its square overflows: nothing may be measured by it."""
    out = attend()
    out[0, 0, 0, 0] = huge
    assert verdict(q=Q, k=K, v=V, out=out, **STATED) == "unexplained"
    assert verdict(q=Q, k=K, v=V, out=-huge * attend(), **STATED) in ("fault", "unexplained")


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_right_and_wrong_are_told_apart_at_any_size_of_the_values(size):
    v = V * size
    assert verdict(q=Q, k=K, v=v, out=attend(v=v), **STATED) == "correct"
    assert diagnose(q=Q, k=K, v=v, out=attend(v=v, factor=1.0), **STATED).labels == [["scale.missing"]]


def test_wild_numbers_raise_nothing():
    for seed in range(40):
        random = np.random.default_rng(seed)

        def wild(*shape, random=random):
            x = random.standard_normal(shape) * 10.0 ** random.choice([0, 30, 150, 300, -150, -300])
            x.flat[random.integers(x.size)] = 10.0 ** random.choice([0, 307, -308])
            return x

        arrays = {"q": wild(2, 2, 4, 3), "k": wild(2, 2, 5, 3), "v": wild(2, 2, 5, 4)}
        answer = diagnose(arrays, out=wild(2, 2, 4, 4), layout="BHTD", causal=True, max_faults=1)
        assert answer.verdict in ("unexplained", "fault"), answer.as_text()
        json.loads(answer.as_json())


@pytest.mark.parametrize(("low", "missing"), [(-1e4, "mask.missing"), (-100.0, "score.bias_missing")])
def test_an_additive_mask_hides_below_minus_a_thousand(low, missing):
    mask = np.where(TRI, 0.0, low)
    assert diagnose(q=Q, k=K, v=V, out=attend(), mask=mask, **STATED).labels[0] == [missing]


def test_a_mask_of_each_batch_entry():
    allowed = RANDOM.random((B, T, T)) > 0.4
    allowed |= np.eye(T, dtype=bool)
    assert verdict(q=Q, k=K, v=V, out=attend(allowed=allowed[:, None]), mask=allowed, **STATED) == "correct"


def test_a_mask_with_one_entry_a_key_is_padding():
    answer = diagnose(q=Q, k=K, v=V, out=attend(), mask=KEEP, mask_true="keep", **STATED)
    assert ["mask.missing_padding"] in answer.labels
