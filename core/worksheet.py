"""A worksheet to print: attention by hand on paper, with an answer sheet. Each seed asks for other cells.

A state too large for paper is cut to its first words and channels; the numbers that stay are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core import quiz
from core.attention import AttentionSteps
from core.examples import EXAMPLES
from core.numbers import number
from core.offered import D_KS
from core.powers import written_exponents
from core.printed import choices, document, heading, line_to_write_on, numbered, paragraph, row, table, text
from core.setup import Inputs, Setup, inputs, run

MOST_WORDS = 8
MOST_CHANNELS = 4
QUESTIONS = ("C1", "W1", "M2")  # items of the quiz that close the sheet
OPEN_CELLS = 4  # of S


@dataclass(frozen=True, slots=True, eq=False)
class _Sheet:
    """What a variant is about."""

    setup: Setup
    names: Inputs
    steps: AttentionSteps  # with no mask
    causal: AttentionSteps
    row: int  # the query whose whole row is worked out
    open_cells: tuple[tuple[int, int], ...]  # of S, to be computed
    channel: int
    masked_row: int | None  # None where a causal mask hides nothing (one query only)
    seed: int


def worksheet(setup: Setup, seed: int = 0, link: str = "") -> str:
    """A page of HTML: the given matrices, the tasks, a table of e^z, and on a new sheet the answers.

    The same setup and seed give the same page; seed 0 asks for the example's own cell. `link` is
    printed as the address of the state. Raises ValueError for a seed that is not from 0 to 9999.
    """
    sheet = _sheet(setup, seed)
    address = [paragraph(link, small=True)] if link else []
    parts = [
        paragraph(f"Variant {seed}. Name: {'_' * 30}  Date: {'_' * 14}"),
        paragraph(_about(setup, sheet.setup)),
        *address,
        *_given(sheet),
        *_tasks(sheet, solved=False),
        _exp_table(sheet),
        heading(f"Answers, variant {seed}", new_page=True),
        *_tasks(sheet, solved=True),
        paragraph(
            ("Numbers are rounded to three decimals. A difference of 1 in the last one is no mistake."),
            small=True,
        ),
    ]
    return document(f"Attention by hand: {EXAMPLES[sheet.setup.example].title}", parts)


def on_paper(setup: Setup) -> Setup:
    """The part of a state that fits a sheet: at most 8 words and 4 channels, one head, no mask.

    A trained head is too wide for paper; its place is taken by the example that the tutor starts with.
    """
    if setup.is_real:
        return Setup()
    d_k = max(width for width in D_KS if width <= min(setup.d_k, MOST_CHANNELS))
    return replace(setup, seq_len=min(setup.seq_len, MOST_WORDS), d_k=d_k, n_heads=1, mask="none")


def exponents(setup: Setup, seed: int = 0) -> tuple[float, ...]:
    """The exponents whose powers the worksheet needs, each once, the smallest first."""
    sheet = _sheet(setup, seed)
    needed = [written_exponents(sheet.steps.scaled_scores[sheet.row])[0]]
    if sheet.masked_row is not None:
        needed.append(written_exponents(sheet.causal.masked_scores[sheet.masked_row])[0])
    every = np.round(np.concatenate(needed), 3) + 0.0  # + 0.0 makes −0 a 0
    return tuple(float(value) for value in np.unique(every[np.isfinite(every)]))


def _sheet(setup: Setup, seed: int) -> _Sheet:
    """Choose what is asked. Seed 0 takes the example's own cell."""
    if not 0 <= seed <= quiz.MAX_SEED:
        raise ValueError(f"seed is {seed}, but it must be from 0 to {quiz.MAX_SEED}")
    setup = on_paper(setup)
    names, steps = inputs(setup), run(setup).heads.head(0)
    causal = run(replace(setup, mask="causal")).heads.head(0)
    rng = np.random.default_rng([seed, len(names.query_tokens)])
    n_q, n_k = steps.scores.shape
    example = EXAMPLES[setup.example]
    row, col = min(example.row, n_q - 1), min(example.col, n_k - 1)
    if seed:
        row, col = int(rng.integers(n_q)), int(rng.integers(n_k))
    others = [(i, j) for i in range(n_q) for j in range(n_k) if i != row]
    picked = rng.permutation(len(others))[: OPEN_CELLS - 1]
    masked_row = int(rng.integers(1, n_q - 1)) if n_q > 2 else None
    channel = int(rng.integers(len(names.value_channels))) if seed else 0
    cells = tuple(sorted([(row, col), *(others[i] for i in picked)]))
    return _Sheet(setup, names, steps, causal, row, cells, channel, masked_row, seed)


def _about(setup: Setup, shown: Setup) -> str:
    """What the sheet is about, and whether it is a part of a larger state."""
    cut = (setup.seq_len, setup.d_k, setup.n_heads) != (shown.seq_len, shown.d_k, shown.n_heads)
    part = " This is the part of the state on screen that fits on paper." if cut else ""
    if setup.is_real:
        part = " The trained head on screen is too wide for paper."
    return f"{EXAMPLES[shown.example].about} Here T = {shown.seq_len} and d_k = {shown.d_k}.{part}"


def _given(sheet: _Sheet) -> list[str]:
    names, steps = sheet.names, sheet.steps
    matrices = [
        _matrix("Q: what it looks for", steps.q, names.query_tokens, names.channels),
        _matrix("K: what it offers", steps.k, names.key_tokens, names.channels),
        _matrix("V: what it hands over", steps.v, names.key_tokens, names.value_channels),
    ]
    return [heading("Given"), row(matrices)]


def _tasks(sheet: _Sheet, *, solved: bool) -> list[str]:
    """All tasks, or all of them with their answers."""
    makers = [_score_task, _scale_task, _softmax_task, _blend_task]
    makers += [_mask_task] if sheet.masked_row is not None else []
    parts = [part for place, make in enumerate(makers, 1) for part in make(sheet, place, solved)]
    return [*parts, *_questions(sheet, len(makers) + 1, solved)]


def _score_task(sheet: _Sheet, place: int, solved: bool) -> list[str]:
    s = sheet.steps.scores
    cells = [
        [None if (i, j) in sheet.open_cells and not solved else number(s[i, j]) for j in range(s.shape[1])]
        for i in range(s.shape[0])
    ]
    rows = list(zip(sheet.names.query_tokens, cells, strict=True))
    return [
        heading(f"{place}. Score"),
        *_told(
            "Each cell of S is a query times a key: multiply entry by entry and add. Fill in the open cells.",
            solved,
        ),
        table("S = Q Kᵀ", sheet.names.key_tokens, rows),
    ]


def _scale_task(sheet: _Sheet, place: int, solved: bool) -> list[str]:
    z = sheet.steps.scaled_scores[sheet.row]
    return [
        heading(f"{place}. Scale"),
        *_told(f"Divide row {_word(sheet)} of S by √d_k = √{sheet.setup.d_k}.", solved),
        table("Z", sheet.names.key_tokens, [(_word(sheet), _cells(z, solved))]),
    ]


def _softmax_task(sheet: _Sheet, place: int, solved: bool) -> list[str]:
    weights = sheet.steps.weights[sheet.row]
    exponents, subtracted = written_exponents(sheet.steps.scaled_scores[sheet.row])
    powers = np.exp(exponents)
    power = f"e^(z − {number(subtracted)})" if subtracted else "e^z"
    return [
        heading(f"{place}. Softmax"),
        *_told(
            f"Look up {power} for each cell of the row, add the powers up, and divide each by the sum.",
            solved,
        ),
        table(
            f"Row {_word(sheet)}",
            [*sheet.names.key_tokens, "sum"],
            [
                (power, _cells([*powers, powers.sum()], solved)),
                ("A", _cells([*weights, weights.sum()], solved)),
            ],
        ),
    ]


def _blend_task(sheet: _Sheet, place: int, solved: bool) -> list[str]:
    weights, values = sheet.steps.weights[sheet.row], sheet.steps.v[:, sheet.channel]
    output = sheet.steps.output[sheet.row, sheet.channel]
    name = sheet.names.value_channels[sheet.channel]
    return [
        heading(f"{place}. Blend"),
        *_told(
            f"Multiply each weight of row {_word(sheet)} by the word's “{name}” in V, and add it all up.",
            solved,
        ),
        table(
            f"The output of {_word(sheet)}: {name}",
            [*sheet.names.key_tokens, "sum"],
            [(f"A · {name}", _cells([*(weights * values), output], solved))],
        ),
    ]


def _mask_task(sheet: _Sheet, place: int, solved: bool) -> list[str]:
    place_of_row = sheet.masked_row or 0
    word = f"“{sheet.names.query_tokens[place_of_row]}”"
    return [
        heading(f"{place}. Mask"),
        *_told(
            "Now a causal mask hides all later words: their scores become −∞. What are the weights of "
            f"row {word}? (Its scores are in S. Scale them first.)",
            solved,
        ),
        table(
            "A with the causal mask",
            sheet.names.key_tokens,
            [(word, _cells(sheet.causal.weights[place_of_row], solved))],
        ),
    ]


def _questions(sheet: _Sheet, place: int, solved: bool) -> list[str]:
    items = [quiz.item(item_id, sheet.seed) for item_id in QUESTIONS]
    return [heading(f"{place}. Predict"), numbered(_question(item, solved) for item in items)]


def _question(item: quiz.Item, solved: bool) -> str:
    if solved:
        answer = next((option.text for option in item.options if option.key == item.answer), None)
        return text(f"{number(float(item.answer)) if answer is None else answer}. {item.reason}")
    if item.options:
        return text(item.question) + choices(option.text for option in item.options)
    return text(item.question) + " " + line_to_write_on()


def _told(instruction: str, solved: bool) -> list[str]:
    """What is to be done; the answer sheet does not say it again."""
    return [] if solved else [paragraph(instruction)]


def _exp_table(sheet: _Sheet) -> str:
    """e^z for every z that occurs, so that no calculator with e^x is needed."""
    z = exponents(sheet.setup, sheet.seed)
    powers = [number(float(np.exp(value))) for value in z]
    return table("Powers of e that occur", [number(value) for value in z], [("e^", powers)])


def _matrix(caption: str, array: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> str:
    body = [(rows[i], [number(value) for value in line]) for i, line in enumerate(array)]
    return table(f"{caption} ({array.shape[0]} × {array.shape[1]})", columns, body)


def _cells(values: Sequence[float] | np.ndarray, solved: bool) -> list[str | None]:
    return [number(value) if solved else None for value in values]


def _word(sheet: _Sheet) -> str:
    return f"“{sheet.names.query_tokens[sheet.row]}”"
