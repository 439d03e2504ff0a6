"""Every number that is printed is read back and compared with the array that it stands for."""

import math
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic import (
    GAP,
    MOST_TERMS,
    Arithmetic,
    blend_cell,
    mask_cell,
    pipeline_row,
    projection_cell,
    scale_cell,
    score_cell,
    softmax_cell,
)
from core.attention import AttentionSteps, attention
from core.checks import ShapeError
from core.examples import EXAMPLES
from core.heads import MultiHeadSteps, join_heads
from core.numbers import number
from core.offered import D_KS, HEADS, MASKS
from core.setup import Setup, allowed, inputs, run
from tests.core.test_numbers import NUMBER, PLAIN, assert_prints, read


def evaluate(expression: str) -> float:
    """A printed sum, product or quotient, by Python; what is left out counts with its printed sum."""
    text = re.sub(rf"\(\d+ more: ({NUMBER})\)", r"(\1)", expression)
    text = re.sub(r"×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "e" + found[1].translate(PLAIN), text)
    text = re.sub(r"e([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: f"exp({found[1].translate(PLAIN)})", text)
    text = re.sub(r"e\^\(([^()]*)\)|e\^([\d.]+)", lambda found: f"exp({found[1] or found[2]})", text)
    text = re.sub(r"√(\d+)", r"sqrt(\1)", text).replace("−", "-").replace("·", "*").replace("∞", "inf")
    assert re.fullmatch(r"[\d.eE+\-*/ ()]*", re.sub(r"exp|sqrt|inf", "", text)), text
    return eval(text, {"exp": math.exp, "sqrt": math.sqrt, "inf": math.inf})


@dataclass(frozen=True)
class Named:
    """Names that hold their own index, so that a column can be found again."""

    steps: AttentionSteps

    @property
    def query_tokens(self) -> list[str]:
        return [f"q{i}" for i in range(self.steps.q.shape[0])]

    @property
    def key_tokens(self) -> list[str]:
        return [f"k{i}" for i in range(self.steps.k.shape[0])]

    @property
    def channels(self) -> list[str]:
        return [f"c{i}" for i in range(self.steps.k.shape[1])]

    @property
    def value_channels(self) -> list[str]:
        return [f"v{i}" for i in range(self.steps.v.shape[1])]


def column_ranges(columns: tuple[str, ...], n: int) -> list[range]:
    """Which indices each column stands for: the one in its name, or, for a gap, those in between."""
    indices = [None if column == GAP else int(re.findall(r"\d+", column)[0]) for column in columns]
    ranges, following = [], 0
    for place, index in enumerate(indices):
        stop = indices[place + 1] if index is None else index + 1
        ranges.append(range(following if index is None else index, stop))
        assert ranges[-1].start == following
        following = stop
    assert following == n
    return ranges


def assert_row(
    cells: tuple[str, ...], values: np.ndarray, ranges: list[range], *, summed: bool = False
) -> None:
    """Shown cells are the array's; in a gap stands "…" or, where the row is added up, the gap's sum."""
    assert len(cells) == len(ranges)
    for cell, part in zip(cells, ranges, strict=True):
        if len(part) == 1:
            assert_prints(cell, values[part.start])
        elif summed:
            assert read(cell) == pytest.approx(values[part.start : part.stop].sum(), abs=5.1e-4, rel=5.1e-3)
        else:
            assert cell == GAP


def assert_dot_product(
    arithmetic: Arithmetic,
    left: np.ndarray,
    right: np.ndarray,
    cell: float,
    columns: tuple[str, ...] | None = None,
) -> None:
    ranges = column_ranges(columns or arithmetic.columns, len(left))
    assert arithmetic.result == float(cell)
    (_, lefts), (_, rights), (_, products) = arithmetic.rows
    assert_row(lefts, left, ranges)
    assert_row(rights, right, ranges)
    assert_row(products, left * right, ranges, summed=True)
    (line,) = arithmetic.lines
    terms, total = line.split(" = ")
    assert_prints(total, cell)
    alone = [part.start for part in ranges if len(part) == 1]
    rounding = 5.1e-4 * (np.abs(left[alone]) + np.abs(right[alone])).sum() + 1e-3 * len(ranges)
    whole = (left == left.round()).all() and (right == right.round()).all()
    assert evaluate(terms) == pytest.approx(float(cell), abs=1e-9 if whole else float(rounding))
    assert len(re.findall(r"\d·|\)·", terms)) == len(alone)
    assert (f"{len(alone)} of {len(left)} terms" in arithmetic.note) == (len(alone) < len(left))
    numbers = [*left, *right, float(cell)]  # those left out are rounded too, in their gap's sum
    assert ("rounded" in arithmetic.note) == any(
        not math.isclose(value, round(value, 3), rel_tol=2e-15) for value in numbers if math.isfinite(value)
    )


def check_score(steps: AttentionSteps, row: int, col: int) -> None:
    arithmetic = score_cell(steps, row, col, Named(steps))
    assert arithmetic.question == f"q{row} asks → k{col} offers"
    assert_dot_product(arithmetic, steps.q[row], steps.k[col], steps.scores[row, col])


def check_scale(steps: AttentionSteps, row: int, col: int) -> None:
    arithmetic = scale_cell(steps, row, col, Named(steps))
    ranges = column_ranges(arithmetic.columns, steps.scores.shape[1])
    assert range(col, col + 1) in ranges
    assert_row(dict(arithmetic.rows)["S"], steps.scores[row], ranges)
    assert_row(dict(arithmetic.rows)["Z"], steps.scaled_scores[row], ranges)
    assert arithmetic.result == steps.scaled_scores[row, col]
    (line,) = arithmetic.lines
    root, division, result = line.split(" = ")
    assert root == f"{number(steps.scores[row, col])} / √{steps.q.shape[1]}"
    dividend, divisor = division.split(" / ")
    assert_prints(dividend, steps.scores[row, col])
    assert_prints(divisor, math.sqrt(steps.q.shape[1]))
    assert_prints(result, steps.scaled_scores[row, col])
    assert evaluate(root) == pytest.approx(arithmetic.result, abs=1e-3, rel=1e-3)


def check_mask(steps: AttentionSteps, row: int, col: int, given: np.ndarray | None) -> None:
    arithmetic = mask_cell(steps, row, col, Named(steps))
    ranges = column_ranges(arithmetic.columns, steps.scores.shape[1])
    rows = dict(arithmetic.rows)
    assert_row(rows["Z"], steps.scaled_scores[row], ranges)
    assert_row(rows["masked Z"], steps.masked_scores[row], ranges)
    may = np.ones(steps.scores.shape, bool) if given is None else given
    words = [GAP if len(part) > 1 else "yes" if may[row, part.start] else "no" for part in ranges]
    assert list(rows["allowed"]) == words
    (line,) = arithmetic.lines
    said, before, after = re.fullmatch(rf"(.*): ({NUMBER}) (?:stays|becomes) ({NUMBER})", line).groups()
    assert said == ("the mask hides nothing" if may.all() else "allowed" if may[row, col] else "hidden")
    assert_prints(before, steps.scaled_scores[row, col])
    assert_prints(after, steps.masked_scores[row, col])
    assert arithmetic.result == steps.masked_scores[row, col]


def check_softmax(steps: AttentionSteps, row: int, col: int) -> None:
    arithmetic = softmax_cell(steps, row, col, Named(steps))
    z, weights = steps.masked_scores[row], steps.weights[row]
    *columns, last = arithmetic.columns
    assert last == "sum"
    ranges = column_ranges(tuple(columns), len(z))
    assert range(col, col + 1) in ranges
    *exponent_rows, (_, exps), (label, shares) = arithmetic.rows
    subtracted = len(exponent_rows) == 2
    assert subtracted == (np.isfinite(z.max()) and abs(z.max()) > 10)
    exponents = z - z.max() if subtracted else z
    assert_row(exponent_rows[0][1][:-1], z, ranges)
    assert_row(exponent_rows[-1][1][:-1], exponents, ranges)
    assert_row(exps[:-1], np.exp(exponents), ranges, summed=True)
    assert_prints(exps[-1], np.exp(exponents).sum())
    assert label == "A"
    assert_row(shares[:-1], weights, ranges, summed=True)
    assert read(shares[-1]) == pytest.approx(1, abs=1e-12)
    division, result, remark = arithmetic.lines
    top, bottom, weight = re.fullmatch(rf"= ({NUMBER}) / ({NUMBER}) = ({NUMBER})", result).groups()
    assert_prints(top, np.exp(exponents[col]))
    assert_prints(bottom, np.exp(exponents).sum())
    assert_prints(weight, weights[col])
    assert arithmetic.result == weights[col]
    assert evaluate(division) == pytest.approx(weights[col], abs=2e-3)
    assert (f"{number(z.max())}, the row's largest z" in remark) or not np.isfinite(z.max())


def check_blend(steps: AttentionSteps, row: int, channel: int) -> None:
    arithmetic = blend_cell(steps, row, channel, Named(steps))
    assert arithmetic.question == f"“q{row}” collects “v{channel}”"
    assert f"k{steps.weights[row].argmax()}" in arithmetic.columns
    assert_dot_product(arithmetic, steps.weights[row], steps.v[:, channel], steps.output[row, channel])


def check_pipeline(steps: AttentionSteps, row: int, channel: int, keep: int) -> None:
    arithmetic = pipeline_row(steps, row, channel, keep, Named(steps))
    *columns, last = arithmetic.columns
    assert last == "sum"
    ranges = column_ranges(tuple(columns), steps.scores.shape[1])
    assert range(keep, keep + 1) in ranges
    rows = [cells[:-1] for _, cells in arithmetic.rows]
    assert_row(rows[0], steps.scores[row], ranges)
    assert_row(rows[1], steps.masked_scores[row], ranges)
    assert_row(rows[2], steps.weights[row], ranges, summed=True)
    assert_row(rows[3], steps.weights[row] * steps.v[:, channel], ranges, summed=True)
    sums = [cells[-1] for _, cells in arithmetic.rows]
    assert sums[:2] == ["", ""]
    assert read(sums[2]) == pytest.approx(1, abs=1e-12)
    assert_prints(sums[3], steps.output[row, channel])
    assert arithmetic.result == steps.output[row, channel]
    assert ("mask" in arithmetic.rows[1][0]) == np.isneginf(steps.masked_scores[row]).any()
    assert ("…" in arithmetic.columns) == ("terms are shown" in arithmetic.note)


def check_projection(steps: MultiHeadSteps, row: int, channel: int) -> None:
    arithmetic = projection_cell(steps, row, channel, Named(steps.heads.head(0)))
    d_v = steps.heads.v.shape[-1]
    columns = tuple(
        GAP if column == GAP else str(int(found[1]) + d_v * int(found[2]))
        for column in arithmetic.columns
        for found in [re.fullmatch(r"v(\d+) \(head (\d+)\)", column) or ["", "0", "0"]]
    )
    assert_dot_product(
        arithmetic, steps.concat[row], steps.w_o[:, channel], steps.output[row, channel], columns
    )


def check_all(
    multi: MultiHeadSteps, may: np.ndarray | None, head: int, row: int, col: int, channel: int
) -> None:
    steps = multi.heads.head(head)
    check_score(steps, row, col)
    check_scale(steps, row, col)
    check_mask(steps, row, col, may)
    check_softmax(steps, row, col)
    check_blend(steps, row, channel)
    check_pipeline(steps, row, channel, col)
    check_projection(multi, row, channel % multi.w_o.shape[1])


@pytest.mark.parametrize("mask", ["none", "causal+padding"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_cell_of_every_example(name: str, mask: str) -> None:
    example = EXAMPLES[name]
    setup = Setup(name, example.seq_len, example.d_k, mask, example.n_heads)
    steps = run(setup)
    n_heads, n_q, n_k = steps.heads.scores.shape
    for row in range(n_q):
        for col in range(n_k):
            head, channel = (row + col) % n_heads, (row * col) % steps.heads.v.shape[-1]
            check_all(steps, allowed(setup), head, row, col, channel)


@given(
    name=st.sampled_from(sorted(EXAMPLES)),
    seq_len=st.integers(2, 64),
    d_k=st.sampled_from(D_KS),
    mask=st.sampled_from(MASKS),
    n_heads=st.sampled_from(HEADS[:3]),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_any_cell_at_any_size(
    name: str, seq_len: int, d_k: int, mask: str, n_heads: int, seed: int, data: st.DataObject
) -> None:
    setup = Setup(name, seq_len, d_k, mask, n_heads, seed)
    steps = run(setup)
    cell = (data.draw(st.integers(0, n - 1)) for n in (*steps.heads.scores.shape, steps.heads.v.shape[-1]))
    check_all(steps, allowed(setup), *cell)


@given(st.lists(st.tuples(st.sampled_from("qkv"), st.integers(0, 6), st.integers(0, 2), st.floats(-99, 99))))
def test_any_cell_of_edited_numbers(edits: list) -> None:
    """Large and tiny numbers: rows that overflow without the subtraction, shares that round to 0."""
    text = ";".join(f"{tensor}.0.{row}.{channel}={value!r}" for tensor, row, channel, value in edits)
    steps = run(Setup(edits=text))
    for col in range(7):
        check_all(steps, None, 0, 4, col, col % 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(3, 5, 2, 4), (9, 70, 33, 12), (2, 2, 1000, 1)])
def test_any_cell_of_arrays_from_elsewhere(sizes: tuple, dtype: type) -> None:
    n_q, n_k, d_k, d_v = sizes
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=shape).astype(dtype) for shape in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    steps = join_heads(attention(q[None], k[None], v[None]), np.eye(d_v))
    for row, col, channel in ((0, 0, 0), (n_q - 1, n_k - 1, d_v - 1), (n_q // 2, n_k // 2, d_v // 2)):
        check_all(steps, None, 0, row, col, channel)


# The lesson's own lines


def test_the_kite_is_written_out() -> None:
    setup = Setup()
    steps, names = run(setup), inputs(setup)
    one = steps.heads.head(0)
    assert score_cell(one, 4, 1, names) == Arithmetic(
        question="it asks → kite offers",
        columns=("thing", "action", "state", "glue"),
        rows=(
            ("q", ("3", "−1", "1", "−1")),
            ("k", ("2", "0", "1", "−1")),
            ("q·k", ("6", "0", "1", "1")),
        ),
        lines=("3·2 + (−1)·0 + 1·1 + (−1)·(−1) = 8",),
        result=8.0,
        note="",
    )
    assert scale_cell(one, 4, 1, names).lines == ("8 / √4 = 8 / 2 = 4",)
    assert mask_cell(one, 4, 1, names).lines == ("the mask hides nothing: 4 stays 4",)
    assert softmax_cell(one, 4, 1, names).lines[:2] == (
        "e⁴ / (e⁻¹ + e⁴ + e⁰ + e⁻¹ + e¹ + e⁻¹ + e^1.5)",
        "= 54.598 / 63.902 = 0.854",
    )
    assert blend_cell(one, 4, 0, names).lines[0].endswith(" = 7.851")


def test_a_hidden_cell_is_written_out() -> None:
    setup = Setup(mask="causal")
    steps, names = run(setup).heads.head(0), inputs(setup)
    assert mask_cell(steps, 2, 3, names).lines == ("hidden: −2 becomes −∞",)
    assert mask_cell(steps, 2, 1, names).lines == ("allowed: 3 stays 3",)
    softmax = softmax_cell(steps, 2, 3, names)
    assert softmax.lines[1] == "= 0 / 22.939 = 0"
    assert softmax.result == 0


def test_a_row_with_nothing_allowed_is_written_out() -> None:
    steps = attention(*np.ones((3, 2, 2)), np.array([[False, False], [True, True]]))
    softmax = softmax_cell(steps, 0, 0, Named(steps))
    assert softmax.lines[:2] == ("e^(−∞) / (e^(−∞) + e^(−∞))", "= 0 / 0 = NaN")
    assert "Nothing is allowed" in softmax.lines[2]
    assert math.isnan(softmax.result)
    assert blend_cell(steps, 0, 0, Named(steps)).lines == ("NaN·1 + NaN·1 = NaN",)


def test_nan_is_told_and_not_blamed_on_the_mask() -> None:
    steps = attention(np.ones((1, 2)), np.array([[np.nan, 1], [1, 1]]), np.ones((2, 1)))
    assert "holds NaN" in softmax_cell(steps, 0, 1, Named(steps)).lines[2]
    assert score_cell(steps, 0, 0, Named(steps)).lines == ("1·NaN + 1·1 = NaN",)


def test_a_long_sum_is_shortened_around_the_cell() -> None:
    setup = Setup("random", 64, 16)
    steps = run(setup).heads.head(0)
    softmax = softmax_cell(steps, 5, 30, Named(steps))
    assert softmax.columns == ("k0", "k1", "k2", GAP, "k30", GAP, "k62", "k63", "sum")
    assert softmax.lines[0].count(" more: ") == 2
    assert softmax.note.startswith("6 of 64 terms are shown; the total counts all.")
    just_short_enough = run(Setup("random", MOST_TERMS)).heads.head(0)
    assert GAP not in softmax_cell(just_short_enough, 0, 0, Named(just_short_enough)).columns


def test_only_one_head_is_written_out_at_a_time() -> None:
    steps = run(Setup(n_heads=2))
    for write in (score_cell, scale_cell, mask_cell, softmax_cell, blend_cell):
        with pytest.raises(ShapeError, match=r"one head .* \(2, 7, 7\)"):
            write(steps.heads, 0, 0, inputs(Setup()))
    batch = replace(steps, output=steps.output[None])
    with pytest.raises(ShapeError, match=r"one sequence .* \(1, 7, 8\)"):
        projection_cell(batch, 0, 0, inputs(Setup()))


# One number
