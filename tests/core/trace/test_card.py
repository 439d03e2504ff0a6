import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.examples import EXAMPLES
from core.offered import D_KS, HEADS, MASKS
from core.setup import Setup, run
from core.trace import LEVEL_OF, LEVELS, STEPS, card, check_blank, check_card, is_complete

KITE = Setup()
SETUPS = st.builds(
    Setup,
    st.sampled_from(list(EXAMPLES)),
    st.integers(2, 64),
    st.sampled_from([d_k for d_k in D_KS if d_k <= 64]),
    st.sampled_from(MASKS),
    st.sampled_from(HEADS[:2]),
    st.integers(0, 3),
)


def right_answers(filled):
    return {blank.id: repr(blank.answer) for blank in filled.blanks}


def test_the_chain_of_the_lesson():
    filled = card(KITE, "alone", 4, 1)
    assert [blank.answer for blank in filled.blanks] == pytest.approx([8, 4, 0.8544, 7.851], abs=5e-4)
    assert filled.question == "it → kite, who"


def test_the_levels_fade():
    counts = [len(card(KITE, level, 4, 1).blanks) for level in LEVELS]
    assert counts == [0, 1, 3, 3, 7, 4]
    assert set(LEVEL_OF.values()) == set(LEVELS)


def test_each_level_gives_the_steps_before_it_and_no_later_one():
    given = {level: dict(card(KITE, level, 4, 1).chain) for level in LEVELS}
    assert tuple(given["written"]) == STEPS
    assert given["written"] == {"score": "8", "scaled": "", "weight": "", "output": ""}
    assert given["one blank"] == given["written"]
    assert given["three blanks"] == {"score": "8", "scaled": "4", "weight": "", "output": ""}
    assert given["row"] == {"score": "8", "scaled": "4", "weight": "0.854", "output": ""}
    assert given["row alone"] == given["three blanks"]
    assert not any(given["alone"].values())


def test_lines_of_the_kite():
    assert card(KITE, "written", 4, 1).lines == (("3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8",),)
    assert card(KITE, "one blank", 4, 1).lines[0][0] == "8 / √4 = "
    texts = [line[0] for line in card(KITE, "three blanks", 4, 1).lines]
    assert texts[0] == "e⁴ = "
    assert texts[1] == "sum of the row: 0.368 + the power + 1 + 0.368 + 2.718 + 0.368 + 4.482 = "
    assert card(KITE, "row", 4, 1).lines[0][0].startswith("who: 0.006·1 + 0.854·9")


def test_three_blanks_by_a_pocket_calculator():
    checked = check_card(
        card(KITE, "three blanks", 4, 1), {"power": "54.60", "total": "63,90", "weight": "0.854"}
    )
    assert is_complete(checked)
    assert checked["weight"].sentence == "Right: 0.854."


@pytest.mark.parametrize(
    ("level", "blank_id", "typed", "words"),
    [
        ("one blank", "scaled", "2", "square root"),
        ("one blank", "scaled", "16", "division"),
        ("one blank", "scaled", "5", "Divide the score by √4 = 2"),
        ("three blanks", "power", "2981", "Scale it first"),
        ("three blanks", "total", "3.5", "powers"),
        ("three blanks", "weight", "54.6", "Divide it by the row's sum"),
        ("three blanks", "weight", "0.99", "raw scores"),
        ("three blanks", "weight", "1/7", "equal share"),
        ("row", "output.0", "9", "winner's value"),
        ("row", "output.0", "1.857", "plain mean"),
        ("alone", "score", "-2", "other direction"),
    ],
)
def test_a_wrong_number_is_told_what_it_means(level, blank_id, typed, words):
    checked = check_card(card(KITE, level, 4, 1), {blank_id: typed})[blank_id]
    assert checked.state == "wrong"
    assert words in checked.sentence


def test_the_mask_page_asks_for_a_whole_row():
    filled = card(Setup(mask="causal"), "row alone", 2, 1)
    assert [blank.answer for blank in filled.blanks] == pytest.approx(
        [0.006, 0.876, 0.118, 0, 0, 0, 0], abs=5e-4
    )
    checked = check_card(filled, {"weight.1": "0.740", "weight.6": "0.1", "weight.3": "0"})
    assert "shared out anew" in checked["weight.1"].sentence
    assert "exactly 0" in checked["weight.6"].sentence
    assert checked["weight.3"].state == "right"
    assert checked["weight.0"].state == "empty"
    assert not is_complete(checked)


@pytest.mark.parametrize("text", ["four", "1/0", "9" * 50])
def test_what_is_no_number_is_unreadable(text):
    assert check_blank(card(KITE, "one blank", 4, 1).blanks[0], text).state == "unreadable"


@settings(max_examples=40, deadline=None)
@given(SETUPS, st.sampled_from(LEVELS), st.data())
def test_any_cell_of_any_setup_has_a_card_that_its_own_numbers_complete(setup, level, data):
    steps = run(setup).heads
    _, n_q, n_k = steps.scores.shape
    row, col = data.draw(st.integers(0, n_q - 1)), data.draw(st.integers(0, n_k - 1))
    channel = data.draw(st.integers(0, steps.v.shape[-1] - 1))
    filled = card(setup, level, row, col, channel, setup.n_heads - 1)
    assert len(filled.blanks) <= 8
    assert len({blank.id for blank in filled.blanks}) == len(filled.blanks)
    assert is_complete(check_card(filled, right_answers(filled)))
    for blank in filled.blanks:
        wrong = check_blank(blank, "123456.5")
        assert wrong.state == "wrong"
        assert wrong.sentence


def test_a_long_row_asks_for_its_largest_shares_and_the_chosen_cell():
    setup = Setup(seq_len=40)
    weights = run(setup).heads.weights[0, 4]
    filled = card(setup, "row alone", 4, 0)
    asked = [int(blank.id.partition(".")[2]) for blank in filled.blanks]
    assert len(asked) == 8
    assert 0 in asked
    assert int(weights.argmax()) in asked
    assert asked == sorted(asked)


def test_large_scores_are_written_with_the_maximum_subtracted():
    setup = Setup("saturation", 6, 64, edits=";".join(f"q.0.0.{c}=9" for c in range(8)))
    blanks = {blank.id: blank for blank in card(setup, "three blanks", 0, 0).blanks}
    assert "is subtracted first" in card(setup, "three blanks", 0, 0).lines[0][0]
    assert math.isfinite(blanks["total"].answer)
    assert blanks["power"].answer / blanks["total"].answer == pytest.approx(blanks["weight"].answer)


@pytest.mark.parametrize("place", [{"row": 7}, {"col": -1}, {"channel": 3}, {"head": 1}])
def test_a_cell_that_is_not_there_is_refused(place):
    where = {"row": 4, "col": 1, "channel": 0, "head": 0} | place
    with pytest.raises(ValueError, match="this setup has"):
        card(KITE, "row", **where)


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="must be one of"):
        card(KITE, "two blanks", 4, 1)
