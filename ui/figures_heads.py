"""Charts of real heads: the plane of queries and keys, and maps too large for numbers."""

from collections.abc import Sequence

import numpy as np

from ui.chart_style import INKS, SYMBOLS, colour_scale, empty_figure, f32, plain
from ui.figures import Chart

MOST_PIXELS = 256  # a side; larger maps are drawn in blocks
MOST_NAMES = 40  # points of each kind that carry their token


def query_key_plane(
    queries: np.ndarray, keys: np.ndarray, names: tuple[Sequence[str], Sequence[str]], row: int, theme: str
) -> Chart:
    """Queries (n_q, 2) and keys (n_k, 2) as points, the query `row` as an arrow from the origin."""
    figure, ink = empty_figure(theme, "", ""), INKS[theme]
    for i, (name, points, tokens) in enumerate(zip(("query", "key"), (queries, keys), names, strict=True)):
        labels = [plain(token) for token in tokens]
        figure.add_scatter(
            x=f32(points[:, 0]), y=f32(points[:, 1]), name={"query": "queries", "key": "keys"}[name],
            mode="markers+text" if len(labels) <= MOST_NAMES else "markers", text=labels,
            textposition=("top center", "bottom center")[i],
            marker={"color": ink.series[i], "symbol": SYMBOLS[i], "size": 9},
            hovertemplate="%{text}: (%{x:.2f}, %{y:.2f})<extra>" + name + "</extra>",
        )  # fmt: skip
    x, y = (float(value) for value in queries[row])
    figure.add_annotation(
        x=x, y=y, ax=0, ay=0, xref="x", yref="y", axref="x", ayref="y", showarrow=True, text="",
        arrowhead=2, arrowwidth=2.5, arrowcolor=ink.series[0],
    )  # fmt: skip
    figure.update_layout(height=420, xaxis_zeroline=True, yaxis_zeroline=True)
    best = int((keys @ queries[row]).argmax())
    return Chart(
        figure,
        f"{len(queries)} queries and {len(keys)} keys as points of a plane. The query {names[0][row]} points "
        f"to ({x:.2f}, {y:.2f}); the key with the largest dot product is {names[1][best]}.",
    )


def large_map(
    weights: np.ndarray, names: tuple[Sequence[str], Sequence[str]], theme: str
) -> tuple[Chart, int]:
    """Weights (n_q, n_k) as a heatmap, and the side of the blocks of which each pixel shows the largest."""
    n_q, n_k = weights.shape
    block = -(-max(n_q, n_k) // MOST_PIXELS)
    pixels, finite = block_max(weights, block), np.isfinite(weights)
    y, x = (f32(np.arange(size) * block) for size in pixels.shape)
    figure = empty_figure(theme, "key", "query")
    figure.add_heatmap(
        z=f32(pixels), x=x, y=y, zmin=weights.min(initial=0, where=finite),
        zmax=weights.max(initial=1, where=finite), colorscale=colour_scale(INKS[theme].share),
        colorbar={"title": "weight", "thickness": 10, "outlinewidth": 0},
        hovertemplate="query %{y}, key %{x}: %{z:.3f}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(height=460, yaxis_autorange="reversed")
    row, col = divmod(int(np.where(finite, weights, -np.inf).argmax()), n_k)
    alt = (
        f"Weights of {n_q} queries on {n_k} keys. The largest is {weights[row, col]:.3f}, of query {row} "
        f"({names[0][row]}) on key {col} ({names[1][col]})."
    )
    return Chart(figure, alt), block


def block_max(values: np.ndarray, block: int) -> np.ndarray:
    """(n, m) -> (n / block, m / block), rounded up: the largest of each block."""
    rows, cols = (np.arange(0, size, block) for size in values.shape)
    return np.maximum.reduceat(np.maximum.reduceat(values, rows, axis=0), cols, axis=1)
