import pytest

from core.facts import facts, fill

EXPECTED = {  # what the author of the lesson expects; the core computes it
    "query": "“it”", "key": "“kite”", "channel": "“who”", "score": "8", "score_back": "−2", "scaled": "4",
    "weight": "0.854", "output": "7.85", "largest_value": "9", "smallest_weight": "0.0016",
    "weight_unscaled": "0.990", "weight_by_d_k": "0.529", "popular_key": "“kite”", "popular_sum": "3.52",
    "equal_share": "0.143", "first": "“The”", "first_weight_masked": "1", "first_best": "“kite”",
    "first_best_weight": "0.49", "later_share_of_zeros": "0.86", "last": "“wet”", "second_key": "“because”",
    "head_0": "0.85", "head_1": "0.90", "one_head_first": "0.53", "one_head_second": "0.26",
    "reshape_holds": "second half of token 0", "T": "7", "d_k": "4", "d_v": "3", "root": "2",
    "cup": "“cup”", "plate": "“plate”", "cup_weight": "0.475", "plate_weight": "0.475",
    "products": "3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8",
}  # fmt: skip


def test_the_core_finds_what_the_lesson_says():
    assert facts() == EXPECTED


def test_fill():
    assert fill("{query} → {key}: {weight}") == "“it” → “kite”: 0.854"
    with pytest.raises(KeyError):
        fill("{nothing}")
