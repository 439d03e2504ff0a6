"""Pages for paper: small HTML building blocks. Every text that comes in is escaped here, once."""

from collections.abc import Iterable, Sequence
from html import escape

CSS = """
body {
  font: 11pt/1.45 system-ui, sans-serif; color: #111; background: #fff; max-width: 19cm; margin: 1cm auto;
}
h1 { font-size: 17pt; margin: 0 0 .3em; } h2 { font-size: 13pt; margin: 1.1em 0 .3em; }
table { border-collapse: collapse; margin: .4em 0 .8em; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .2em 0; }
th, td { border: 1px solid #888; padding: .12em .45em; text-align: right; font-weight: 400; }
th { background: #f0f0f0; }
td.asked { min-width: 3.2em; height: 1.7em; border-width: 2px; border-color: #111; }
td.here { font-weight: 700; outline: 2px solid #111; outline-offset: -2px; }
ol, ul { margin: .3em 0; padding-left: 1.5em; } li { margin: .45em 0; }
.line { display: inline-block; min-width: 5em; border-bottom: 1px solid #111; }
.small { font-size: 9pt; color: #333; }
.row { display: flex; flex-wrap: wrap; align-items: start; gap: 0 1.2em; }
caption { white-space: nowrap; }
.page { break-before: page; }
@media screen { body { padding: 0 .5cm; } .wide { overflow-x: auto; } }
@media print {
  .print { display: none; }
  @page { size: A4; margin: 14mm; }
  body { margin: 0; max-width: none; font-size: 9.5pt; }
  p { margin: .4em 0; break-after: avoid; }
  .row { gap: 0 .8em; }
  table, li { break-inside: avoid; }
  h2 { break-after: avoid; }
  th { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

PRINT = '<p class="print"><button type="button" onclick="window.print()">Print</button></p>'


def document(title: str, parts: Iterable[str]) -> str:
    """A whole page from its title (text) and parts (HTML made by the functions of this file)."""
    body = "\n".join(parts)
    name = escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{name}</title>\n'
        f"<style>{CSS}</style>\n</head>\n<body>\n{PRINT}\n<h1>{name}</h1>\n{body}\n</body>\n</html>\n"
    )


def heading(text: str, *, new_page: bool = False) -> str:
    """A second-level heading, on a new sheet if asked for."""
    return f"<h2{' class=page' if new_page else ''}>{escape(text)}</h2>"


def paragraph(text: str, *, small: bool = False) -> str:
    """A paragraph."""
    return f"<p{' class=small' if small else ''}>{escape(text)}</p>"


def row(parts: Iterable[str]) -> str:
    """Several blocks beside one another, as many as fit the sheet."""
    return f'<div class="row">{"".join(parts)}</div>'


def numbered(entries: Iterable[str]) -> str:
    """A numbered list; entries are HTML made by the functions of this file."""
    return "<ol>" + "".join(f"<li>{entry}</li>" for entry in entries) + "</ol>"


def text(words: str) -> str:
    """Words inside a list entry."""
    return escape(words)


def line_to_write_on() -> str:
    """A rule to write an answer on."""
    return '<span class="line">&nbsp;</span>'


def choices(options: Iterable[str]) -> str:
    """Boxes to tick, one a line."""
    return "<br>" + "<br>".join(f"&#9633; {escape(option)}" for option in options)


def table(
    caption: str,
    column_labels: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str | None]]],
    here: tuple[int, int] | None = None,
) -> str:
    """Rows (label, cells) under their header. A cell that is None is left open to be filled in."""
    head = "".join(f"<th>{escape(label)}</th>" for label in ("", *column_labels))
    body = []
    for i, (label, cells) in enumerate(rows):
        made = "".join(_cell(cell, here == (i, j)) for j, cell in enumerate(cells))
        body.append(f"<tr><th>{escape(label)}</th>{made}</tr>")
    name = f"<caption>{escape(caption)}</caption>"
    return f'<div class="wide"><table>{name}<tr>{head}</tr>{"".join(body)}</table></div>'


def _cell(content: str | None, here: bool) -> str:
    if content is None:
        return '<td class="asked"></td>'
    return f"<td{' class=here' if here else ''}>{escape(content)}</td>"
