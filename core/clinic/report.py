"""What the clinic answers: a verdict, the explanations, and what this data cannot tell."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

EXIT_CODES = {"correct": 0, "fault": 1, "unexplained": 1, "undetermined": 2, "bad_input": 3}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One computation that reproduces the output: its faults, and where each is taught."""

    faults: tuple[str, ...]  # labels, "step.kind"
    details: tuple[str, ...]  # the variant of each, "" if there is one way only
    titles: tuple[str, ...]
    faulty_lines: tuple[str, ...]
    right_lines: tuple[str, ...]
    pages: tuple[str, ...]
    max_error: float  # the largest difference to the handed-in numbers
    number_format: bool = False  # right in exact arithmetic: the number format overflowed
    if_meant: str = ""  # a sentence: what makes it right, if it is no mistake
    often_meant: bool = False  # right code does it too: it was only not stated
    settings: Mapping[str, object] = field(default_factory=dict)  # ... of diagnose(), to be stated then
    reading: str = ""  # what else has to be assumed of the file, if it is not what the others assume

    @property
    def steps(self) -> tuple[str, ...]:
        """The step of each fault."""
        return tuple(label.split(".")[0] for label in self.faults)

    def as_dict(self) -> dict[str, object]:
        """Plain values, as in the JSON."""
        return {
            "faults": list(self.faults),
            "step": ", ".join(dict.fromkeys(self.steps)),
            "max_error": self.max_error if self.max_error < float("inf") else None,
            "page": self.pages[0] if self.pages else "clinic",
            "details": list(self.details),
            "titles": list(self.titles),
            "faulty_lines": list(self.faulty_lines),
            "right_lines": list(self.right_lines),
            "pages": list(self.pages),
            "number_format": self.number_format,
            "reading": self.reading,
            "if_meant": self.if_meant,
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer of the clinic."""

    verdict: str  # correct, fault, unexplained, undetermined, bad_input
    message: str
    explanations: tuple[Explanation, ...] = ()  # fewest faults first; several = they explain it equally
    not_tested: tuple[str, ...] = ()  # "step: why this data cannot show it"
    notes: tuple[str, ...] = ()  # conventions that were read from the data
    max_error: float | None = None  # of the right computation
    sampled: str = ""  # what part of large input was searched
    facts: dict[str, object] = field(default_factory=dict)  # shapes and settings that were understood
    condition: str = ""  # ", if ...": what a correct verdict rests on

    @property
    def exit_code(self) -> int:
        """What the command exits with."""
        return EXIT_CODES[self.verdict]

    @property
    def labels(self) -> list[list[str]]:
        """The faults of each explanation."""
        return [list(explanation.faults) for explanation in self.explanations]

    def as_dict(self) -> dict[str, object]:
        """Plain values, as in the JSON."""
        return {
            "verdict": self.verdict,
            "explanations": [explanation.as_dict() for explanation in self.explanations],
            "not_tested": list(self.not_tested),
            "message": self.message,
            "notes": list(self.notes),
            "max_error": self.max_error,
            "sampled": self.sampled,
            "condition": self.condition.removeprefix(", "),
        }

    def as_json(self) -> str:
        """The answer as JSON text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def as_text(self) -> str:
        """The answer as lines for a terminal."""
        lines = [self.verdict.upper() + self.condition, self.message]
        for number, explanation in enumerate(self.explanations, 1):
            for parts in zip(
                explanation.faults, explanation.details, explanation.titles, explanation.faulty_lines,
                explanation.right_lines, explanation.pages, strict=True,
            ):  # fmt: skip
                lines.extend(_fault_lines(number, *parts))
            if explanation.if_meant:
                lines.append(f"     {explanation.if_meant}")
            if explanation.reading:
                lines.append(f"     if your file means this: {explanation.reading}")
            if self.verdict == "fault":
                lines.append(f"     largest difference to your numbers: {explanation.max_error:.2g}")
        lines.extend(f"Read as: {note}" for note in self.notes)
        lines.extend(f"Not tested: {reason}" for reason in self.not_tested)
        if self.sampled:
            lines.append(self.sampled)
        return "\n".join(lines)

    def __str__(self) -> str:
        """As `as_text`, so that printing a diagnosis shows it."""
        return self.as_text()


def _fault_lines(
    number: int, label: str, detail: str, title: str, faulty: str, right: str, page: str
) -> list[str]:
    lines = [f"  {number}. {label}: {title}" + (f" ({detail})" if detail else "")]
    if faulty:
        lines += [f"     faulty: {faulty}", f"     right:  {right}"]
    return [*lines, f"     taught on the page: {page}"]
