"""The pictures of a weighted sum: the hull of the values, and what each key contributes."""

from collections.abc import Sequence

import numpy as np

from ui.chart_style import INKS, empty_figure, f32, faint, marker, plain, spoken
from ui.figures import Chart

MOST_PARTS = 7  # a stack with more keys shows the largest and one part for all the others


def hull(
    points: np.ndarray,
    labels: Sequence[str],
    weights: np.ndarray,
    polygon: np.ndarray,
    output: np.ndarray,
    hard_output: np.ndarray,
    axes: tuple[str, str],
    theme: str,
) -> Chart:
    """Value points (n_k, 2), larger with their weight, the polygon around them, and the outputs (2,)."""
    ink = INKS[theme]
    figure = empty_figure(theme, axes[0], axes[1])
    closed = np.concatenate([polygon, polygon[:1]])
    texts, sides = _shared_labels(points, labels)
    figure.add_scatter(
        x=f32(closed[:, 0]), y=f32(closed[:, 1]), mode="lines", fill="toself", name="hull of the values",
        line={"color": ink.series[6], "width": 2}, fillcolor=faint(ink.series[0], 0.08), hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=f32(points[:, 0]), y=f32(points[:, 1]), mode="markers+text", name="values",
        text=texts, textposition=sides, cliponaxis=False,
        marker={"color": ink.series[6], "size": f32(8 + 24 * np.sqrt(weights)), "opacity": 0.7},
        hovertemplate="(%{x:.2f}, %{y:.2f})<extra></extra>",
    )  # fmt: skip
    for i, (name, point) in enumerate((("output", output), ("hard choice", hard_output))):
        figure.add_scatter(
            x=f32(point[:1]), y=f32(point[1:]), mode="markers", name=name,
            marker={"color": ink.series[i], "symbol": ("diamond", "square-open")[i], "size": (14, 18)[i],
                    "line": {"width": 2, "color": ink.series[i]}},
            hovertemplate=name + " (%{x:.2f}, %{y:.2f})<extra></extra>",
        )  # fmt: skip
    return Chart(
        figure,
        f"{len(points)} value points in the plane of {axes[0]} and {axes[1]}; the output at "
        f"({spoken(output[0])}, {spoken(output[1])}) among them, the hard choice at "
        f"({spoken(hard_output[0])}, {spoken(hard_output[1])}).",
    )


def stacked_contributions(
    key_tokens: Sequence[str],
    contributions: np.ndarray,
    output: np.ndarray,
    channels: Sequence[str],
    theme: str,
) -> Chart:
    """contributions (n_k, d_v): one bar a channel, put together from its keys; a mark at output (d_v,)."""
    ink = INKS[theme]
    figure = empty_figure(theme, "output", "")
    names, parts = _largest_parts(key_tokens, contributions)
    places = f32(np.arange(len(channels)))
    for i, (name, values) in enumerate(zip(names, parts, strict=True)):
        colour = marker(theme, i) | {"line": {"width": 1, "color": ink.page}}
        figure.add_bar(
            x=f32(values), y=places, orientation="h", name=plain(name), marker=colour,
            hovertemplate="%{x:.3f}<extra>" + plain(name) + "</extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=f32(output), y=places, mode="markers", name="output",
        marker={"symbol": "line-ns", "size": 34, "line": {"width": 3, "color": ink.text}},
        hovertemplate="output %{x:.3f}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(barmode="relative", bargap=0.35)
    figure.update_yaxes(
        tickvals=places, ticktext=[plain(name) for name in channels], range=[len(channels) - 0.5, -0.5]
    )
    described = "; ".join(_described_stack(i, names, parts, channels, output) for i in range(len(channels)))
    return Chart(figure, f"Stacked bars, one for each channel of the output. {described}.")


def _shared_labels(points: np.ndarray, labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """One text a place, words at the same point share the first one's; and above or below in turn."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for i, point in enumerate(points):
        groups.setdefault(tuple(point.tolist()), []).append(i)
    texts, sides = [""] * len(points), ["top center"] * len(points)
    for place, members in enumerate(sorted(groups.values(), key=lambda group: tuple(points[group[0]]))):
        more = f" +{len(members) - 3}" if len(members) > 3 else ""
        texts[members[0]] = ", ".join(plain(labels[i]) for i in members[:3]) + more
        sides[members[0]] = ("top center", "bottom center")[place % 2]
    return texts, sides


def _largest_parts(
    key_tokens: Sequence[str], contributions: np.ndarray
) -> tuple[list[str], list[np.ndarray]]:
    """The keys that contribute most, in their own order, and one part for all the others."""
    if len(key_tokens) <= MOST_PARTS:
        return list(key_tokens), list(contributions)
    order = np.argsort(-np.abs(contributions).sum(axis=1), kind="stable")
    shown, others = np.sort(order[: MOST_PARTS - 1]), order[MOST_PARTS - 1 :]
    names = [*(key_tokens[i] for i in shown), f"{len(others)} others"]
    return names, [*contributions[shown], contributions[others].sum(axis=0)]


def _described_stack(
    i: int, names: Sequence[str], parts: Sequence[np.ndarray], channels: Sequence[str], output: np.ndarray
) -> str:
    """One channel's parts in words."""
    terms = ", ".join(f"{name} {spoken(part[i])}" for name, part in zip(names, parts, strict=True))
    return f"{channels[i]} {spoken(output[i])}: {terms}"
