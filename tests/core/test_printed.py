import pytest

from core import printed

ATTACK = "<img src=x onerror=alert(1)>\"'&"


@pytest.mark.parametrize(
    "made",
    [
        printed.document(ATTACK, []),
        printed.heading(ATTACK),
        printed.paragraph(ATTACK),
        printed.text(ATTACK),
        printed.choices([ATTACK]),
        printed.table(ATTACK, [ATTACK], [(ATTACK, [ATTACK])]),
    ],
)
def test_every_block_escapes_its_text(made):
    assert "<img" not in made
    assert "&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;" in made


def test_an_open_cell_and_the_cell_that_is_looked_at():
    made = printed.table("S", ["a", "b"], [("x", ["1", None])], here=(0, 0))
    assert "<td class=here>1</td>" in made
    assert '<td class="asked"></td>' in made
