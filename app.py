"""The frame: page settings, navigation, the shared inputs, then the page itself."""

import streamlit as st

from core.setup import Setup
from pages import PAGES
from ui import assigned, controls, frame, keep, presenter
from ui.teach import notes
from ui.view import View


def main() -> None:
    """Run one page. A page file that Streamlit starts alone calls this too (see pages/__init__.py)."""
    # A session's first run asks the widgets. Later ones know what they hold and draw the page first,
    # so that the matrices reach the browser ahead of everything else (stage.paint_first).
    assigned.settle()
    held = controls.held()
    links = {page.slug: frame.link(page, default=page is PAGES[0]) for page in PAGES}
    current = st.navigation(list(links.values()), position="top")
    # The default page answers at "/", and there Streamlit leaves its url_path empty.
    index = next((i for i, page in enumerate(PAGES) if page.slug == current.url_path), 0)
    slug = PAGES[index].slug
    if held is None:
        frame.configure(PAGES[index])
    with st.sidebar:
        presenter.draw(slug)
    # Empty until it is known what to say, yet always there: an input that moves loses its hold on the URL.
    whose_inputs = st.sidebar.empty()
    sidebar, header, body = st.sidebar.container(), st.container(), st.container()
    turned = frame.is_turned(slug)
    if turned:  # a new page shows at once where it is and how to go on
        with header:
            frame.style()
            frame.header(PAGES, index, links)
    choices = held
    if choices is None:
        with sidebar:
            choices = controls.draw()
    with body:
        # Called here, not by current.run(): the browser's Back button keeps only those URL parameters
        # whose widgets were made by the entry script, and pages have widgets of their own.
        PAGES[index].render(View.of(*choices))
    with whose_inputs:
        frame.say_whose_inputs(PAGES[index], choices[0])
    with header:
        if held is not None:
            frame.configure(PAGES[index])
        if not turned:
            frame.style()
            frame.header(PAGES, index, links)
        if presenter.with_notes():
            notes.show(slug)
        keep.watch()  # after the page, which may have something to keep
    if held is not None:
        with sidebar:
            _draw_late(held)


def _draw_late(held: tuple[Setup, controls.Selection]) -> None:
    """The sidebar's widgets, after a page that was drawn from what they hold."""
    if controls.draw() != held:  # the address itself was changed, by hand or by Back
        controls.ask_in_the_next_run()
        st.rerun()


if __name__ == "__main__":
    main()
