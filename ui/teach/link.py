"""The room with the link and QR code of what is on screen, and the ways into presenter mode."""

from base64 import b64encode
from collections.abc import Mapping

import streamlit as st

from ui import presenter, text
from ui.qr import TooLongForQr, qr_svg
from ui.teach import address
from ui.view import View


def show(view: View, titles: Mapping[str, str]) -> None:
    """At the left the address and its code to point a camera at; at the right presenter mode."""
    left, right = st.columns([5, 6], gap="large")
    with left:
        st.markdown(text.part("teach", "Link"))
        url = _choose(view, titles)
        st.code(url, language=None, wrap_lines=True)
        qr(url)
    with right, presenter.screen("keys"):
        st.markdown("**Presenter mode.** " + text.part("teach", "Presenter mode"))
        present, notes = (
            address.relative("", address.state(view, **{switch: "true"})) for switch in ("present", "notes")
        )
        st.markdown(f"[Present from the first page]({present}) · [Notes of the first page]({notes})")


def _choose(view: View, titles: Mapping[str, str]) -> str:
    """The page that the link opens, and how -> its whole address."""
    by_title = {title: slug for slug, title in titles.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page = st.selectbox("Page", list(by_title), key="link_page", bind="query-params", width=220)
        large = st.checkbox("in presenter mode", key="link_present", bind="query-params")
    slug = by_title[page]
    first = slug == next(iter(titles))
    query = address.state(view, **({"present": "1"} if large else {}))
    return address.whole("" if first else slug, query)


def qr(url: str) -> None:
    """The QR code of an address, or why there is none."""
    try:
        picture = b64encode(qr_svg(url).encode()).decode("ascii")
        with st.container(key="qr"):  # not st.image, which gives a picture no words
            st.html(f'<img alt="QR code of the address" src="data:image/svg+xml;base64,{picture}">')
    except TooLongForQr as error:
        st.caption(text.literal(str(error)))
