"""Scale lab (d): the same little attention trained twice, with and without the scale.

The backward pass is the one of core/gradients.py, written by hand; the task is in lookup.py.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np

from core.experiments.lookup import (
    DEAD_ROW,
    N_LABELS,
    N_SYMBOLS,
    cross_entropy,
    dead_share,
    draw_batch,
    forward,
    table_gradients,
)
from core.experiments.prose import percent, significant
from core.gradients import attention_backward, jacobian_norm

BATCH, TEST_BATCH = 32, 512
SMOOTHING = 10  # steps over which a drawn loss is averaged: one batch alone is noisy
SGD_RATES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
ADAM_RATES = (0.003, 0.01, 0.03, 0.1, 0.3)
OPTIMISERS = ("sgd", "adam")


@dataclass(frozen=True, slots=True)
class Training:
    """What is to be trained, and how."""

    d_k: int = 256
    scaled: bool = True
    learning_rate: float = 10.0
    optimiser: str = "sgd"
    init_power: float = 0.0  # queries and keys start as N(0, 1) times d_k^init_power
    n_steps: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError, in a sentence, for what cannot be trained."""
        if self.d_k < 1 or self.n_steps < 1:
            raise ValueError(
                f"d_k and n_steps must be at least 1, but d_k = {self.d_k}, n_steps = {self.n_steps}"
            )
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be a positive number, but it is {self.learning_rate}")
        if self.optimiser not in OPTIMISERS:
            raise ValueError(
                f"optimiser must be one of {', '.join(OPTIMISERS)}, but it is {self.optimiser!r}"
            )

    @property
    def divisor(self) -> float:
        """What the scores are divided by."""
        return math.sqrt(self.d_k) if self.scaled else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far one training has come; the curves hold one entry a step so far."""

    training: Training
    losses: np.ndarray  # (steps so far,) cross-entropy above the best that can be reached
    accuracies: np.ndarray  # (steps so far,) share of the batch answered right
    gradient_norms: np.ndarray  # (steps so far,) norm of the gradient of all that is learned
    dead_share: float  # at step 0: of the rows answered wrong, those with hardly any gradient
    start_jacobian: float  # median Jacobian norm of the first batch's rows
    test_accuracy: float  # now, on sequences that are not trained on
    test_loss: float

    @property
    def step(self) -> int:
        """Steps done."""
        return len(self.losses)

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.step == self.training.n_steps

    @property
    def smooth_losses(self) -> np.ndarray:
        """(steps so far,) each the mean of the last SMOOTHING losses, or of as many as there are."""
        sums = np.concatenate([[0.0], np.cumsum(self.losses)])
        ends = np.arange(1, self.step + 1)
        starts = np.maximum(ends - SMOOTHING, 0)
        return (sums[ends] - sums[starts]) / (ends - starts)


@dataclass(slots=True)
class _Optimiser:
    """Plain gradient descent, or Adam (Kingma and Ba, 2015) with its usual constants."""

    training: Training
    step: int = 0
    means: list = field(default_factory=lambda: [0.0, 0.0])
    squares: list = field(default_factory=lambda: [0.0, 0.0])

    def update(self, tables: tuple[np.ndarray, ...], gradients: tuple[np.ndarray, ...]) -> None:
        """Move each table, in place, one step against its gradient."""
        self.step += 1
        for i, (table, gradient) in enumerate(zip(tables, gradients, strict=True)):
            if self.training.optimiser == "adam":
                gradient = self._adam_direction(i, gradient)
            table -= self.training.learning_rate * gradient

    def _adam_direction(self, i: int, gradient: np.ndarray) -> np.ndarray:
        self.means[i] = 0.9 * self.means[i] + 0.1 * gradient
        self.squares[i] = 0.999 * self.squares[i] + 0.001 * gradient**2
        mean = self.means[i] / (1 - 0.9**self.step)
        square = self.squares[i] / (1 - 0.999**self.step)
        return mean / (np.sqrt(square) + 1e-8)


def train(training: Training, every: int = 10) -> Generator[Progress, None, None]:
    """Train, and yield the progress every `every` steps and at the end. Stop by not asking for more.

    The same seed gives the same start and the same sequences, with and without the scale.
    """
    rng = np.random.default_rng(training.seed)
    size = training.d_k**training.init_power
    tables = tuple(size * rng.standard_normal((2, N_SYMBOLS, training.d_k)))
    test = draw_batch(rng, TEST_BATCH)
    optimiser = _Optimiser(training)
    history = np.empty((training.n_steps, 3))  # loss, share right, gradient norm
    start = (0.0, 0.0)
    for step in range(training.n_steps):
        batch = draw_batch(rng, BATCH)
        steps = forward(*tables, batch, training.divisor)
        loss, right, d_output = cross_entropy(steps.output, batch.answer)
        gradients = attention_backward(steps, d_output, training.divisor)
        if step == 0:
            start = dead_share(gradients, steps, batch.answer), float(np.median(jacobian_norm(steps.weights)))
        moves = table_gradients(gradients, batch, tables[0])
        history[step] = loss, right, math.hypot(*(np.linalg.norm(move) for move in moves))
        optimiser.update(tables, moves)
        if (step + 1) % every == 0 or step + 1 == training.n_steps:
            tested = cross_entropy(forward(*tables, test, training.divisor).output, test.answer)
            yield Progress(training, *history[: step + 1].copy().T, *start, tested[1], tested[0])


@dataclass(frozen=True, slots=True, eq=False)
class TrainingLab:
    """Two trainings side by side, step by step the same but for one thing."""

    first: Progress  # scaled, in the main experiment
    second: Progress  # not scaled
    names: tuple[str, str] = ("with the scale", "without the scale")

    @property
    def caption(self) -> str:
        """What the two curves show so far."""
        a, b = self.first, self.second
        return (
            f"After {a.step} of {a.training.n_steps} steps at d_k = {a.training.d_k}: {self.names[0]} "
            f"{percent(a.test_accuracy)} of new questions are answered right (loss "
            f"{significant(a.test_loss)} above the best possible), {self.names[1]} "
            f"{percent(b.test_accuracy)} (loss {significant(b.test_loss)}). At the start "
            f"{percent(b.dead_share)} of the second's wrong rows got almost no gradient, against "
            f"{percent(a.dead_share)} of the first's."
        )

    @property
    def note(self) -> str:
        """When it holds."""
        a, b = self.first, self.second
        return (
            f"Many wrong rows get almost no gradient (below {DEAD_ROW:g}); it is not that the gradient as a "
            f"whole is smaller: at step 1 its norm was {significant(a.gradient_norms[0])} {self.names[0]} "
            f"and {significant(b.gradient_norms[0])} {self.names[1]}. At small d_k the scale makes no such "
            "difference, and a step size suits one of the two better: try several. Guessing is right 1 "
            f"time in {N_LABELS}. One small task, not a law about every model."
        )


def train_pair(first: Training, second: Training, every: int = 10) -> Generator[TrainingLab, None, None]:
    """Both trainings, in step with one another."""
    if first.n_steps != second.n_steps:
        raise ValueError(f"both must take as many steps, but they take {first.n_steps} and {second.n_steps}")
    names = _name(first, first, second), _name(second, first, second)
    for a, b in zip(train(first, every), train(second, every), strict=True):
        yield TrainingLab(a, b, names)


def scale_pair(training: Training) -> tuple[Training, Training]:
    """The main experiment: the same training with and without the scale."""
    return replace(training, scaled=True), replace(training, scaled=False)


def control_pair(training: Training) -> tuple[Training, Training]:
    """The controls that show the size of the scores is the cause, whatever stands in the formula.

    Not scaled, but started at d_k^-1/4, so that the scores start with variance 1; and scaled, but
    started at d_k^+1/4, so that the scaled scores start with variance d_k.
    """
    return replace(training, scaled=False, init_power=-0.25), replace(training, scaled=True, init_power=0.25)


def _name(training: Training, *both: Training) -> str:
    """What tells this one from the other."""
    name = "with the scale" if training.scaled else "without the scale"
    if any(one.init_power for one in both):
        size = {0.0: "usual", -0.25: "small", 0.25: "large"}.get(
            training.init_power, f"d_k^{training.init_power:g}"
        )
        name += f", {size} start"
    return name


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Every step size tried, with and without the scale; each keeps its best."""

    rates: tuple[float, ...]
    scaled: tuple[Progress, ...]  # one for each rate tried so far
    unscaled: tuple[Progress, ...]

    @property
    def finished(self) -> bool:
        """Whether every rate was tried."""
        return len(self.unscaled) == len(self.rates)

    @property
    def best(self) -> TrainingLab:
        """Each at its own best step size so far."""
        scaled, unscaled = (
            min(found, key=lambda one: one.test_loss) for found in (self.scaled, self.unscaled)
        )
        return TrainingLab(scaled, unscaled)

    @property
    def caption(self) -> str:
        """The fair comparison."""
        a, b = self.best.first, self.best.second
        tried = (
            "Each"
            if self.finished
            else f"So far ({len(self.unscaled)} of {len(self.rates)} step sizes), each"
        )
        return (
            f"{tried} at its own best step size, {a.training.n_steps} steps of "
            f"{'Adam' if a.training.optimiser == 'adam' else 'plain gradient descent'} at d_k = "
            f"{a.training.d_k}: loss above the best possible {significant(a.test_loss)} with the scale "
            f"(step size {a.training.learning_rate:g}), {significant(b.test_loss)} without "
            f"({b.training.learning_rate:g})."
        )

    @property
    def note(self) -> str:
        """What is fair about it, and what it does not show."""
        return (
            "With Adam the unscaled one crawls rather than stalls: dividing by its own typical size makes "
            "small gradients count, but a row without any still waits."
        )


def sweep(training: Training, rates: tuple[float, ...] | None = None) -> Generator[Sweep, None, None]:
    """Try each step size with and without the scale; yields after each."""
    rates = (ADAM_RATES if training.optimiser == "adam" else SGD_RATES) if rates is None else rates
    found = ((), ())
    for rate in rates:
        pair = scale_pair(replace(training, learning_rate=rate))
        last = tuple(next(iter(train(one, every=one.n_steps))) for one in pair)
        found = tuple((*kept, one) for kept, one in zip(found, last, strict=True))
        yield Sweep(rates, *found)
