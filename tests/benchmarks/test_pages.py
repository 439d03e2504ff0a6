"""What the benchmarks say of the pages: names that exist, and sums of what was fetched."""

from benchmarks import first_load, pages_to_paint
from benchmarks.first_load import Traffic
from benchmarks.pages_to_paint import BOARD, CHART, address, beside, watched, websocket_deflate
from pages import PAGES

SLUGS = {page.slug for page in PAGES}


def test_every_page_that_is_named_exists():
    for named in (
        first_load.TIMED,
        first_load.WITHOUT_BOARD,
        pages_to_paint.STILL,
        pages_to_paint.CHARTS_THAT_FOLLOW,
    ):
        assert named <= SLUGS


def test_what_is_watched():
    assert watched("score") == [BOARD]
    assert watched("softmax") == [BOARD, CHART]
    assert watched("clinic") == []


def test_the_floors_slider_comes_back():
    """It is the same page for all rows, and would else reach the slider's end after a few."""
    assert pages_to_paint.PRESSES % 2 == 0


def test_the_first_page_has_no_slug_in_its_address():
    assert address("http://there", PAGES[0].slug) == "http://there/"
    assert address("http://there", "score") == "http://there/score"


def test_median_and_ratio_side_by_side():
    assert beside([30, 10, 20], [10, 10, 10]) == ["20.0", "2.00"]
    assert beside([30, 10, 20], [10, 10, 10], digits=0) == ["20", "2.00"]


def test_only_what_gets_smaller_is_gzipped():
    traffic = Traffic(sizes={"1": (1000, 300), "2": (50, 70)})
    assert (traffic.whole, traffic.gzipped) == (1050, 350)


def test_a_message_that_comes_again_is_packed_into_less():
    deflated, message = websocket_deflate(), bytes(range(256))
    first, again = deflated(message), deflated(message)
    assert again < 30
    assert 200 < first < 300
