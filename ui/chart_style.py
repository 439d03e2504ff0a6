"""The charts' common look: colours for light and dark, hatching, and a slim Plotly template."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import plotly.graph_objects as go

HEIGHT = 300
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "x")
HATCHES = ("", "/", "x", ".")


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours on one background: text and series[:2], which is text too, at 4.5 : 1, all series at 3 : 1.

    Series are from Okabe and Ito's set for colour-blind readers, darker where the page asks for it.
    """

    text: str
    grid: str
    page: str
    series: tuple[str, ...]
    share: tuple[str, str]  # the colour of 0, and of 1
    diverging: tuple[str, str, str]  # of the lowest, 0 and the highest


INKS = {
    "light": Ink(
        text="#1f2937",
        grid="#d8dce3",
        page="#ffffff",
        series=("#0072B2", "#BF5200", "#007A5A", "#9C4F80", "#8A6D00", "#3B8FC2", "#4B5563"),
        share=("#f5f8fc", "#0b559f"),
        diverging=("#D55E00", "#f7f7f7", "#0072B2"),
    ),
    "dark": Ink(
        text="#e5e7eb",
        grid="#3b4252",
        page="#101419",
        series=("#56B4E9", "#E69F00", "#2FBF93", "#E08CBB", "#F0E442", "#A7D3F0", "#B6BDC9"),
        share=("#161b26", "#7cc4f5"),
        diverging=("#E69F00", "#1b2130", "#56B4E9"),
    ),
}


def empty_figure(theme: str, x_title: str, y_title: str) -> go.Figure:
    """An empty figure in the house's style: slim template, margins for a phone, legend on top."""
    return go.Figure(
        layout={
            "template": template(theme),
            "height": HEIGHT,  # not in the template: Streamlit looks here, and else takes its own
            "xaxis": {"title": {"text": plain(x_title)}},
            "yaxis": {"title": {"text": plain(y_title)}},
        }
    )


@cache  # Plotly checks each entry, 0.7 of the 1.5 ms of an empty figure; a figure takes a copy of its own
def template(theme: str) -> go.layout.Template:
    """What all charts share."""
    if theme not in INKS:
        raise ValueError(f'theme must be "light" or "dark", but it is {theme!r}')
    ink = INKS[theme]
    axis = {
        "gridcolor": ink.grid,
        "zerolinecolor": ink.grid,
        "linecolor": ink.text,
        "automargin": True,
        "title": {"standoff": 8},
        "fixedrange": True,
    }
    return go.layout.Template(
        layout={
            "margin": {"l": 8, "r": 8, "t": 36, "b": 8},
            "font": {"size": 13, "color": ink.text},
            "paper_bgcolor": ink.page,  # not clear: a chart taken along as an image stands on any ground
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(ink.series),
            "legend": {"orientation": "h", "x": 0, "y": 1.04, "yanchor": "bottom"},
            "xaxis": axis,
            "yaxis": axis,
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": ink.text, "activecolor": ink.text},
            "dragmode": False,
            "hovermode": "closest",
        }
    )


def marker(theme: str, i: int) -> dict:
    """A bar's colour, and its hatching, so that colour is not the only sign."""
    ink = INKS[theme]
    return {
        "color": ink.series[i % len(ink.series)],
        "pattern": {
            "shape": HATCHES[i % 4],
            "fillmode": "overlay",
            "fgcolor": ink.page,
            "fgopacity": 0.5,
            "size": 6,
        },
    }


def faint(colour: str, opacity: float) -> str:
    """#rrggbb, see-through."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def colour_scale(colours: Sequence[str]) -> list[list]:
    """Colours at equal distances."""
    return [[i / (len(colours) - 1), colour] for i, colour in enumerate(colours)]


def f32(values: np.ndarray) -> np.ndarray:
    """float32, which Plotly sends in base64; float64 is twice as long, lists many times."""
    return np.ascontiguousarray(values, dtype=np.float32)


def spoken(value: float) -> str:
    """A number to three digits, as a reader would say it."""
    value = float(value) + 0.0
    return (f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}").replace("-", "−")


def plain(text: str) -> str:
    """Plotly takes <b> and <a> in labels for markup."""
    return html.escape(str(text), quote=False)
