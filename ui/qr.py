"""A QR code of an address, as SVG that stands in the page itself."""

from io import BytesIO

import segno

LONGEST = 1200  # characters; denser codes cannot be read from the back of a room


class TooLongForQr(ValueError):
    """The address does not fit a code that a camera can read across a room."""


def qr_svg(url: str) -> str:
    """-> `<svg ...>` of the QR code: black on white with its quiet zone, scaling to the place it is given.

    The address is only in the pattern, never in the markup. Raises TooLongForQr.
    """
    if len(url) > LONGEST:
        raise TooLongForQr(
            f"The address has {len(url)} characters; a QR code takes {LONGEST}. "
            "Fewer edits by hand make it shorter."
        )
    drawn = BytesIO()
    code = segno.make(url, error="m", micro=False)
    # With its namespace, not svg_inline: without one a browser takes no SVG for the source of a picture.
    code.save(drawn, "svg", xmldecl=False, nl=False, border=4, dark="#000", light="#fff", omitsize=True)
    return drawn.getvalue().decode()
