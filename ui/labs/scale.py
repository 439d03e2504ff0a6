"""The Scale page's labs: what the division by √d_k is for."""

import streamlit as st

from core.experiments.divisors import divisor_lab
from core.experiments.saturation import gradient_curve, nudge_lab, saturation_lab
from core.experiments.variance import variance_curve, variance_lab
from core.offered import D_KS, HEADS
from ui import charts, figures, presenter
from ui.choice import one_of
from ui.labs import bench, training
from ui.view import View

MEASURES = {
    "median gradient": ("median_norm", "median norm of the Jacobian"),
    "mean gradient": ("mean_norm", "mean norm of the Jacobian"),
    "dead rows": ("share_dead", "rows with a norm below 0.001"),
}

# The same sizes and the same seed give the same numbers and the same charts, so they are made once, for all
# readers. Nothing changes a record or a chart after it was made. Kept are as many as one seed has, and some:
# a record takes up to 252 kB, a pair of charts 70 kB, all of them together 15 MB at most.
_once = st.cache_resource(max_entries=16, show_spinner=False)  # each d_k
_drawn_once = st.cache_resource(max_entries=64, show_spinner=False)  # each d_k, scale on and off, two themes
_variance_lab, _variance_curve = _once(variance_lab), _once(variance_curve)
_saturation_lab, _gradient_curve = _once(saturation_lab), _once(gradient_curve)


def show(view: View) -> None:
    """The chooser and the open lab."""
    bench.choose("scale", LABS, view)


def _width() -> int:
    """The labs' own d_k: at the example's 4 there is nothing to see."""
    return st.select_slider("Width d_k in this lab", D_KS, 64, key="lab_d_k", bind="query-params")


def _width_and_switch() -> tuple[int, bool]:
    """d_k, and the scale on or off."""
    left, right = st.columns([2, 1], vertical_alignment="bottom", gap="medium")
    with left:
        d_k = _width()
    with right:
        return d_k, st.toggle("Divide by √d_k", True, key="scale_on", bind="query-params")


def variance(view: View) -> None:
    """(a) Histograms of raw and scaled scores, and the variance over every d_k."""
    d_k, scale_on = _width_and_switch()
    _side_by_side(_variance_charts(d_k, view.setup.seed, scale_on, charts.theme()))
    bench.tell_below(_variance_lab(d_k, view.setup.seed), _variance_curve(view.setup.seed))


@_drawn_once
def _variance_charts(d_k: int, seed: int, scale_on: bool, theme: str) -> list[figures.Chart]:
    """The two histograms over one axis; raw and scaled variance over d_k with their intervals."""
    lab, curve = _variance_lab(d_k, seed), _variance_curve(seed)
    histograms = figures.histogram_pair(lab.scaled_scores, lab.raw_scores, theme, (bench.WITH, bench.WITHOUT))
    over_d_k = figures.curves(
        curve.d_ks, bench.pair(curve.scaled[:, 0], curve.raw[:, 0]), theme, x_title="d_k",
        y_title="variance of the scores", bands=bench.pair(curve.scaled[:, 1:].T, curve.raw[:, 1:].T),
        reference=("exactly d_k", curve.d_ks), log_x=True, log_y=True, marked_x=d_k,
    )  # fmt: skip
    return _switched([histograms, over_d_k], scale_on)


def saturation(view: View) -> None:
    """(b) One row's weights, and how many rows are saturated at every d_k."""
    d_k, scale_on = _width_and_switch()
    _side_by_side(_saturation_charts(d_k, view.setup.seed, scale_on, charts.theme()))
    bench.tell_below(_saturation_lab(d_k, seed=view.setup.seed))


@_drawn_once
def _saturation_charts(d_k: int, seed: int, scale_on: bool, theme: str) -> list[figures.Chart]:
    """One row's weights as bars; the share of saturated rows over d_k."""
    lab, curve = _saturation_lab(d_k, seed=seed), _gradient_curve(8, seed)
    bars = figures.grouped_bars(
        [f"key {i}" for i in range(lab.n_keys)], bench.pair(lab.scaled_row, lab.raw_row), theme,
        y_title="weight", y_range=(0, 1),
    )  # fmt: skip
    raw, scaled = curve.series("share_saturated")
    over_d_k = figures.curves(
        curve.d_ks, bench.pair(scaled, raw), theme, x_title="d_k", y_title="rows with a weight above 0.99",
        log_x=True, marked_x=d_k, y_range=(-0.03, 1),
    )  # fmt: skip
    return _switched([bars, over_d_k], scale_on)


def _switched(made: list[figures.Chart], scale_on: bool) -> list[figures.Chart]:
    """While the scale is off, the scaled series are hidden."""
    return made if scale_on else [charts.leave_out(chart, bench.WITH) for chart in made]


def _side_by_side(made: list[figures.Chart]) -> None:
    """Two charts beside one another."""
    for column, chart in zip(st.columns(2, gap="medium"), made, strict=True):
        with column:
            charts.show(chart)


def gradient(view: View) -> None:
    """(c) How much gradient a row lets through, over d_k."""
    left, right = st.columns([2, 1], gap="medium")
    with left:
        measure = one_of(
            "Measured", list(MEASURES), default="median gradient", key="measure",
        )  # fmt: skip
    with right:
        n_keys = one_of("Keys in a row", (8, 64), default=8, key="n_keys")
    curve = _gradient_curve(n_keys, view.setup.seed)
    name, title = MEASURES[measure]
    raw, scaled = curve.series(name)
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures.curves(
                curve.d_ks, bench.pair(scaled, raw), charts.theme(), x_title="d_k", y_title=title, log_x=True,
                log_y=name != "share_dead", y_range=(-0.03, 1) if name == "share_dead" else None,
            )
        )  # fmt: skip
    with words:
        bench.tell(curve)


def nudge(view: View) -> None:
    """The selected cell's score, moved a little: what its row's weights do."""
    amount = st.slider("Added to the selected score", 0.01, 1.0, 0.1, 0.01, key="nudge", bind="query-params")
    row, col = view.selection.row, view.selection.col
    names = view.inputs.query_tokens[row], view.inputs.key_tokens[col]
    lab = nudge_lab(view.one.scores[row], view.setup.d_k, col, *names, amount)
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures.grouped_bars(
                view.inputs.key_tokens,
                bench.pair(lab.scaled.after - lab.scaled.before, lab.raw.after - lab.raw.before),
                charts.theme(), y_title="change of the weight",
            )
        )  # fmt: skip
    with words:
        bench.tell(lab)


def divisors(view: View) -> None:
    """√d_k among the other divisors that people write."""
    left, right = st.columns([2, 1], gap="medium")
    with left:
        d_k = _width()
    with right:
        n_heads = one_of("Heads, for √d_model", HEADS, default=8, key="lab_heads")
    row = view.selection.row
    lab = divisor_lab(d_k, n_heads, view.setup.seed, view.one.scores[row], view.setup.d_k)
    bench.table(lab.table)
    with presenter.screen("example"):
        picture, words = bench.halves()
    with picture:
        charts.show(
            figures.heat_strip(
                lab.example_weights, [one.name for one in lab.divisors], view.inputs.key_tokens,
                charts.theme(),
                title=f"{view.inputs.query_tokens[row]} in the example (d_k = {view.setup.d_k}), by divisor",
            ),
            taller=presenter.ALONE,
        )  # fmt: skip
    with words:
        bench.tell(lab)


LABS = {
    "Variance": variance,
    "Saturation": saturation,
    "Gradient": gradient,
    "Nudge": nudge,
    "Divisors": divisors,
    "Training": training.training,
    "Cause": training.cause,
    "Step sizes": training.step_sizes,
    "Fetching": training.fetching,
}
