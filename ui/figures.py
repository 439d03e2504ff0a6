"""Arrays in, a Plotly chart out: what is drawn are the arrays, and the description tells their numbers.

Every function returns a Chart: the figure, and one sentence for those who do not see it. Show it with
st.plotly_chart(chart.figure, alt=chart.alt, theme=None); `theme` is "light" or "dark".
The same place means the same thing on every chart: the first series is with the scale (blue, solid,
circles), the second without (orange, dashed, squares, hatched), so colour is never the only sign.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ui.chart_style import (
    DASHES,
    INKS,
    SYMBOLS,
    colour_scale,
    empty_figure,
    f32,
    faint,
    marker,
    plain,
    spoken,
)

MOST_NUMBERS = 16  # a heat strip with more columns shows no numbers in its cells
BINS = 60
MOST_BAR_TEXTS = 8  # with more bars than this no numbers stand over them


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A figure, and what it shows in one sentence with its numbers."""

    figure: go.Figure
    alt: str


def histogram_pair(
    scaled: np.ndarray, raw: np.ndarray, theme: str, names: tuple[str, str] = ("scaled", "raw")
) -> Chart:
    """Two sets of scores over the same bins, symmetric around 0, as shares of each set."""
    limit = float(np.abs(np.concatenate([scaled, raw])).max()) or 1.0
    edges = np.linspace(-limit, limit, BINS + 1)
    figure = empty_figure(theme, "score", "share of the scores")
    for i, (name, values) in enumerate(zip(names, (scaled, raw), strict=True)):
        shares = np.histogram(values, edges)[0] / len(values)
        figure.add_bar(
            x=f32((edges[:-1] + edges[1:]) / 2), y=f32(shares), width=float(edges[1] - edges[0]), name=name,
            marker=marker(theme, i), opacity=0.75,
            hovertemplate="%{x:.2f}: %{y:.1%}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(barmode="overlay", bargap=0, yaxis_tickformat=".0%", xaxis_range=[-limit, limit])
    spreads = " and ".join(
        f"{name} scores from {spoken(values.min())} to {spoken(values.max())} with variance "
        f"{spoken(values.var(ddof=1))}"
        for name, values in zip(names, (scaled, raw), strict=True)
    )
    return Chart(figure, f"Two histograms over the same axis, {len(raw)} scores each: {spreads}.")


def curves(
    x: np.ndarray,
    series: Mapping[str, np.ndarray],
    theme: str,
    *,
    x_title: str,
    y_title: str,
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    reference: tuple[str, np.ndarray] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    marked_x: float | None = None,
    y_range: tuple[float, float] | None = None,
) -> Chart:
    """Curves over x, each with its band (low, high) if it has one, and a thin reference line.

    On a logarithmic axis Plotly leaves out values of 0 and below; ranges are given in plain numbers.
    """
    figure = empty_figure(theme, x_title, y_title)
    for i, (name, y) in enumerate(series.items()):
        if bands and name in bands:
            _add_band(figure, x, *bands[name], INKS[theme].series[i])
        figure.add_scatter(
            x=f32(x), y=f32(y), name=name, mode="lines+markers" if len(x) <= BINS else "lines",
            line={"color": INKS[theme].series[i], "dash": DASHES[i % 4], "width": 2.5},
            marker={"symbol": SYMBOLS[i % 4], "size": 7},
            hovertemplate="%{x:.4g}: %{y:.3g}<extra>" + name + "</extra>",
        )  # fmt: skip
    if reference is not None:
        figure.add_scatter(
            x=f32(x), y=f32(reference[1]), name=reference[0], mode="lines", hoverinfo="skip",
            line={"color": INKS[theme].text, "dash": "dot", "width": 1},
        )  # fmt: skip
    if marked_x is not None:
        figure.add_vline(x=marked_x, line={"color": INKS[theme].text, "width": 1, "dash": "dot"})
    figure.update_yaxes(range=_axis_range(y_range, log_y))
    if log_x:
        figure.update_xaxes(type="log", tickvals=f32(x[:: -1 if len(x) < 8 else -2]))
    if log_y:
        figure.update_yaxes(type="log", dtick=_decades(list(series.values())), exponentformat="power")
    described = "; ".join(f"{name} from {spoken(y[0])} to {spoken(y[-1])}" for name, y in series.items())
    return Chart(figure, f"{y_title} over {x_title}, {spoken(x[0])} to {spoken(x[-1])}: {described}.")


def loss_curves(
    series: Mapping[str, np.ndarray],
    n_steps: int,
    theme: str,
    y_title: str = "loss above the best possible",
    y_range: tuple[float, float] | None = None,
) -> Chart:
    """Curves of a training under way, one entry a step; the axis already spans all n_steps."""
    longest = max(len(values) for values in series.values())
    chart = curves(np.arange(1, longest + 1), series, theme, x_title="step", y_title=y_title, y_range=y_range)
    chart.figure.update_xaxes(range=[0, n_steps])
    return chart


def grouped_bars(
    labels: Sequence[str],
    series: Mapping[str, np.ndarray],
    theme: str,
    *,
    y_title: str,
    x_title: str = "",
    y_range: tuple[float, float] | None = None,
) -> Chart:
    """Bars side by side, one group a label; labels may repeat, and are shown as they are."""
    figure = empty_figure(theme, x_title, y_title)
    for i, (name, values) in enumerate(series.items()):
        figure.add_bar(
            x=f32(np.arange(len(labels))), y=f32(values), name=name, marker=marker(theme, i),
            customdata=[plain(label) for label in labels], text=_bar_texts(values, len(series)),
            textposition="outside", cliponaxis=False,
            hovertemplate="%{customdata}: %{y:.3g}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25)
    _name_ticks(figure, labels)
    figure.update_yaxes(range=y_range)
    described = "; ".join(
        f"{name}: "
        + ", ".join(f"{label} {spoken(value)}" for label, value in zip(labels, values, strict=True))
        for name, values in series.items()
    )
    return Chart(figure, f"Bars of {y_title}. {described}.")


def heat_strip(
    values: np.ndarray,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    theme: str,
    *,
    title: str,
    colours: str = "share",
    decimals: int = 2,
) -> Chart:
    """values (n_rows, n_columns) as colours: "share" from 0 to 1, "diverging" around 0. NaN stays empty."""
    ink = INKS[theme]
    figure = empty_figure(theme, "", "")
    finite = values[np.isfinite(values)]
    limit = float(np.abs(finite).max(initial=0.0)) or 1.0
    ends = ink.share if colours == "share" else ink.diverging
    low, high = (0.0, 1.0) if colours == "share" else (-limit, limit)
    texts = None
    if values.shape[1] <= MOST_NUMBERS:
        texts = [[_cell(value, decimals) for value in row] for row in values]
        _write_nan(figure, values)
    figure.add_heatmap(
        z=f32(values), zmin=low, zmax=high, colorscale=colour_scale(ends), xgap=1, ygap=1,
        colorbar={"thickness": 10, "outlinewidth": 0}, hoverongaps=False,
        text=texts, texttemplate="%{text}" if texts else None,
        hovertemplate="row %{y}, column %{x}: %{z:.4g}<extra></extra>",
    )  # fmt: skip
    _name_ticks(figure, col_labels)
    figure.update_yaxes(
        tickvals=f32(np.arange(len(row_labels))), ticktext=[plain(label) for label in row_labels],
        autorange="reversed", showgrid=False, zeroline=False,
    )  # fmt: skip
    figure.update_layout(title={"text": plain(title), "font": {"size": 14}}, height=90 + 26 * len(row_labels))
    empty = int(np.isnan(values).sum())
    note = f"; {empty} cells are not a number" if empty else ""
    described = (
        f"from {spoken(finite.min())} to {spoken(finite.max())}" if finite.size else "no cell with a number"
    )
    return Chart(figure, f"{title}: {values.shape[0]} rows, {values.shape[1]} columns, {described}{note}.")


def _add_band(figure: go.Figure, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> None:
    """The area between low and high."""
    figure.add_scatter(
        x=f32(np.concatenate([x, x[::-1]])), y=f32(np.concatenate([high, low[::-1]])), fill="toself",
        mode="lines", line={"width": 0}, fillcolor=faint(colour, 0.25), hoverinfo="skip", showlegend=False,
    )  # fmt: skip


def _decades(series: Sequence[np.ndarray]) -> int:
    """How many powers of ten from one tick of a logarithmic axis to the next."""
    values = np.concatenate(series)
    values = values[values > 0]
    return max(1, round(np.log10(values.max() / values.min()) / 5)) if values.size else 1


def _axis_range(wanted: tuple[float, float] | None, log: bool) -> list[float] | None:
    """Plotly takes the ends of a logarithmic axis as powers of ten."""
    return None if wanted is None else [float(np.log10(end)) if log else end for end in wanted]


def _name_ticks(figure: go.Figure, labels: Sequence[str]) -> None:
    """Names under numbered places: equal names stay apart, as they would not on a category axis."""
    every = max(1, -(-len(labels) // MOST_NUMBERS))
    places = np.arange(0, len(labels), every)
    figure.update_xaxes(
        tickvals=f32(places), ticktext=[plain(labels[i]) for i in places], showgrid=False, zeroline=False
    )


def _write_nan(figure: go.Figure, values: np.ndarray) -> None:
    """A heat map leaves what is not a number empty, its text too: write it there."""
    rows, cols = np.nonzero(np.isnan(values))
    figure.add_scatter(
        x=f32(cols), y=f32(rows), mode="text", text=["NaN"] * len(rows), hoverinfo="skip", showlegend=False
    )


def _bar_texts(values: np.ndarray, n_series: int) -> list[str] | None:
    """Numbers over the bars, where there is room for them on a phone."""
    return [_cell(value, 2) for value in values] if len(values) * n_series <= MOST_BAR_TEXTS else None


def _cell(value: float, decimals: int) -> str:
    """A number in a cell: 0 only when it is exactly 0, and then without decimals."""
    if np.isnan(value):
        return "NaN"
    least = 0.5 * 10.0**-decimals
    if 0 < abs(value) < least:
        return f"<{10.0**-decimals:g}" if value > 0 else f"−<{10.0**-decimals:g}"
    return "0" if value == 0 else f"{value:.{decimals}f}".replace("-", "−")
