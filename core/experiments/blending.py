"""Blend labs: who contributes what, the output inside the hull of the values, what doubling does."""

from dataclasses import dataclass

import numpy as np

from core.attention import AttentionSteps, attention
from core.checks import ShapeError
from core.experiments.hardness import hard_output
from core.experiments.prose import fixed, listed, significant, weight


@dataclass(frozen=True, slots=True, eq=False)
class BlendLab:
    """One query's output, taken apart by key."""

    query: str
    key_tokens: tuple[str, ...]
    channels: tuple[str, ...]
    weights: np.ndarray  # (n_k,)
    v: np.ndarray  # (n_k, d_v)
    contributions: np.ndarray  # (n_k, d_v): weight × value; a column adds up to the output
    output: np.ndarray  # (d_v,)
    hard_output: np.ndarray  # (d_v,): the value of the key with the largest score alone

    @property
    def caption(self) -> str:
        """What the stacked bars show."""
        top = int(self.weights.argmax())
        values = ", ".join(
            f"{name} {fixed(value)}" for name, value in zip(self.channels, self.output, strict=True)
        )
        distance = float(np.linalg.norm(self.output - self.hard_output))
        return (
            f"{self.query}: {values}. {self.key_tokens[top]} has the largest weight, "
            f"{weight(self.weights[top])}, and {int((self.weights > 0).sum())} of {len(self.weights)} keys "
            f"contribute. The hard choice would copy {self.key_tokens[top]}'s value, "
            f"{significant(distance)} away from the blend."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "Every weight is above 0 for a key that is not masked, in exact arithmetic, so every value "
            "contributes and every one gets a gradient. Floats round very small weights to 0."
        )


def blend_lab(
    steps: AttentionSteps,
    row: int,
    query: str,
    key_tokens: tuple[str, ...],
    channels: tuple[str, ...],
) -> BlendLab:
    """The steps of one head (2-D), the query's row -> its output, taken apart."""
    if steps.weights.ndim != 2:
        raise ShapeError(f"one head is taken apart at a time, but the weights are {steps.weights.shape}")
    weights = steps.weights[row]
    contributions = weights[:, None] * steps.v
    hard = hard_output(steps.masked_scores[row], steps.v)
    return BlendLab(
        query, tuple(key_tokens), tuple(channels), weights, steps.v, contributions, steps.output[row], hard
    )


@dataclass(frozen=True, slots=True, eq=False)
class HullLab:
    """Two channels of the values as points, and the output among them."""

    axes: tuple[str, str]
    points: np.ndarray  # (n_k, 2) values
    polygon: np.ndarray  # (n_corners, 2) the convex hull, counter-clockwise; 1 or 2 corners when it is flat
    output: np.ndarray  # (2,)
    hard_output: np.ndarray  # (2,)
    outside: float  # how far the output is outside the hull, by rounding; 0 inside

    @property
    def caption(self) -> str:
        """What the picture shows."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        ranges = listed(
            [f"{axis} from {fixed(a)} to {fixed(b)}" for axis, a, b in zip(self.axes, low, high, strict=True)]
        )
        where = (
            "inside"
            if self.outside == 0
            else f"on the edge of (outside by {significant(self.outside)}, rounding)"
        )
        return (
            f"Each value is a point ({ranges}). The output, ({fixed(self.output[0])}, "
            f"{fixed(self.output[1])}), lies {where} the shape that a rubber band around them would take: a "
            "weighted average cannot leave it."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        return (
            "It needs weights that are 0 or more and sum to 1. Two channels are drawn; it holds for each "
            "pair of them, and for all of them together. A mask after softmax breaks it: the row no longer "
            "sums to 1."
        )


def hull_lab(lab: BlendLab, channels: tuple[int, int] = (0, 1)) -> HullLab:
    """Two channels of a blend -> the picture. With one channel only, the second axis is 0."""
    names, v = lab.channels, lab.v
    if v.shape[1] == 1:
        names, channels = (*names, "(one channel only)"), (0, 1)
    points, output, hard = (_pair(values, channels) for values in (v, lab.output, lab.hard_output))
    polygon = convex_hull(points)
    return HullLab(
        (names[channels[0]], names[channels[1]]), points, polygon, output, hard, outside_by(polygon, output)
    )


def _pair(values: np.ndarray, channels: tuple[int, int]) -> np.ndarray:
    """(..., d_v) -> (..., 2)."""
    if values.shape[-1] == 1:
        return np.concatenate([values, np.zeros_like(values)], axis=-1)
    return values[..., list(channels)]


def convex_hull(points: np.ndarray) -> np.ndarray:
    """points (n, 2) -> corners (m, 2) of their convex hull, counter-clockwise.

    Andrew's monotone chain (1979). Points in one line give the line's two ends, equal points one.
    """
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered)
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points in order -> those at which the path turns left."""
    chain: list[tuple[float, float]] = []
    for point in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """> 0 when a -> b -> c turns left, 0 when they lie in a line."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def outside_by(polygon: np.ndarray, point: np.ndarray) -> float:
    """How far `point` lies outside the polygon's nearest violated edge; 0 when inside or on it."""
    starts, ends = polygon, np.roll(polygon, -1, axis=0)
    if len(polygon) < 3:  # a line or a point: how far off it the point is
        along = ends[0] - starts[0]
        t = np.clip((point - starts[0]) @ along / max(along @ along, 1e-300), 0, 1)
        return float(np.linalg.norm(point - starts[0] - t * along))
    along, to_point = ends - starts, point - starts
    left = along[:, 0] * to_point[:, 1] - along[:, 1] * to_point[:, 0]
    return float(max(0.0, (-left / np.linalg.norm(along, axis=1)).max()))


@dataclass(frozen=True, slots=True, eq=False)
class DoublingLab:
    """One input doubled: what doubles with it, and what does not."""

    doubled: str  # "q", "k" or "v"
    before: AttentionSteps
    after: AttentionSteps

    def follows(self, name: str) -> bool:
        """Whether the tensor of that name has doubled, exactly."""
        return np.array_equal(getattr(self.after, name), 2 * getattr(self.before, name), equal_nan=True)

    def moved(self, name: str) -> float:
        """The largest change of that tensor, over the entries that are finite before and after."""
        before, after = getattr(self.before, name), getattr(self.after, name)
        both = np.isfinite(before) & np.isfinite(after)
        return float(np.abs(after[both] - before[both]).max(initial=0.0))

    @property
    def caption(self) -> str:
        """What doubled and what did not."""
        if self.doubled == "v":
            return (
                f"V doubled: scores and weights move by {significant(self.moved('weights'))}, the output is "
                f"{'exactly doubled' if self.follows('output') else 'not doubled'}: step 4 is a plain "
                "matrix product."
            )
        before, after = (float(np.nanmean(steps.weights.max(axis=-1))) for steps in (self.before, self.after))
        follows = "exactly doubled" if self.follows("scores") else "not doubled"
        weights = (
            f"the weights are not: they sharpen, the largest of a row from {weight(before)} to "
            f"{weight(after)} on average, and the output moves by up to "
            f"{significant(self.moved('output'))}. Softmax is not linear."
            if self.moved("weights") > 0
            else "yet no weight moves here: the scores of each row are equal, or one key is left."
        )
        name = self.doubled.upper()
        return f"{name} doubled: every score is {follows} (step 1 is a matrix product), {weights}"

    @property
    def note(self) -> str:
        """When it holds."""
        return "Steps 1 and 4 are linear in each of their inputs; steps 2 and 3 shape the distribution."


def doubling_lab(steps: AttentionSteps, doubled: str = "v", allowed: np.ndarray | None = None) -> DoublingLab:
    """The steps, which of "q", "k", "v" to double -> all steps before and after."""
    if doubled not in ("q", "k", "v"):
        raise ValueError(f'doubled must be "q", "k" or "v", but it is {doubled!r}')
    inputs = {name: getattr(steps, name) * (2 if name == doubled else 1) for name in ("q", "k", "v")}
    return DoublingLab(doubled, steps, attention(**inputs, allowed=allowed))
