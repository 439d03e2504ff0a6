"""core/clinic/samples.py: each ready file gets the answer that its title promises."""

import pytest

from core.clinic import diagnose_uploads
from core.clinic.samples import SAMPLES

ANSWERS = {
    "right": ("correct", []),
    "no_scale": ("fault", [["scale.missing"]]),
    "mask_inverted": ("fault", [["mask.inverted"]]),
    "heads_reshaped": ("fault", [["heads.split_without_transpose"]]),
    "two_faults": ("fault", [["scale.missing", "softmax.axis_query"]]),
    "tie": ("fault", [["scale.twice"], ["scale.by_d_k"], ["scale.by_seq"]]),
    "cannot_tell": ("undetermined", []),
    "misfit": ("bad_input", [["input.shape_mismatch"]]),
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=lambda sample: sample.name)
def test_a_sample_is_what_its_title_says(sample):
    answer = diagnose_uploads([(sample.file_name, sample.make())])
    assert (answer.verdict, answer.labels) == ANSWERS[sample.name]


def test_every_kind_of_answer_but_the_inexplicable_has_its_sample():
    assert {verdict for verdict, _ in ANSWERS.values()} == {"correct", "fault", "undetermined", "bad_input"}
