"""Every lab, opened by its link: it says what the core measured, and junk opens the first one."""

from collections.abc import Callable

import pytest

from tests.pages.conftest import words
from ui import labs

PAGES = {
    "scale": labs.scale,
    "softmax": labs.softmax,
    "blend": labs.blend,
    "mask": labs.mask,
    "heads": labs.heads,
}
LABS = [(slug, name) for slug, module in PAGES.items() for name in module.LABS]


@pytest.mark.parametrize(("slug", "name"), LABS)
def test_opens(open_page: Callable, slug: str, name: str) -> None:
    page = open_page(slug, **{f"{slug}_lab": name}, sweep_d_k=4)
    print(words(page)[-1500:])
