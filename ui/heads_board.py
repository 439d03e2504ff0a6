"""Blocks of the page Real heads: eight maps, what comes next, what each head does, what a change does."""

import inspect
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from core import interventions
from core.head_scores import JOBS, Measured, cut_cells, measure
from core.held_out import TASKS
from core.interventions import next_words_compared, place
from core.model_faults import FAULTS
from core.numbers import number
from core.plane import query_key_plane
from core.real import MODEL, head_names
from core.tiny_model import Change, ModelSteps, read_sentence, run_model
from ui import charts, figures_heads, presenter, real_controls, stage
from ui.board import show_matrices
from ui.matrix import Matrix
from ui.text import caption, literal, table
from ui.view import View

NO_FAULT = "nothing"
PLACES = {
    "previous": "previous token",
    "first": "first token",
    "itself": "itself",
    "same_token": "same token",
}


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The sentence, run as trained and as changed."""

    as_trained: ModelSteps
    changed: ModelSteps
    change: Change  # with the cut, where it is possible


def run(view: View, change: Change) -> Runs:
    """Both runs of the sentence's first T positions."""
    words = read_sentence(view.setup.sentence)[: view.setup.seq_len - 1]
    return Runs(run_model(words), run_model(words, change), change)


def maps(view: View, runs: Runs) -> None:
    """The weights of all heads, as changed; what a change moved is marked. A click chooses head and cell."""
    selected = {"query": view.selection.row, "key": view.selection.col}
    show_matrices(
        [_map(runs, name, view.setup.real_head) for name in head_names(MODEL)],
        selected, key="matrices", label="The maps of all heads", on_pick=partial(stage.pick_real, MODEL),
        on_choose=partial(real_controls.choose_head, MODEL), max_height=presenter.rest(400),
        main=view.setup.real_head, scale=presenter.scale(),
    )  # fmt: skip


def _map(runs: Runs, name: str, chosen: str) -> Matrix:
    layer, head = place(name)
    weights, before = (steps.head(layer, head).weights for steps in (runs.changed, runs.as_trained))
    marks = [", chosen"] * (name == chosen) + [", off"] * ((layer, head) in runs.change.off)
    words = runs.changed.words
    return Matrix(
        id=name, title="".join([name, *marks]), symbol=name, values=weights, row_labels=words,
        col_labels=words, row_axis="query", col_axis="key", colours="share", decimals=2, small=True,
        place=(layer, head),
        changed=None if runs.change == Change() else weights != before,
    )  # fmt: skip


def next_words(view: View, runs: Runs) -> None:
    """The most probable words after the selected position, as trained beside changed."""
    position = view.selection.row
    compared = next_words_compared(runs.as_trained, runs.changed, position)
    words = runs.as_trained.words
    came = words[position + 1] if position + 1 < len(words) else None
    goes_on = f"the sentence goes on with “{came}”" if came else "the sentence ends here"
    st.markdown(f"**What comes after {literal(f'“{words[position]}”')}?** {literal(goes_on)}")
    columns = ["as trained", "changed"] if runs.change != Change() else ["as trained"]
    show_matrices(
        [
            Matrix(
                id="next", title="Probability of the next word", symbol="p",
                values=compared.probabilities[:, : len(columns)], row_labels=compared.words,
                col_labels=columns, row_axis="word", col_axis="run", colours="share", decimals=3,
            )
        ],
        {}, key="next_words", label="Probability of the next word", max_height=presenter.room(260),
        scale=presenter.scale(),
    )  # fmt: skip


def selected_head(view: View, runs: Runs) -> None:
    """What the chosen head does with the selected cell, and in general."""
    name, (layer, head) = view.setup.real_head, place(view.setup.real_head)
    row, col = view.selection.row, view.selection.col
    weight = float(runs.changed.head(layer, head).weights[row, col])
    pair = literal(f"{runs.changed.words[row]} → {runs.changed.words[col]}")
    st.markdown(f"**{name}**: weight {literal(number(weight))} for {pair}")
    heads = measure().heads
    jobs = [
        f"{PLACES.get(job, job)} {heads.weight[job][layer, head]:.2f} (uniform {heads.uniform[job]:.2f})"
        for job in heads.jobs(layer, head)
    ]
    st.caption(f"Jobs on held-out sentences: {', '.join(jobs) or 'none of those that are measured'}.")


def ask_change(view: View) -> Change:
    """Switch heads off, cut the selected cell, break one step; a cut that cannot be is told."""
    off = st.pills(
        "Switch off heads",
        head_names(MODEL),
        selection_mode="multi",
        key="off",
        bind="query-params",
        wrap=True,
    )
    step, cell_of = st.columns(2, vertical_alignment="bottom")
    with step:
        fault = st.selectbox("Break one step", [NO_FAULT, *FAULTS], key="fault", bind="query-params")
    with cell_of:
        cut = st.toggle(f"Cut the selected cell in {view.setup.real_head}", key="cut", bind="query-params")
    fault = "" if fault == NO_FAULT else fault
    cell = (view.setup.real_head, view.selection.row, view.selection.col) if cut else None
    change = interventions.change(off, fault, cell)
    try:
        run(view, change)
    except ValueError as error:
        st.warning(literal(f"This cell cannot be cut: {error}"))
        return interventions.change(off, fault, None)
    if fault:
        st.caption(literal(f"{fault}: {inspect.getdoc(FAULTS[fault])}"))
    return change


def held_out_scores(view: View, runs: Runs) -> None:
    """All tasks on held-out sentences, as trained beside changed; the code of the fault."""
    change = Change(off=runs.change.off, fault=runs.change.fault)
    trained, changed = measure(), measure(change)
    header = ["task", "places", "as trained"] + ["changed"] * (change != Change())
    rows = [[name, *cells] for name, cells in _scores(trained, changed)]
    with st.container(key="written_scores", gap="small"):
        st.markdown("**Held-out sentences**: how often the right word wins")
        st.markdown(table(header, [row[: len(header)] for row in rows]))
    if runs.change.cuts:
        _cut_on_held_out(view)
    if change.fault:
        stage.code(FAULTS[change.fault])


def _scores(trained: Measured, changed: Measured) -> list[tuple[str, list[str]]]:
    both = (trained, changed)
    rows = [
        (task, [str(trained.n[task]), *(f"{measured.accuracy[task]:.3f}" for measured in both)])
        for task in TASKS
    ]
    rows.append(("loss on texts, nats a word", ["", *(f"{measured.text_loss:.2f}" for measured in both)]))
    rows.append(("loss on repeated words", ["", *(f"{measured.block_loss:.2f}" for measured in both)]))
    return rows


def _cut_on_held_out(view: View) -> None:
    """The deciding cell of each held-out place, cut in the chosen head; for those tasks that are its jobs."""
    name, at = view.setup.real_head, place(view.setup.real_head)
    tasks = [job for job in measure().heads.jobs(*at) if job in TASKS]
    if not tasks:
        st.caption(f"{name} has none of the tasks as its job, so there is no deciding cell to cut in it.")
        return
    cuts = {task: cut_cells(task, *at) for task in tasks}
    rows = [
        [task, str(cut.n), *(f"{p:.3f}" for p in (cut.before, cut.after, cut.control))]
        for task, cut in cuts.items()
    ]
    with st.container(key="written_cuts", gap="small"):
        st.markdown(f"**One cell cut in {name}, in each held-out place**: probability of the right words")
        st.markdown(table(["task", "places", "whole", "deciding cell cut", "heaviest other cut"], rows))


def scores(view: View, runs: Runs) -> None:
    """Every head's measured weight on every job, a uniform head below them; of the changed model."""
    heads = measure(Change(off=runs.change.off, fault=runs.change.fault)).heads
    names = head_names(MODEL)
    weights = [[heads.weight[job][place(name)] for job in JOBS] for name in names]
    spread = [[heads.entropy[place(name)], heads.distance[place(name)]] for name in names]
    labels = [*names, "uniform"]
    show_matrices(
        [
            Matrix(
                id="jobs", title="Mean weight on the job's cells", symbol="weight",
                values=np.array([*weights, [heads.uniform[job] for job in JOBS]], float), row_labels=labels,
                col_labels=[job.replace("_", " ") for job in JOBS], row_axis="head", col_axis="job",
                colours="share", decimals=2,
            ),
            Matrix(
                id="spread", title="How spread", symbol="mean",
                values=np.array([*spread, [heads.uniform_entropy, heads.uniform_distance]], float),
                row_labels=labels, col_labels=["entropy, bits", "distance"], row_axis="head",
                col_axis="spread", colours="sequential", decimals=2, place=(0, 1),
            ),
        ],
        {"head": names.index(view.setup.real_head)}, key="scores_of_heads", label="What each head does",
        max_height=360, scale=presenter.scale(),
    )  # fmt: skip
    rivals = [
        f"{task} {heads.rival[task][place(view.setup.real_head)]:.2f}"
        for task in TASKS
        if task in heads.rival
    ]
    st.caption(f"{view.setup.real_head} on the misleading cells, all together: {', '.join(rivals)}.")


def plane(view: View, runs: Runs) -> None:
    """Queries and keys of the chosen head as points."""
    steps = runs.changed.head(*place(view.setup.real_head))
    drawn = query_key_plane(steps.scores)
    words = runs.changed.words
    chart = figures_heads.query_key_plane(
        drawn.queries, drawn.keys, (words, words), view.selection.row, charts.theme()
    )
    charts.show(chart, "plane", presenter.FULL)
    st.caption(f"The plane keeps {drawn.share:.0%} of the scores' sum of squares.")


def findings() -> None:
    """What is true of this model's heads."""
    with st.spinner("Measuring on held-out sentences"):
        found = interventions.findings()
    st.markdown("\n".join(f"- {literal(sentence)}" for sentence in found))
    caption("real_heads", "How it was made")
