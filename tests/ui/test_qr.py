import xml.etree.ElementTree as ElementTree

import pytest
import segno

from ui.qr import LONGEST, TooLongForQr, qr_svg

URL = "https://example.org/score?example=kite&row=4&col=1"


def modules(svg):
    """The black squares that the picture draws: (row, column), without the quiet zone."""
    root = ElementTree.fromstring(svg)
    path = next(part for part in root if part.get("stroke") == "#000")
    tokens = path.attrib["d"].replace("M", " M ").replace("m", " m ").replace("h", " h ").split()
    x = y = 0.0
    found = set()
    place = iter(tokens)
    for command in place:
        if command in "Mm":
            dx, dy = pair(next(place), place)
            x, y = (dx, dy) if command == "M" else (x + dx, y + dy)
        else:
            length = float(next(place))
            found |= {(int(y - 4), int(x - 4) + i) for i in range(int(length))}
            x += length
    return found


def pair(first, rest):
    """Two numbers, written "4 4.5", or "-29 1", or "4-1"."""
    head, sign, tail = first[0] + first[1:].partition("-")[0], *first[1:].partition("-")[1:]
    return (float(head), float(sign + tail)) if sign else (float(head), float(next(rest)))


def test_the_picture_is_the_code_of_the_address():
    matrix = segno.make(URL, error="m", micro=False).matrix
    expected = {(row, col) for row, line in enumerate(matrix) for col, dark in enumerate(line) if dark}
    assert modules(qr_svg(URL)) == expected


def test_it_is_well_formed_scales_and_has_its_quiet_zone():
    root = ElementTree.fromstring(qr_svg(URL))
    size = len(segno.make(URL, error="m", micro=False).matrix) + 8
    assert root.get("viewBox") == f"0 0 {size} {size}"
    assert root.get("width") is None


@pytest.mark.parametrize("url", ['https://x.org/?a="><script>alert(1)</script>', "https://x.org/?ä=ü&w=−1"])
def test_the_address_is_only_in_the_pattern(url):
    svg = qr_svg(url)
    assert "script" not in svg
    assert "x.org" not in svg
    ElementTree.fromstring(svg)


def test_too_long_an_address_is_refused_with_a_way_out():
    assert qr_svg("https://example.org/?" + "a" * (LONGEST - 21))
    with pytest.raises(TooLongForQr, match="Fewer edits"):
        qr_svg("x" * (LONGEST + 1))
