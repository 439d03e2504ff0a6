from urllib.parse import parse_qs

import pytest

from core.link import query
from core.setup import Setup


def test_the_first_state_needs_no_query():
    assert query(Setup()) == ""
    assert query(Setup(), row=4, col=1, channel=0, head="0") == ""


@pytest.mark.parametrize(
    ("setup", "cell", "expected"),
    [
        (Setup("coref", 8), {"row": 6, "col": 4}, "example=coref&seq_len=8&row=6&col=4"),
        (Setup(mask="causal+padding", n_pad=3), {}, "mask=causal%2Bpadding&n_pad=3"),
        (Setup(n_heads=2), {"head": "all", "present": 1}, "n_heads=2&head=all&present=1"),
    ],
)
def test_only_what_differs_is_written(setup, cell, expected):
    assert query(setup, **cell) == expected


def test_edits_survive_the_address():
    edits = "q.0.4.0=2.5;v.0.1.0=-99"
    assert parse_qs(query(Setup(edits=edits))) == {"edits": [edits]}
