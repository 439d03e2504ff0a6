"""Softmax lab: the same row in float64, float32, float16 and bfloat16.

float64 and float32 are the machine's own. float16 and bfloat16 are computed in float32, and every
single result (difference, exp, each addition, quotient) is rounded to the short format before it
is used. For +, - and / that is exactly the short format's own result, because float32 has more than
twice its digits (Figueroa, "When is double rounding innocuous?", 1995). Rounding float32 to bfloat16
keeps the upper 16 bits, to nearest, ties to even.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from core.experiments.prose import Table, listed, significant, weight


def to_bfloat16(x: np.ndarray) -> np.ndarray:
    """float32 -> float32 that holds only values that bfloat16 has."""
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    nearest_even = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return np.where(np.isnan(x), x, (nearest_even & np.uint32(0xFFFF0000)).view(np.float32))


@dataclass(frozen=True, slots=True)
class Format:
    """A floating-point format: its rounding, and its largest finite number."""

    name: str
    keep: Callable[[np.ndarray], np.ndarray]  # rounds to the format
    largest: float

    def fill(self, value: float) -> float:
        """A mask's fill value as this format holds it."""
        with np.errstate(over="ignore"):
            return float(self.keep(np.array(value)))


FORMATS = (
    Format("float64", lambda x: x.astype(np.float64), float(np.finfo(np.float64).max)),
    Format("float32", lambda x: x.astype(np.float32), float(np.finfo(np.float32).max)),
    Format("bfloat16", lambda x: to_bfloat16(x.astype(np.float32)), (2 - 2**-7) * 2.0**127),
    Format("float16", lambda x: x.astype(np.float16).astype(np.float32), float(np.finfo(np.float16).max)),
)


def exp_in(form: Format, x: np.ndarray) -> np.ndarray:
    """exp, its argument and its result rounded to the format; overflow gives inf."""
    with np.errstate(over="ignore", under="ignore"):
        return form.keep(np.exp(form.keep(x)))


def softmax_in(form: Format, row: np.ndarray, subtract_max: bool = True) -> np.ndarray:
    """row (n_k,) -> weights (n_k,), every operation rounded to the format."""
    keep = form.keep
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        row = keep(row)
        row = keep(row - row.max()) if subtract_max else row
        exps = exp_in(form, row)
        total = keep(np.array(0.0))
        for term in exps:
            total = keep(total + term)
        return keep(exps / total)


def overflow_limit(form: Format) -> int:
    """The largest whole number whose exp is finite in the format."""
    n = np.arange(1, 800)
    return int(n[np.isfinite(exp_in(form, n.astype(float)))].max())


def underflow_gap(form: Format) -> int:
    """The smallest whole number g for which exp(-g), and with it a weight, is exactly 0 in the format."""
    n = np.arange(1, 800)
    return int(n[exp_in(form, -n.astype(float)) == 0].min())


@dataclass(frozen=True, slots=True, eq=False)
class FormatResult:
    """One row in one format."""

    name: str
    with_subtraction: np.ndarray  # (n_k,) float64, what the format holds
    without_subtraction: np.ndarray  # (n_k,)
    error: float  # largest |weight - float64's weight|, with the subtraction
    overflow: int  # the largest whole number with a finite exp
    underflow: int  # the smallest whole gap that makes a weight exactly 0

    @property
    def breaks(self) -> bool:
        """Whether the bare formula gives NaN, or shares that are far from summing to 1."""
        return not abs(self.without_subtraction.sum() - 1) < 0.05


@dataclass(frozen=True, slots=True, eq=False)
class FormatsLab:
    """The same row in every format."""

    row: np.ndarray  # (n_k,) the scores
    results: tuple[FormatResult, ...]  # float64 first

    @property
    def caption(self) -> str:
        """What the table shows."""
        broken = [r.name for r in self.results if r.breaks]
        limits = ", ".join(f"{r.name} {r.overflow}" for r in self.results)
        bare = "This row is small enough for every format, with or without the subtraction"
        if broken:
            bare = (
                f"Without the subtraction {listed(broken)} {'breaks' if len(broken) == 1 else 'break'}: exp "
                "or the sum overflows to infinity, or every exp is 0, and ∞/∞ and 0/0 are NaN. With it "
                "none does"
            )
        worst = max(self.results, key=lambda r: r.error)
        error = (
            f"the largest error is {significant(worst.error)}, in {worst.name}"
            if worst.error
            else "all formats agree exactly"
        )
        return f"{bare}; {error}. The largest whole number with a finite exp: {limits}."

    @property
    def table(self) -> Table:
        """One row a format: its weights without and with the subtraction, and its limits."""
        header = (
            "format",
            "without subtraction",
            "with subtraction",
            "exp overflows above",
            "weight 0 from a gap of",
        )
        return (
            header,
            *(
                (
                    r.name,
                    _row(r.without_subtraction),
                    _row(r.with_subtraction),
                    str(r.overflow),
                    str(r.underflow),
                )
                for r in self.results
            ),
        )

    @property
    def note(self) -> str:
        """What still goes wrong."""
        gaps = ", ".join(f"{r.name} {r.underflow}" for r in self.results)
        return (
            "The subtraction changes nothing in exact arithmetic and cannot overflow. It does not stop "
            f"underflow: a score this far below the largest gets a weight of exactly 0: {gaps}. Short "
            "formats are emulated by rounding after each operation; libraries often compute the softmax "
            "itself in float32. The error counts the rounding of the scores too: bfloat16 knows no 1001, "
            "only 1000 and 1004."
        )


def formats_lab(row: np.ndarray) -> FormatsLab:
    """row (n_k,) of scores -> its weights in every format, with and without the maximum subtracted."""
    exact = softmax_in(FORMATS[0], row)
    results = []
    for form in FORMATS:
        weights = softmax_in(form, row).astype(np.float64)
        bare = softmax_in(form, row, subtract_max=False).astype(np.float64)
        error = float(np.abs(weights - exact).max())
        results.append(
            FormatResult(form.name, weights, bare, error, overflow_limit(form), underflow_gap(form))
        )
    return FormatsLab(row, tuple(results))


FILLS = ("−10000", "−1e9", "lowest finite", "lowest finite, twice", "−∞")


@dataclass(frozen=True, slots=True)
class FillResult:
    """One fill value of a mask in one format."""

    format: str
    fill: str  # one of FILLS
    value: float  # as the format holds it
    leak: float  # weight that a hidden key keeps in a row where others are visible
    dead_row: tuple[float, ...]  # weights of a row with nothing allowed


def fills_lab(row: np.ndarray, hidden: int = 0) -> tuple[FillResult, ...]:
    """row (n_k,), the index of a hidden key -> what each fill, added to the scores, does in each format.

    "lowest finite, twice" is what happens where two masks (causal and padding) are added up.
    """
    found = []
    for form in FORMATS:
        for name, value in zip(FILLS, (-1e4, -1e9, -form.largest, -form.largest, -np.inf), strict=True):
            all_hidden = row
            for _ in range(2 if name.endswith("twice") else 1):
                all_hidden = _added(form, all_hidden, value)
            some = np.where(np.arange(len(row)) == hidden, all_hidden, row)
            leak = float(softmax_in(form, some)[hidden])
            dead = tuple(float(a) for a in softmax_in(form, all_hidden))
            found.append(FillResult(form.name, name, form.fill(value), leak, dead))
    return tuple(found)


def fills_table(results: tuple[FillResult, ...]) -> Table:
    """One row for each fill in each format."""
    header = ("format", "fill", "stored as", "hidden key gets", "row with nothing left")
    return (
        header,
        *(
            (r.format, r.fill, significant(r.value, 5), significant(r.leak), _row(r.dead_row))
            for r in results
        ),
    )


def _row(weights: Iterable[float]) -> str:
    """Weights side by side, as text."""
    return "  ".join("NaN" if np.isnan(a) else weight(a) for a in weights)


def fills_caption(results: tuple[FillResult, ...]) -> str:
    """What the table of fills shows."""
    leaks = [r for r in results if r.leak != 0]
    overflowed = [f"{r.fill} in {r.format}" for r in results if np.isinf(r.value) and r.fill != "−∞"]
    alive = sum(not np.isnan(r.dead_row).any() for r in results)
    leaking = f"{len(leaks)} leak" if leaks else "the hidden key gets exactly 0 under all of them"
    stored = f" {listed(overflowed)} is stored as −∞." if overflowed else ""
    return (
        f"{len(FILLS)} fills in {len(FORMATS)} formats: in a row with other keys left, {leaking}.{stored} "
        f"They part in a row with nothing left: {alive} of {len(results)} hand out weights to keys that are "
        f"all forbidden, {len(results) - alive} give NaN."
    )


def _added(form: Format, scores: np.ndarray, value: float) -> np.ndarray:
    """scores + fill, rounded to the format."""
    with np.errstate(over="ignore", invalid="ignore"):
        return form.keep(form.keep(scores) + form.keep(np.array(value)))
