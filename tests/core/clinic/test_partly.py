"""Some heads or batch entries are right, others are not."""

import numpy as np
import pytest

from core.clinic import diagnose
from core.clinic.beliefs import Beliefs
from core.clinic.case import Case
from core.clinic.partly import partly_right
from core.clinic.readings import readings
from core.clinic.second_look import second_look
from tests.core.softmax import soft

RANDOM = np.random.default_rng(8)
B, H, T, D = 2, 4, 9, 6
Q, K, V = (RANDOM.standard_normal((B, H, T, D)) for _ in range(3))
SCALED = Q @ K.swapaxes(-1, -2) / D**0.5
STATED = {"layout": "BHTD", "causal": False}


def one_wrong(axis, index, wrong):
    out = soft(SCALED) @ V
    place = (slice(None),) * axis + (index,)
    out[place] = wrong[place]
    return out


OVER_QUERIES = soft(SCALED.swapaxes(-1, -2)).swapaxes(-1, -2) @ V


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stated", [STATED, {}, {"n_heads": H}])
def test_the_fault_of_one_head_is_named(dtype, stated):
    arrays = {"q": Q, "k": K, "v": V, "out": one_wrong(1, 2, OVER_QUERIES)}
    answer = diagnose({name: array.astype(dtype) for name, array in arrays.items()}, **stated)
    assert answer.labels == [["softmax.axis_query"]]
    assert answer.explanations[0].details == ("only in head 2",)
    assert answer.message.startswith("Heads 0, 1, 3 are right. The others: one fault reproduces")


def test_the_fault_of_one_head_is_named_with_shared_keys():
    k, v = K[:, :2], V[:, :2]
    keys, values = k.repeat(2, axis=1), v.repeat(2, axis=1)
    scores = Q @ keys.swapaxes(-1, -2)
    out = soft(scores / D**0.5) @ values
    out[:, [1, 2]] = (soft(scores) @ values)[:, [1, 2]]  # one of each pair
    answer = diagnose(q=Q, k=k, v=v, out=out, **STATED)
    assert (answer.labels, answer.explanations[0].details) == ([["scale.missing"]], ("only in heads 1, 2",))


def test_the_fault_of_one_entry_is_named():
    answer = diagnose(q=Q, k=K, v=V, out=one_wrong(0, 1, OVER_QUERIES), **STATED)
    assert answer.labels == [["softmax.axis_query"]]
    assert answer.message.startswith("Batch entry 0 is right.")
    assert answer.explanations[0].details == ("only in batch entry 1",)


@pytest.mark.parametrize("flat", [False, True])
def test_heads_that_nothing_explains_are_told_apart(flat):
    noise = RANDOM.standard_normal(V.shape)
    arrays = {"q": Q, "k": K, "v": V, "out": one_wrong(1, 1, noise)}
    stated = {**STATED, "n_heads": H}
    if flat:
        arrays = {n: a.swapaxes(1, 2).reshape(B, T, H * D) for n, a in arrays.items()}
        stated["layout"] = "BTD"
    answer = diagnose(arrays, **stated)
    error = np.abs(noise - soft(SCALED) @ V)[:, 1].max()
    assert answer.verdict == "unexplained"
    assert f"Heads 0, 2, 3 are right. Head 1 is off by up to {error:.2g}." in answer.message


def test_a_head_of_nan_is_told_apart():
    answer = diagnose(q=Q, k=K, v=V, out=one_wrong(1, 1, np.full(V.shape, np.nan)), **STATED)
    assert answer.verdict == "unexplained"
    assert "Heads 0, 2, 3 are right. Head 1 is not even finite." in answer.message


def test_an_output_that_is_right_has_no_wrong_part():
    (reading, *_) = readings({"q": Q, "k": K, "v": V, "out": soft(SCALED) @ V}, Beliefs(**STATED))
    assert partly_right(reading, 1e-10) is None


def test_the_reading_with_more_right_heads_is_told():
    causal = soft(np.where(np.tri(T, dtype=bool), SCALED, -np.inf)) @ V
    answer = diagnose(q=Q, k=K, v=V, out=one_wrong(1, 3, causal), layout="BHTD")
    assert answer.message.startswith("Heads 0, 1, 2 are right. The others: ")
    assert answer.explanations[0].details[0].endswith("only in head 3")


def test_of_entries_that_were_not_looked_at_nothing_is_said():
    """Two of four are looked at, and one of these is right."""
    out = one_wrong(0, 1, RANDOM.standard_normal(V.shape))
    arrays = {"q": Q, "k": K, "v": V, "out": out}
    arrays = {name: np.concatenate([array, array])[:, :1] for name, array in arrays.items()}
    assert "Batch entries 0, 2 are right." in diagnose(arrays, **STATED).message
    case = Case(arrays, Beliefs(**STATED), 1, None, max_scores=2 * T * T)
    assert "2 of 4 batch entries" in case.sample_note
    assert "atch entr" not in second_look(case).message


def test_noise_everywhere_has_no_right_heads():
    answer = diagnose(q=Q, k=K, v=V, out=RANDOM.standard_normal(V.shape), **STATED)
    assert answer.verdict == "unexplained"
    assert "right." not in answer.message.replace("right computation", "")


# --- what another setting would explain ----------------------------------------------------------------


def rotated(x, first=0):
    half = x.shape[-1] // 2
    angle = np.outer(np.arange(x.shape[-2]) + first, 10000.0 ** (-np.arange(half) / half))
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    return np.concatenate([turned.real, turned.imag], axis=-1)


def test_rotary_positions_on_one_side_are_named_with_the_setting():
    out = soft(rotated(Q) @ K.swapaxes(-1, -2) / D**0.5) @ V
    answer = diagnose(q=Q, k=K, v=V, out=out, **STATED)
    assert answer.verdict == "unexplained"
    assert "if you say that q and k still need rotary positions" in answer.message
    assert "only queries or only keys are turned" in answer.message
    again = diagnose(q=Q, k=K, v=V, out=out, rope=True, **STATED)
    assert again.labels == [["score.rope_on_one_side"]]
    assert again.explanations[0].faulty_lines == ("q = rotate(q, position_q)",)


@pytest.mark.parametrize(("stated", "said"), [
    ({"scale": 0.9}, "leave the factor on the scores unsaid"),
    ({"causal": True}, "leave it unsaid whether it is causal"),
])  # fmt: skip
def test_a_setting_that_is_too_much_is_named(stated, said):
    """One head is wrong, and a setting was stated wrongly."""
    out = one_wrong(1, 2, OVER_QUERIES)
    answer = diagnose(q=Q, k=K, v=V, out=out, **{**STATED, **stated})
    assert answer.verdict == "unexplained"
    assert f"if you {said}, this comes out: heads 0, 1, 3 are right. The others: " in answer.message


def test_a_setting_that_leaves_it_unexplained_is_not_advised():
    """Without the wrong statement some heads are right, but nothing is known of the others."""
    out = one_wrong(1, 2, RANDOM.standard_normal(V.shape))
    answer = diagnose(q=Q, k=K, v=V, out=out, **{**STATED, "causal": True})
    assert answer.verdict == "unexplained"
    assert "if you" not in answer.message


def test_weights_that_made_the_output_are_not_doubted():
    weights = soft(SCALED)
    weights[:, 2] = soft(SCALED[:, 2].swapaxes(-1, -2)).swapaxes(-1, -2)
    answer = diagnose(q=Q, k=K, v=V, out=weights @ V, weights=weights, **STATED)
    assert (answer.labels, answer.explanations[0].details) == ([["softmax.axis_query"]], ("only in head 2",))
    assert answer.notes == ()
    other = diagnose(q=Q, k=K, v=V, out=weights @ V, weights=RANDOM.random((B, H, T, T)), **STATED)
    assert other.labels == [["softmax.axis_query"]]
    assert any("not the ones" in note for note in other.notes)
