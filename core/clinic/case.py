"""One file under examination: from its readings to a verdict."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.clinic import wording
from core.clinic.beliefs import AXES, Beliefs
from core.clinic.fits import fitted_choices
from core.clinic.precision import explained_by_rounding, suggested_roundoffs
from core.clinic.readings import Reading, only_output, readings
from core.clinic.report import Diagnosis, Explanation
from core.clinic.sampling import MAX_SCORES, part_of
from core.clinic.search import Candidate, Examination, Progress, Search
from core.clinic.untestable import hidden_headlines, reasons
from core.faults.pipeline import RIGHT, Choice, State, run

TENSOR_CORE = 2.0**-11  # float32 products of recent GPUs keep 10 bits unless told otherwise (TF32)
MAX_READINGS = 32
AS_GOOD = 4.0  # an explanation with so many times the round-off of the best is as good


@dataclass(slots=True)
class Found:
    """A reading, its search, and what came out of it so far."""

    reading: Reading
    search: Search
    right: Candidate
    examined: dict[float, Examination] = field(default_factory=dict)  # by roundoff

    def examine(self) -> Examination:
        """Every single fault tried, once for each roundoff."""
        level = self.search.roundoff
        if level not in self.examined:
            self.examined[level] = self.search.one_fault()
        return self.examined[level]


class Case:
    """One file under examination: the readings of it, tried in order of how much they assume."""

    def __init__(
        self,
        fields: dict[str, np.ndarray],
        beliefs: Beliefs,
        max_faults: int,
        progress: Progress | None,
        max_scores: int = MAX_SCORES,
    ) -> None:
        """Read the fields in every way that fits; InputError if none does. Large ones are sampled."""
        self.fields, self.beliefs = fields, beliefs
        self.max_faults = max_faults
        self.progress = progress or _untold
        self.fine, self.coarse = suggested_roundoffs(fields)
        all_readings = readings(fields, beliefs)[:MAX_READINGS]
        parts = [part_of(r.problem, r.targets, max_scores) for r in all_readings]
        self.sample_note = parts[0].sentence
        self.readings = [
            replace(reading, problem=part.problem, targets=part.targets)
            for reading, part in zip(all_readings, parts, strict=True)
        ]

    def diagnosis(self) -> Diagnosis | None:
        """The verdict; None if nothing explains the whole file, nor the output without its weights."""
        answer = self._decide(self.readings)
        if answer is None and any(len(reading.targets) > 1 for reading in self.readings):
            answer = self._decide([only_output(reading) for reading in self.readings])
        return answer

    def _decide(self, candidates: Sequence[Reading]) -> Diagnosis | None:
        """Right before one fault before two; the finest arithmetic that the numbers suggest first."""
        self.progress(0.0, "the right computation")
        found = [self.start(reading, self.fine) for reading in candidates]
        levels = [self.fine] if self.coarse <= self.fine else [self.fine, self.coarse]
        for level in levels:
            for one in found:
                one.search.roundoff = level
            answer = self._right(found) or self.one_fault(found)
            if answer:
                return answer
        answer = self._nearly_right(found)
        if answer:
            return answer
        return self._two_faults(found[:2], levels) if self.max_faults > 1 else None

    def at_a_glance(self) -> Diagnosis | None:
        """Right, or one fault that nothing has to be fitted for, in the finest arithmetic."""
        found = [self.start(reading, self.fine) for reading in self.readings]
        return self._right(found) or self._best_of(found, self._single_candidates)

    def start(self, reading: Reading, roundoff: float) -> Found:
        """A search for what made this reading's numbers, from the right computation on."""
        search = Search(reading.problem, reading.targets, roundoff)
        return Found(reading, search, search.right())

    # --- right ---

    def _right(self, found: Sequence[Found]) -> Diagnosis | None:
        accepted = [one for one in found if one.search.accepts(one.right)]
        if not accepted:
            return None
        best = min(one.right.roundoff for one in accepted)
        one = next(one for one in accepted if one.right.roundoff <= AS_GOOD * best)
        self.progress(0.2, "what this data cannot show")
        examination = one.examine()
        if better := self._far_better(one, examination):
            return self._fault(one, better)
        if one.right.dead_rows == "NaN":
            return self._dead_rows(one, one.right)
        return self._correct(one, examination, found)

    def _far_better(self, one: Found, examination: Examination) -> list[Candidate]:
        """A fault that reproduces the file to its last bits while the right way only nearly does."""
        if one.right.roundoff <= one.search.roundoff:
            return []
        visible = {
            id(c) for c in examination.visible if c.label not in wording.NUMBER_FORMAT
        }  # the others differ from the right way by rounding only
        candidates = [c for c in examination.candidates if any(id(choice) in visible for choice in c.faults)]
        tied = one.search.ties(candidates)
        return tied if tied and min(c.roundoff for c in tied) < one.right.roundoff / 4 else []

    def _correct(self, one: Found, examination: Examination, found: Sequence[Found]) -> Diagnosis:
        state = run(one.reading.problem, one.right.choices)
        hidden = hidden_headlines(one.reading, examination.invisible)
        not_tested = reasons(one.reading, hidden or examination.invisible, state)
        notes = (*one.reading.notes, *one.right.conventions, *self._weights_note(one, state))
        if hidden:
            message = f"{wording.NOT_TOLD} {self._closeness(one)}{self._of_more_keys(one, found)}"
            return self.answer("undetermined", message, one, notes=notes, not_tested=not_tested)
        condition = wording.condition(one.reading.problem)
        message = f"{wording.RIGHT}{condition}. {self._closeness(one)}"
        return self.answer("correct", message, one, notes=notes, not_tested=not_tested, condition=condition)

    def _of_more_keys(self, one: Found, found: Sequence[Found]) -> str:
        """What comes out in another order of the axes, where this one leaves a single key; else ""."""
        if one.reading.problem.n_k > 1:
            return ""
        others = [other for other in found if other.reading.problem.n_k > 1]
        if any(other.search.accepts(other.right) for other in others):
            return ""
        answer = self._best_of(others, self._single_candidates)
        if answer is None:
            return ""
        return wording.otherwise(f"say that the axes are {AXES[others[0].reading.layout]}", answer.message)

    def _closeness(self, one: Found) -> str:
        stored_finer = self.fine < one.search.roundoff < one.right.roundoff * 16
        return wording.closeness(one.right.max_error, stored_finer)

    def _weights_note(self, one: Found, state: State) -> tuple[str, ...]:
        """What weights of another shape are, if they can be recognised."""
        weights = one.reading.other_weights
        if weights is None:
            return ()
        mean = state.weights.mean(1)
        if weights.shape in (mean.shape, mean.shape[1:]):
            apart = np.abs(weights.reshape(mean.shape) - mean).max(initial=0.0)
            if apart <= 64 * max(self.fine, self.coarse):
                return (wording.MEAN_WEIGHTS,)
        return (wording.OUTPUT_ONLY,)

    def _dead_rows(self, one: Found, candidate: Candidate) -> Diagnosis:
        dead = Choice("dead", RIGHT["dead"].compute, "mask.fully_masked_row")
        problem, layout = one.reading.problem, one.reading.layout
        explanation = wording.explanation((dead,), candidate.max_error, problem, layout)
        return self.answer(
            "fault", wording.DEAD_ROWS, one, explanations=[explanation], notes=one.reading.notes
        )

    def _nearly_right(self, found: Sequence[Found]) -> Diagnosis | None:
        """Agreement to about three digits, and no fault nearer: a coarser arithmetic inside."""
        near = [
            one for one in found if one.right.roundoff <= 4 * TENSOR_CORE and one.right.dead_rows != "NaN"
        ]
        if not near or self.fine >= TENSOR_CORE:
            return None
        one = min(near, key=lambda f: f.right.roundoff)
        if any(c.roundoff < 0.5 * one.right.roundoff for c in one.examine().candidates if c.faults):
            return None
        part = one.search.small
        notes = (*one.reading.notes, *one.right.conventions)
        if not explained_by_rounding(part.problem, one.right.choices, part.targets):
            return self._too_rough(one, notes)
        message = wording.nearly_right(one.right.roundoff, self._closeness(one))
        return self.answer("correct", message, one, notes=notes)

    def _too_rough(self, one: Found, notes: Iterable[str]) -> Diagnosis:
        """As close as half precision gives, but no half precision gives these numbers."""
        message, why = wording.too_rough(one.right.roundoff, self._closeness(one))
        return self.answer("undetermined", message, one, notes=notes, not_tested=[why])

    # --- faults ---

    def one_fault(self, found: Sequence[Found]) -> Diagnosis | None:
        """One known fault that explains a reading, or one with a number that has to be fitted."""
        return self._best_of(found, self._single_candidates) or self._best_of(found, self._fitted_candidates)

    def _single_candidates(self, one: Found) -> list[Candidate]:
        self.progress(0.3, "single faults")
        return one.search.ties(one.examine().candidates)

    def _fitted_candidates(self, one: Found) -> list[Candidate]:
        self.progress(0.5, "unusual numbers")
        for group in fitted_choices(one.search.small, one.search.exact):
            fitted = [one.search.assess([choice]) for choice in group]
            if ties := one.search.ties([candidate for candidate in fitted if candidate]):
                return ties
        return []

    def _two_faults(self, found: Sequence[Found], levels: Sequence[float]) -> Diagnosis | None:
        """Pairs are looked for once, at the coarsest level, and judged at the finest first."""
        if any(one.search.large for one in found):
            self.sample_note = " ".join(filter(None, (self.sample_note, wording.FEW_PAIRS)))
        pairs = [self._pair_candidates(one) for one in found]
        for level in levels:
            for one in found:
                one.search.roundoff = level
            by_search = {id(one): one.search.ties(some) for one, some in zip(found, pairs, strict=True)}
            if answer := self._best_of(found, lambda one, by_search=by_search: by_search[id(one)]):
                return answer
        return None

    def _pair_candidates(self, one: Found) -> list[Candidate]:
        examination = one.examine()
        choices = [c for c in examination.visible if c.label not in wording.NUMBER_FORMAT]
        if any(not np.isfinite(target.array).all() for target in one.reading.targets):  # something overflowed
            both = (*examination.visible, *examination.invisible)
            choices += [c for c in both if c.label in wording.NUMBER_FORMAT]
        return one.search.two_faults(choices, lambda part, what: self.progress(0.5 + part / 2, what))

    def _best_of(
        self, found: Sequence[Found], candidates_of: Callable[[Found], list[Candidate]]
    ) -> Diagnosis | None:
        """The likeliest reading among those that fit as well as the best; the others' are told too.

        Which of several exact explanations has the least round-off is chance: it must not choose.
        """
        explained = [(one, ties) for one in found if (ties := candidates_of(one))]
        if not explained:
            return None
        best = min(c.roundoff for _, ties in explained for c in ties)
        limit = max(AS_GOOD * best, found[0].search.exactly)
        equal = [(one, ties) for one, ties in explained if min(c.roundoff for c in ties) <= limit]
        (one, ties), *others = sorted(equal, key=lambda pair: _is_another_layout(pair[1]))
        return self._fault(one, ties, others)

    def _fault(
        self,
        one: Found,
        ties: Sequence[Candidate],
        others: Sequence[tuple[Found, Sequence[Candidate]]] = (),
    ) -> Diagnosis:
        """The explanations of one reading, then what `others` make of the same numbers."""
        if all(candidate.dead_rows == "NaN" and not candidate.faults for candidate in ties):
            return self._dead_rows(one, ties[0])
        explanations: dict[frozenset[str], Explanation] = {}
        for of, candidates in ((one, ties), *others):
            reading = "; ".join(note for note in of.reading.notes if note not in one.reading.notes)
            for candidate in candidates:
                explained = wording.explanation(
                    candidate.faults, candidate.max_error, of.reading.problem, of.reading.layout, reading
                )
                explanations.setdefault(frozenset(candidate.labels), explained)
        message = wording.fault_message(list(explanations.values()), dead=ties[0].dead_rows == "NaN")
        invisible = one.examine().invisible
        return self.answer(
            "fault",
            message,
            one,
            explanations=explanations.values(),
            notes=(*one.reading.notes, *ties[0].conventions),
            not_tested=reasons(one.reading, hidden_headlines(one.reading, invisible)),
        )

    def answer(
        self,
        verdict: str,
        message: str,
        one: Found,
        *,
        explanations: Iterable[Explanation] = (),
        notes: Iterable[str] = (),
        not_tested: Iterable[str] = (),
        condition: str = "",
    ) -> Diagnosis:
        """What is told of one reading."""
        problem = one.reading.problem
        facts = {
            "batch": problem.batch,
            "n_heads": problem.n_heads,
            "n_kv_heads": problem.n_kv_heads,
            "n_q": problem.n_q,
            "n_k": problem.n_k,
            "d_k": problem.d_k,
            "d_v": problem.d_v,
            "causal": problem.causal,
        }
        self.progress(1.0, "done")
        return Diagnosis(
            verdict,
            message,
            tuple(explanations),
            tuple(not_tested),
            tuple(notes),
            one.right.max_error if np.isfinite(one.right.max_error) else None,
            self.sample_note,
            facts,
            condition,
        )


def _is_another_layout(ties: Sequence[Candidate]) -> bool:
    """Attention over the heads is also what right code looks like whose axes are read in another order."""
    return all("heads.attends_over_heads" in candidate.labels for candidate in ties)


def _untold(_fraction: float, _what: str) -> None:
    """Progress that nobody asked for."""
