"""Check yourself: the lesson in five sentences, eight questions, and a new sentence alone."""

from core import link
from core.examples import EXAMPLES
from core.recap import recap
from core.setup import Setup
from core.trace import LEVEL_OF, card
from ui import check, presenter, stage, text, trace
from ui.controls import Selection
from ui.view import View

ALONE = EXAMPLES["coref"]


def render(_: View) -> None:
    """The questions beside the recap; below them the task without help."""
    from pages import PAGES  # here, since that list holds this page

    titles = {page.slug: page.title for page in PAGES}
    stage.idea("check")
    questions, sentences = stage.columns()
    with questions:
        text.caption("check", "Questions")
        check.show(titles)
    with sentences, presenter.screen("recap"):
        text.caption("check", "Recap")
        for sentence in recap():
            query = link.query(sentence.setup, row=sentence.row, col=sentence.col)
            check.sentence(sentence.text, titles[sentence.page], check.address(sentence.page, query))
    with presenter.screen("alone"):
        alone()


def alone() -> None:
    """The cup and the plate: Q, K and V are given, the four numbers are not."""
    setup = Setup(ALONE.name, ALONE.seq_len, ALONE.d_k)
    stage.block("check", "Alone")
    given, blanks = stage.columns()
    with given:
        stage.given(View.of(setup, Selection(ALONE.row, ALONE.col, 0, None)))
    with blanks:
        made = card(setup, LEVEL_OF["check"], ALONE.row, ALONE.col)
        trace.alone(made)


if __name__ == "__main__":
    from app import main

    main()
