"""Plotly charts on the page: every chart is shown the same way, and with its description."""

from copy import deepcopy

import streamlit as st

from ui import presenter
from ui.figures import Chart

# One button, no more: the browser itself makes an image of the chart. Each button is a stop of the Tab key.
_CONFIG = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "png", "scale": 2, "filename": "attention"},
}


def theme() -> str:
    """ "light" or "dark", as the reader sees the page."""
    return st.context.theme.type or "light"


def show(chart: Chart, key: str | None = None, taller: float = presenter.TALLER) -> None:
    """Draw a chart; to a class, so many times as tall.

    Two that are equal need different keys, as when one is drawn while something runs.
    """
    figure = chart.figure
    if presenter.presenting():
        size = presenter.CHART_TYPE
        figure = deepcopy(figure)  # the chart may belong to all readers
        height = int(taller * figure.layout.height)
        figure.update_layout(height=height, font_size=size, legend_font_size=size, title_font_size=size)
        figure.update_xaxes(title_font_size=size)  # else a fifth larger
        figure.update_yaxes(title_font_size=size)
        figure.update_traces(textfont_size=size, selector={"type": "heatmap"})  # else as its cells are wide
    st.plotly_chart(figure, key=key, alt=chart.alt, theme=None, config=_CONFIG)


def leave_out(chart: Chart, name: str) -> Chart:
    """The same chart with one series hidden; its entry in the legend stays, in grey."""
    chart.figure.update_traces(visible="legendonly", selector={"name": name})
    return chart
