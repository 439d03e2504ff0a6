"""What a page shows in place of a choice that would leave it empty: said plainly, with a way to choose it."""

import streamlit as st

from ui import text
from ui.assigned import assign


def tell(slug: str, heading: str, label: str, **choice: object) -> None:
    """The words of assets/text/<slug>.md, and a button that makes the sidebar say what the page shows."""
    with st.container(key="instead", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/info: {text.part(slug, heading)}", width="content")
        st.button(label, key=f"instead_{slug}", on_click=assign, args=(choice,))
