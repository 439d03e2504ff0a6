"""The Scale page's labs that train: what the division by √d_k is for when weights are learned."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.experiments.fetching import FetchingLab, fetch
from core.experiments.training import (
    OPTIMISERS,
    SGD_RATES,
    Sweep,
    Training,
    TrainingLab,
    control_pair,
    scale_pair,
    sweep,
    train_pair,
)
from ui import charts, figures, presenter
from ui.choice import one_of
from ui.labs import bench, runs
from ui.view import View

TRAIN_D_KS = (4, 16, 64, 256, 1024)
SWEEP_STEPS = 300
FETCH_RATES = (0.1, 0.3, 1.0, 3.0, 10.0)


def training(view: View) -> None:
    """(d) The same little attention trained twice, with and without the scale."""
    first, second = scale_pair(_training(view))
    _train("Training", lambda: train_pair(first, second), first)


def cause(view: View) -> None:
    """(d) The controls: the size of the scores at the start decides, whatever stands in the formula."""
    first, second = control_pair(_training(view))
    _train("Cause", lambda: train_pair(first, second), first)


def _training(view: View) -> Training:
    """d_k and the step size."""
    d_k, rate = _width_and_rate(SGD_RATES, 10.0, key="rate")
    return Training(d_k=d_k, learning_rate=rate, seed=view.setup.seed)


def _width_and_rate(rates: Sequence[float], first: float, key: str) -> tuple[int, float]:
    """d_k, the same in all these labs, and a step size of this lab's own."""
    left, right = st.columns(2, gap="medium")
    with left:
        d_k = st.select_slider("Width d_k", TRAIN_D_KS, 256, key="train_d_k", bind="query-params")
    with right:
        return d_k, st.select_slider("Step size", rates, first, key=key, bind="query-params")


def _train(name: str, start, settings: Training) -> None:  # noqa: ANN001
    """Two trainings under way, drawn as they come."""

    def draw(lab: TrainingLab, key: str) -> None:
        picture, words = bench.halves()
        with picture:
            _losses(lab, settings.n_steps, f"{key} losses")
        with words:
            bench.tell_below(lab, place=key)

    runs.show(
        runs.Experiment(
            name, settings, start, draw, lambda lab: (lab.first.step, lab.first.training.n_steps), "steps"
        )
    )


def _losses(lab: TrainingLab, n_steps: int, key: str) -> None:
    """The two loss curves, smoothed."""
    series = dict(zip(lab.names, (lab.first.smooth_losses, lab.second.smooth_losses), strict=True))
    charts.show(figures.loss_curves(series, n_steps, charts.theme()), key, presenter.FULL)


def step_sizes(view: View) -> None:
    """(d) The fair comparison: each at its own best step size."""
    left, right = st.columns(2, gap="medium")
    with left:
        d_k = st.select_slider("Width d_k", TRAIN_D_KS[:-1], 256, key="sweep_d_k", bind="query-params")
    with right:
        optimiser = one_of("Optimiser", OPTIMISERS, default="sgd", key="optimiser")
    settings = Training(d_k=d_k, optimiser=optimiser, n_steps=SWEEP_STEPS, seed=view.setup.seed)
    runs.show(
        runs.Experiment(
            "Step sizes", settings, lambda: sweep(settings), _draw_sweep,
            lambda found: (len(found.unscaled), len(found.rates)), "step sizes",
        )
    )  # fmt: skip


def _draw_sweep(found: Sweep, key: str) -> None:
    """The loss that each step size leaves, and the curves of the two best."""
    left, right = st.columns(2, gap="medium")
    scaled, unscaled = (np.array([one.test_loss for one in side]) for side in (found.scaled, found.unscaled))
    with left:
        charts.show(
            figures.grouped_bars(
                [f"{rate:g}" for rate in found.rates[: len(scaled)]], bench.pair(scaled, unscaled),
                charts.theme(), y_title="loss at the end", x_title="step size",
            ),
            f"{key} rates",
            presenter.FULL,
        )  # fmt: skip
    with right:
        _losses(found.best, SWEEP_STEPS, f"{key} losses")
    bench.tell_below(found, place=key)


def fetching(view: View) -> None:
    """(d) The smallest training there is: one query learns to fetch one value."""
    d_k, rate = _width_and_rate(FETCH_RATES, 1.0, key="fetch_rate")
    settings = (d_k, rate, view.setup.seed)
    runs.show(
        runs.Experiment(
            "Fetching", settings, lambda: fetch(*settings), _draw_fetching,
            lambda lab: (len(lab.scaled), lab.n_steps), "steps",
        )
    )  # fmt: skip


def _draw_fetching(lab: FetchingLab, key: str) -> None:
    """The share of the queries that have learned it."""
    picture, words = bench.halves()
    with picture:
        charts.show(
            figures.loss_curves(
                bench.pair(lab.scaled, lab.unscaled), lab.n_steps, charts.theme(),
                "queries that have learned it", (-0.03, 1.03),
            ),
            f"{key} learned",
            presenter.FULL,
        )  # fmt: skip
    with words:
        bench.tell_below(lab, place=key)
