"""The Blend page's labs: who contributes what, and where a blend can and cannot go."""

import streamlit as st

from core.experiments.blending import BlendLab, blend_lab, doubling_lab, hull_lab
from core.setup import allowed
from ui import charts, figures, figures_blend, presenter, text
from ui.choice import one_of
from ui.labs import bench
from ui.labs.softmax import soft_and_hard
from ui.view import View


def show(view: View) -> None:
    """The chooser and the open lab."""
    bench.choose("blend", LABS, view)


def _lab(view: View) -> BlendLab:
    """The selected word's output, taken apart."""
    row = view.selection.row
    return blend_lab(
        view.one, row, view.inputs.query_tokens[row], view.inputs.key_tokens, view.inputs.value_channels
    )


def contributions(view: View) -> None:
    """Each channel of the output as a stack of the keys' shares."""
    lab = _lab(view)
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures_blend.stacked_contributions(
                lab.key_tokens, lab.contributions, lab.output, lab.channels, charts.theme()
            )
        )
    with picture, presenter.screen("winner"):
        st.markdown(text.part("labs/blend", "The winner alone"))
        charts.show(
            figures.grouped_bars(
                lab.channels, {"blend": lab.output, "the winner's value alone": lab.hard_output},
                charts.theme(), y_title="output",
            ),
            taller=presenter.ALONE,
        )  # fmt: skip
    with words:
        bench.tell(lab)


def hull(view: View) -> None:
    """The output as a point among the value points."""
    last = len(view.inputs.value_channels) - 1
    channels = (0, 0)
    if last:
        left, right = st.columns(2, gap="medium")
        with left:
            across = _channel(view, "Channel across", "hull_x", 0)
        with right:
            up = _channel(view, "Channel up", "hull_y", 1)
        channels = across, up
    lab = hull_lab(_lab(view), channels)
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures_blend.hull(
                lab.points, view.inputs.key_tokens, view.one.weights[view.selection.row], lab.polygon,
                lab.output, lab.hard_output, lab.axes, charts.theme(),
            )
        )  # fmt: skip
    with words:
        bench.tell(lab)


def _channel(view: View, label: str, key: str, first: int) -> int:
    """One channel of the values, counted from 0 as in the code."""
    last = len(view.inputs.value_channels) - 1
    if st.session_state.get(key, 0) > last:
        st.session_state[key] = last
    return st.number_input(label, 0, last, first, key=key, bind="query-params")


def doubling(view: View) -> None:
    """One input doubled: the selected row's weights and output before and after."""
    name = one_of("Doubled", ("V", "Q", "K"), default="V", key="doubled")
    lab = doubling_lab(view.one, name.lower(), allowed(view.setup))
    row = view.selection.row
    sides = (
        ("weight", view.inputs.key_tokens, lab.before.weights[row], lab.after.weights[row]),
        ("output", view.inputs.value_channels, lab.before.output[row], lab.after.output[row]),
    )
    for column, (title, labels, before, after) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            series = {"before": before, f"{name} doubled": after}
            charts.show(figures.grouped_bars(labels, series, charts.theme(), y_title=title))
    bench.tell_below(lab)


LABS = {
    "Contributions": contributions,
    "Inside the values": hull,
    "Doubling": doubling,
    "Soft or hard": soft_and_hard,
}
