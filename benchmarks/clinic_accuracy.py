"""How often the clinic names the fault, and whether it ever accuses right code.

    python -m benchmarks.clinic_accuracy [--per-kind 200] [--correct 2000] [--pairs 200] [--kind LABEL]

For each kind of fault, random inputs made by an implementation that shares no code with the
clinic (benchmarks/clinic_inputs.py). "named": the label is first or tied for first.
"""

import argparse
import sys
import time
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.clinic_inputs import FAULT_KINDS, Sample, correct_sample, make, random_config, sample
from core.clinic import Diagnosis, diagnose


def named(diagnosis: Diagnosis, labels: Sequence[str]) -> bool:
    """Whether the explanation told first, or one as good, has just these faults."""
    return diagnosis.verdict == "fault" and any(set(found) == set(labels) for found in diagnosis.labels)


def _seeded(*parts: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def kind_result(label: str, count: int) -> tuple[int, Counter[str], float]:
    """-> how many were named, what the others were taken for, the seconds of the slowest."""
    right, others, slowest = 0, Counter(), 0.0
    for index in range(count):
        made = sample(_seeded(label, index), (label,))
        begin = time.perf_counter()
        diagnosis = diagnose(made.fields())
        slowest = max(slowest, time.perf_counter() - begin)
        if named(diagnosis, (label,)):
            right += 1
        else:
            others[_describe(made, diagnosis)] += 1
    return right, others, slowest


def _describe(made: Sample, diagnosis: Diagnosis) -> str:
    config = made.config
    found = "+".join(diagnosis.labels[0]) if diagnosis.labels else diagnosis.verdict
    inside = " inside" if config and config.inside else ""
    return f"{diagnosis.verdict}: {found} [{config.number_format if config else ''}{inside}]"


def correct_result(count: int) -> tuple[Counter[str], list[str]]:
    """-> the verdicts on right code, and each accusation in words."""
    verdicts, accusations = Counter(), []
    for index in range(count):
        made = correct_sample(_seeded("correct", index))
        diagnosis = diagnose(made.fields())
        verdicts[diagnosis.verdict] += 1
        if diagnosis.verdict not in ("correct", "undetermined"):
            accusations.append(
                f"#{index} {made.style!r} {made.config} {made.meta} -> {diagnosis.verdict} "
                f"{diagnosis.labels} {diagnosis.message}"
            )
    return verdicts, accusations


PAIR_PARTS = (
    ("scale.missing", "scale.by_sqrt_d_model", "scale.by_d_k", "scale.by_sqrt_seq"),
    (
        "mask.missing_causal",
        "mask.peeks_one_ahead",
        "mask.filled_with_zero",
        "mask.strict_lower",
        "mask.after_softmax",
    ),
    ("softmax.axis_query", "softmax.flattened"),
    ("blend.k_used_as_v", "blend.weights_transposed", "blend.residual_added"),
    ("score.qk_swapped",),
)


def _random_pair(rng: np.random.Generator) -> tuple[str, str]:
    first, second = rng.choice(len(PAIR_PARTS), size=2, replace=False)
    return str(rng.choice(PAIR_PARTS[first])), str(rng.choice(PAIR_PARTS[second]))


def pair_result(count: int) -> tuple[int, Counter[str]]:
    """-> how many pairs were named, and what the others were taken for."""
    right, others = 0, Counter()
    for index in range(count):
        rng = _seeded("pair", index)
        pair = _random_pair(rng)
        made = pair_sample(rng, pair)
        diagnosis = diagnose(made.fields())
        if named(diagnosis, pair):
            right += 1
        else:
            others[f"{'+'.join(pair)} -> {_describe(made, diagnosis)}"] += 1
    return right, others


def pair_sample(rng: np.random.Generator, pair: tuple[str, str]) -> Sample:
    """Both faults in one input, in a setting where both exist: square, one width, causal, several heads."""
    config = random_config(rng, "scale.by_sqrt_d_model")
    config.n_q, config.d_v, config.causal, config.padding = config.n_k, config.d_k, True, False
    config.number_format = str(rng.choice(["float64", "float32"]))
    config.inside = ""
    return make(config, rng, pair)


def main() -> None:
    """Print the table, the worst kinds first."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--per-kind", type=int, default=200)
    options.add_argument("--correct", type=int, default=2000)
    options.add_argument("--pairs", type=int, default=200)
    options.add_argument("--kind", action="append")
    chosen = options.parse_args()
    rows = []
    for label in chosen.kind or FAULT_KINDS:
        rows.append((label, *kind_result(label, chosen.per_kind)))
        print(f"{label} {rows[-1][1]}/{chosen.per_kind}", file=sys.stderr, flush=True)
    for label, right, others, slowest in sorted(rows, key=lambda row: row[1]):
        rest = "; ".join(f"{n} x {what}" for what, n in others.most_common(4))
        print(f"{right / chosen.per_kind:7.1%}  {label:34s} slowest {slowest:5.2f} s  {rest}", flush=True)
    print(f"kinds at 99 % or better: {sum(r[1] >= 0.99 * chosen.per_kind for r in rows)} of {len(rows)}")
    if chosen.pairs:
        right, others = pair_result(chosen.pairs)
        print(f"pairs named: {right} of {chosen.pairs}", *others.most_common(10), sep="\n  ")
    if chosen.correct:
        verdicts, accusations = correct_result(chosen.correct)
        print(f"right code: {dict(verdicts)}; accusations: {len(accusations)}", *accusations[:20], sep="\n  ")


if __name__ == "__main__":
    main()
