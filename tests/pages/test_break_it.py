"""Break it: what it draws is what the fault computes, and what it says is what the checks found."""

from collections.abc import Callable

import numpy as np
import pytest

from core.faults.broken import SHOWN, broken, hidden_fault
from core.setup import Setup
from tests.pages.conftest import drawn, words

IMPOSSIBLE = ("mask.missing_padding", "score.k_not_transposed")  # on the kite, under a causal mask


@pytest.mark.parametrize("label", SHOWN)
def test_every_fault_is_drawn_or_told(open_page: Callable, label: str) -> None:
    page = open_page("break_it", broken=label)
    if label in IMPOSSIBLE:
        assert "cannot be made on this example" in page.main.get("info")[0].value
        assert not drawn(page)
        return
    made = broken(Setup(), label)
    matrices = drawn(page)
    for name, steps in (("right", made.right), ("broken", made.wrong)):
        np.testing.assert_array_equal(matrices[f"{name}_weights"]["values"], steps.weights[0])
        np.testing.assert_array_equal(matrices[f"{name}_output"]["values"], steps.output[0])
    for name in ("weights", "output"):
        right, wrong = (matrices[f"{side}_{name}"] for side in ("right", "broken"))
        assert right["limits"] == wrong["limits"]  # equal colours are equal numbers
        assert right["colours"] == wrong["colours"]
    assert made.fault.title in words(page)
    assert made.fault.faulty_line in [code.value for code in page.get("code")]
    assert all(story in words(page) for story in made.fault.stories)


def test_the_checks_say_what_they_found(open_page: Callable) -> None:
    text = words(open_page("break_it", broken="mask.missing_causal"))
    assert "3 of 6 fail" in text
    assert "**Row sums**: pass. Every row sums to 1." in text
    assert "**Future weight**: FAIL. “kite” gives 0.65 to “fell”, which is hidden from it." in text


def test_a_failed_check_leads_to_its_cell(open_page: Callable) -> None:
    page = open_page("break_it", broken="mask.missing_causal")
    page.button("check_2").click().run()
    assert not page.exception
    assert (page.session_state["row"], page.session_state["col"]) == (1, 2)


def test_a_mystery_hides_the_name_until_the_step_is_named(open_page: Callable) -> None:
    label = hidden_fault(Setup(), 3)
    title = broken(Setup(), label).fault.title
    page = open_page("break_it", mystery=3)
    assert title not in words(page)
    assert label not in words(page)
    assert not [box for box in page.main.get("selectbox") if box.key == "broken"]

    step = label.split(".")[0]
    other = "blend" if step != "blend" else "scale"
    page.segmented_control("named").set_value(other).run()
    assert f"Not the {other}" in page.main.get("warning")[0].value
    assert title not in words(page)

    page.segmented_control("named").set_value(step).run()
    assert f"Yes, the {step}" in page.main.get("success")[0].value
    assert title in words(page)

    page.button("another").click().run()
    assert page.query_params["mystery"] == "4"
    assert not page.main.get("success")


def test_heads_faults_show_with_two_heads(open_page: Callable) -> None:
    page = open_page("break_it", broken="heads.split_without_transpose")
    assert "Shown with 2 heads" in words(page)


@pytest.mark.parametrize("example", ["model", "smollm2"])
@pytest.mark.parametrize("label", ["scale.missing", "mask.inverted", "heads.split_without_transpose"])
def test_trained_heads_break_too_or_it_is_told(open_page: Callable, example: str, label: str) -> None:
    page = open_page("break_it", example=example, broken=label)
    if label.startswith("heads") and example != "model":
        assert "this example shows a single one" in page.main.get("info")[0].value
    else:
        assert "right_weights" in drawn(page)


def test_what_looks_wrong_is_measured(open_page: Callable) -> None:
    text = words(open_page("break_it"))
    assert text.count("Largest difference in the output") == 5
    assert "**exactly 0**" in text


def test_an_invisible_fault_is_told(open_page: Callable) -> None:
    page = open_page("break_it", example="needle", seq_len=8, broken="mask.missing_causal")
    assert "changes no number" in words(page)


def test_a_head_of_the_model_without_its_mask_is_shown_alone(open_page: Callable) -> None:
    """The page adds a causal mask and no heads: the fourth head of its layer is the only one drawn."""
    page = open_page("break_it", example="model", real_head="L0H3", mask="none", broken="softmax.axis_query")
    assert "right_weights" in drawn(page)
