"""The statistics of the reports, without any library: they can be checked by hand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 < share <= 1) of all values do not exceed (nearest rank).

    It is one of the values. Raises ValueError for no values, and for a share outside its range.
    """
    if not values:
        raise ValueError("a percentile needs at least one value, found none")
    if not 0 < share <= 1:
        raise ValueError(f"a share lies above 0 and is at most 1, found {share}")
    return sorted(values)[math.ceil(share * len(values)) - 1]


@dataclass(frozen=True, slots=True)
class Slope:
    """A straight line's slope, and half the width of its interval of confidence."""

    slope: float
    half_width: float

    @property
    def is_flat(self) -> bool:
        """Whether zero lies in the interval, or the line falls."""
        return self.slope - self.half_width <= 0


# Two-sided 95 % points of Student's t by degrees of freedom; between two of them the larger value is taken.
STUDENT_95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 10: 2.23, 20: 2.09, 30: 2.04, 60: 2.00, 120: 1.98}


def slope(x: Sequence[float], y: Sequence[float]) -> Slope:
    """Least-squares slope of y over x, with its 95 % interval.

    Neighbouring measurements of one process resemble each other, which makes the plain interval too narrow.
    The number of measurements is therefore counted as n (1 - r) / (1 + r), r the correlation of neighbouring
    residuals where it is positive (Santer et al. 2000, J. Geophys. Res. 105, 7337-7356).
    Raises ValueError for fewer than three measurements, different lengths, and equal x.
    """
    if len(x) != len(y) or len(x) < 3:
        raise ValueError(f"a slope needs as many x as y, three at least; found {len(x)} x and {len(y)} y")
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((one - mean_x) ** 2 for one in x)
    if spread == 0:
        raise ValueError("a slope needs different x, found one value only")
    slope = sum((one - mean_x) * (other - mean_y) for one, other in zip(x, y, strict=True)) / spread
    rest = [other - mean_y - slope * (one - mean_x) for one, other in zip(x, y, strict=True)]
    alike = _neighbours(rest)
    counted = max(3.0, len(x) * (1 - alike) / (1 + alike))
    error = math.sqrt(sum(one**2 for one in rest) / (counted - 2) / spread)
    return Slope(slope, _student(counted - 2) * error)


def _neighbours(rest: Sequence[float]) -> float:
    """Correlation of each residual with the next, 0 where it is negative."""
    total = sum(one**2 for one in rest)
    return max(0.0, sum(a * b for a, b in pairwise(rest)) / total) if total else 0.0


def _student(freedom: float) -> float:
    return STUDENT_95[max((known for known in STUDENT_95 if known <= freedom), default=1)]
