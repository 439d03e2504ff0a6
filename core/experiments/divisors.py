"""Scale lab: √d_k among the other divisors that people write."""

import math
from dataclasses import dataclass

import numpy as np

from core.attention import softmax
from core.experiments.prose import Table, fixed, percent, significant, weight
from core.experiments.rows import RowStatistics, check_size, row_statistics, score_rows


@dataclass(frozen=True, slots=True)
class Divisor:
    """Something that scores are divided by."""

    name: str  # as it stands in a formula
    value: float


def divisors(d_k: int, n_heads: int) -> tuple[Divisor, ...]:
    """The divisors to compare, the right one first. d_model = n_heads d_k."""
    return (
        Divisor("√d_k", math.sqrt(d_k)),
        Divisor("d_k", float(d_k)),
        Divisor("none", 1.0),
        Divisor("√d_model", math.sqrt(n_heads * d_k)),
        Divisor("√d_k twice", math.sqrt(d_k) * math.sqrt(d_k)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class DivisorLab:
    """The same random rows, and one row of the example, under each divisor."""

    d_k: int
    n_heads: int
    n_keys: int
    divisors: tuple[Divisor, ...]
    rows: tuple[RowStatistics, ...]  # one for each divisor
    example_weights: np.ndarray  # (n_divisors, n_k): the example's row under each divisor

    @property
    def caption(self) -> str:
        """What the table shows."""
        right, all_of_it, none = self.rows[:3]
        even = all_of_it.mean_largest < 1.5 / self.n_keys
        near = (
            f", near the even share of {weight(1 / self.n_keys)}: hardly anything is chosen" if even else ""
        )
        return (
            f"At d_k = {self.d_k}: √d_k leaves variance {fixed(right.score_variance)} and a mean largest "
            f"weight of {fixed(right.mean_largest)} among {self.n_keys} keys. No divisor: "
            f"{significant(none.score_variance, 3)} and {fixed(none.mean_largest)}, "
            f"{percent(none.share_dead)} of rows dead. Dividing by d_k, or by √d_k twice, which is the "
            f"same: {significant(all_of_it.score_variance)} and {fixed(all_of_it.mean_largest)}{near}. None "
            "of them changes which key wins a row." + self._about_heads()
        )

    def _about_heads(self) -> str:
        """√d_model is a mistake only where there is more than one head."""
        if self.n_heads == 1:
            return " With one head √d_model is √d_k; choose more heads to see them part."
        variance = significant(self.rows[3].score_variance)
        return f" √d_model divides too much by √{self.n_heads}: variance {variance}."

    @property
    def table(self) -> Table:
        """One row a divisor."""
        header = (
            "divisor",
            "value",
            "variance",
            "largest weight",
            "entropy, bits",
            "median gradient",
            "dead rows",
        )
        return (header, *(self._row(i) for i in range(len(self.rows))))

    def _row(self, i: int) -> tuple[str, ...]:
        divisor, rows = self.divisors[i], self.rows[i]
        return (
            divisor.name,
            significant(divisor.value, 3),
            significant(rows.score_variance, 3),
            fixed(rows.mean_largest),
            fixed(rows.mean_entropy),
            significant(rows.median_norm),
            percent(rows.share_dead),
        )

    @property
    def note(self) -> str:
        """What a divisor can do."""
        return (
            "A divisor is a fixed number. It offsets the growth with d_k and does not standardise: scores "
            "that are 100 times too large stay 100 times too large. Random, independent entries of "
            "variance 1."
        )


def divisor_lab(
    d_k: int = 64,
    n_heads: int = 8,
    seed: int = 0,
    example_row: np.ndarray | None = None,
    example_d_k: int = 4,
    n_keys: int = 8,
    n_rows: int = 4000,
) -> DivisorLab:
    """Random rows of width d_k, and raw scores example_row (n_k,) of width example_d_k, by each divisor."""
    check_size("d_k", d_k)
    check_size("n_heads", n_heads)
    scores = score_rows(d_k, n_rows, n_keys, seed)
    tried = divisors(d_k, n_heads)
    rows = tuple(row_statistics(scores / divisor.value) for divisor in tried)
    example = np.empty((len(tried), 0))
    if example_row is not None:
        by_each = [example_row / divisor.value for divisor in divisors(example_d_k, n_heads)]
        example = softmax(np.stack(by_each))
    return DivisorLab(d_k, n_heads, n_keys, tried, rows, example)
