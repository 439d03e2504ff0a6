"""The frame: page settings, navigation, the shared inputs, then the page itself."""

import streamlit as st

from pages import PAGES
from ui import controls, frame, presenter
from ui.teach import notes
from ui.view import View


def main() -> None:
    """Run one page. A page file that Streamlit starts alone calls this too (see pages/__init__.py)."""
    frame.configure()
    links = {page.slug: frame.link(page, default=page is PAGES[0]) for page in PAGES}
    chosen = st.navigation(list(links.values()), position="top")
    # The default page answers at "/", and there Streamlit leaves its url_path empty.
    index = next((i for i, page in enumerate(PAGES) if page.slug == chosen.url_path), 0)
    with st.sidebar:
        presenter.draw(PAGES[index].slug)
        view = View.of(*controls.draw())
    frame.style()
    frame.header(PAGES, index, links)
    if presenter.with_notes():
        notes.show(PAGES[index].slug)
    # Called here, not by chosen.run(): the browser's Back button keeps only those URL parameters
    # whose widgets were made by the entry script, and pages have widgets of their own.
    PAGES[index].render(view)


if __name__ == "__main__":
    main()
