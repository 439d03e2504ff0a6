import numpy as np
import pytest

from core.export import MADE_BY, NUMPY_BLANKS, VERSIONS, listing
from core.export.sources import FUNCTIONS, NUMPY_FUNCTIONS
from core.setup import Setup, allowed, inputs, run


def lit(version, part):
    """The lines of a part, without their comments."""
    return [line.partition("  #")[0].strip() for line, parts in listing(version) if part in parts]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_listing_is_the_program_and_every_part_has_its_line(version):
    assert "\n".join(line for line, _ in listing(version)) == FUNCTIONS[version]
    assert all(lit(version, part) for part in MADE_BY)
    assert {part for _, parts in listing(version) for part in parts} == set(MADE_BY)


def test_run_one_after_the_other_the_lines_make_the_tensors_of_their_parts():
    setup = Setup(mask="causal", n_heads=2)
    given = inputs(setup)
    names = {"q": given.q, "k": given.k, "v": given.v, "allowed": allowed(setup), "d_k": setup.d_k, "np": np}
    exec(NUMPY_FUNCTIONS, names)
    for part, (tensor, _) in MADE_BY.items():
        line = next(line for line in lit("numpy", part) if " = " in line and "np.exp" not in line)
        exec(line, names)
        made = names[line.partition(" = ")[0]]
        np.testing.assert_allclose(made, getattr(run(setup).heads, tensor), atol=1e-15)


def test_in_the_module_score_and_scale_are_one_line():
    assert (
        lit("module", "score") == lit("module", "scale") == ["z = q @ k.transpose(-2, -1) / math.sqrt(d_k)"]
    )


def test_in_the_module_the_mask_is_its_condition_and_its_fill():
    assert lit("module", "mask") == ["if allowed is not None:", "z = z.masked_fill(~allowed, -math.inf)"]


def test_a_listing_with_blanks_holds_none_of_the_answers():
    text = "\n".join(line for line, _ in listing("numpy", blanks=True))
    assert text.count("____") == len(NUMPY_BLANKS)
    assert not [blank.id for blank in NUMPY_BLANKS if blank.written in text]
