"""What a change to the tiny model does: the numbers that the page Real heads shows."""

import numpy as np
import pytest

from core.grammar import SENTENCES
from core.head_scores import cut_cells, loss_at_starts, measure
from core.interventions import change, findings, next_words_compared, place
from core.tiny_model import Change, Cut, read_sentence, run_model

NINA = read_sentence("Paul called Nina because she")


def test_a_change_is_made_from_names() -> None:
    made = change(["L0H1", "L1H3"], "scale.missing", ("L1H0", 5, 3))
    assert made == Change(frozenset({(0, 1), (1, 3)}), (Cut(1, 0, 5, 3),), "scale.missing")
    assert place("L1H2") == (1, 2)
    assert change([], "", None) == Change()


def test_cutting_one_cell_turns_the_prediction_over() -> None:
    """Nina swims and Paul fishes: without one cell of one head, the model no longer knows who she is."""
    position = len(NINA)
    cut = change([], "", ("L0H0", position, 3))
    compared = next_words_compared(run_model(NINA), run_model(NINA, cut), position)
    assert compared.most_probable[0] == "swam"
    assert compared.probabilities[0, 0] > 0.9
    assert compared.most_probable[1] != "swam"
    assert compared.probabilities[compared.words.index("swam"), 1] < 0.1


def test_the_heaviest_other_cell_is_no_such_cell() -> None:
    cut = cut_cells("coreference", 0, 0)
    assert (cut.before > 0.95, cut.after < 0.1, cut.control > 0.95) == (True, True, True)


@pytest.mark.parametrize(
    ("fault", "task", "accuracy", "text_loss"),
    [
        ("scale.missing", "coreference", (0.9, 1.0), (1.75, 1.85)),
        ("mask.missing_causal", "coreference", (0.0, 0.7), (3.0, 8.0)),
        ("score.qk_swapped", "subject", (0.0, 0.7), (4.0, 9.0)),
    ],
)
def test_three_faults_cost_what_they_cost(
    fault: str, task: str, accuracy: tuple[float, float], text_loss: tuple[float, float]
) -> None:
    broken = measure(Change(fault=fault))
    assert accuracy[0] <= broken.accuracy[task] <= accuracy[1]
    assert text_loss[0] < broken.text_loss < text_loss[1]


def test_compared_words_are_the_best_of_both_runs() -> None:
    words = read_sentence(SENTENCES["keys"])
    trained, broken = run_model(words), run_model(words, Change(fault="softmax.axis_query"))
    compared = next_words_compared(trained, broken, 6, n=3)
    assert 3 <= len(compared.words) <= 6
    for run, column in ((trained, 0), (broken, 1)):
        best = np.sort(run.probabilities[6])[-3:]
        assert set(best) <= set(compared.probabilities[:, column].astype(np.float32))


def test_first_words_carry_a_part_of_the_loss() -> None:
    assert 0 < loss_at_starts() < measure().text_loss


def test_findings_say_what_is_measured() -> None:
    sharpest, jobs, cut, scale = findings()
    trained, off = measure(), measure(Change(off=frozenset({(1, 1)})))
    assert sharpest.startswith("L1H1 has the sharpest maps")
    assert "none of the measured jobs" in sharpest
    assert f"from {trained.text_loss:.2f} to {off.text_loss:.2f}" in sharpest
    assert off.text_loss > trained.text_loss + 0.3
    assert "L1H0 holds 3 of the measured jobs" in jobs
    assert f"to {cut_cells('coreference', 0, 0).after:.2f}" in cut
    assert f"to {measure(Change(fault='scale.missing')).text_loss:.2f}" in scale
