"""How often the clinic names the fault, and whether it ever accuses right code.

    python -m benchmarks.clinic_accuracy [time] [kinds] [pairs] [right] [others]
        [--per-kind 200] [--pairs 200] [--correct 2000] [--each 20] [--kind LABEL ...]

For each kind of fault, random inputs made by an implementation that shares no code with the
clinic (benchmarks/clinic_inputs.py), and those of benchmarks/clinic_zoo.py. Half of the faulty ones
do not say which axes are which. "named": the label is first or tied for first. Each section replaces
itself in docs/measured/clinic.md; --kind only prints.
"""

import argparse
import sys
import time
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.clinic_inputs import (
    FAULT_KINDS,
    FORMATS,
    Sample,
    correct_sample,
    make,
    random_config,
    sample,
    says_less,
)
from benchmarks.clinic_report import report
from benchmarks.clinic_zoo import ZOO, draw
from benchmarks.report import Section, Table
from core.clinic import Diagnosis, diagnose

KindRow = tuple[str, int, Counter[str], float]  # the label, how many were named, the others, the slowest


def named(diagnosis: Diagnosis, labels: Sequence[str]) -> bool:
    """Whether the explanation told first, or one as good, has just these faults."""
    return diagnosis.verdict == "fault" and any(set(found) == set(labels) for found in diagnosis.labels)


def _seeded(*parts: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def kind_result(label: str, count: int) -> tuple[int, Counter[str], float]:
    """-> how many were named, what the others were taken for, the seconds of the slowest."""
    right, others, slowest = 0, Counter(), 0.0
    for index in range(count):
        rng = _seeded(label, index)
        made = says_less(sample(rng, (label,)), rng)
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
    unsaid = "" if "layout" in made.meta else f", {config.layout} unsaid"
    return f"{diagnosis.verdict}: {found} [{config.number_format if config else ''}{inside}{unsaid}]"


def correct_result(count: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """-> how often each (verdict, number format) on right code, and each accusation in words."""
    verdicts, accusations = Counter(), []
    for index in range(count):
        made = correct_sample(_seeded("correct", index))
        diagnosis = diagnose(made.fields())
        verdicts[diagnosis.verdict, made.config.number_format] += 1
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
        made = says_less(pair_sample(rng, pair), rng)
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


def others_result(count: int) -> list[tuple[str, int, Counter[str], float]]:
    """For each implementation of the zoo: its name, how many acceptable answers, the others, the slowest."""
    rows = []
    for one in ZOO:
        accepted, others, slowest = 0, Counter(), 0.0
        for seed in range(count):
            fields = draw(one, seed)
            begin = time.perf_counter()
            answer = diagnose(fields)
            slowest = max(slowest, time.perf_counter() - begin)
            if one.accepts(answer.verdict, answer.labels):
                accepted += 1
            else:
                others["+".join(answer.labels[0]) if answer.labels else answer.verdict] += 1
        rows.append((one.name, accepted, others, slowest))
        print(f"{one.name} {accepted}/{count}", file=sys.stderr, flush=True)
    return rows


def large_result(repeats: int = 3) -> list[list[str]]:
    """Seconds at (2, 8, 64, 64), the best of `repeats`: right, one fault, a pair, nothing that is known."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2, 8, 64, 64)).astype(np.float32) for _ in range(3))
    past = np.tri(64, dtype=bool)
    scores = np.einsum("bhid,bhjd->bhij", q, k)

    def out(z: np.ndarray, allowed: np.ndarray = past) -> np.ndarray:
        e = np.exp(np.where(allowed, z - z.max(-1, keepdims=True), -np.inf))
        return e / e.sum(-1, keepdims=True) @ v

    outputs = {
        "right": out(scores / 8),
        "one fault: no scale": out(scores),
        "one fault, fitted: a temperature": out(scores / 5),
        "one fault, found: another mask": out(scores / 8, random.random((64, 64)) < 0.5),
        "two faults: no scale, no mask": out(scores, np.array(True)),
        "two faults: no scale, q added": out(scores) + q,
        "nothing that is known": np.cumsum(out(scores / 8), axis=-2),
    }
    rows = []
    for name, made in outputs.items():
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            answer = diagnose(q=q, k=k, v=v, out=made, layout="BHTD", causal=True)
            times.append(time.perf_counter() - begin)
        found = "+".join(answer.labels[0]) if answer.labels else answer.verdict
        rows.append([name, found, f"{min(times):.2f}"])
    return rows


def _rest(others: Counter[str]) -> str:
    return "; ".join(f"{n} × {what}" for what, n in others.most_common(4))


def kinds_table(rows: Sequence[KindRow], count: int) -> Table:
    """The kinds by how often they were named, the worst first."""
    worst_first = sorted(rows, key=lambda row: (row[1], row[0]))
    cells = [[f"`{name}`", _rest(o), f"{n} / {count}", f"{slow:.2f}"] for name, n, o, slow in worst_first]
    return Table(("kind", "taken for", "named", "slowest, s"), cells)


def kind_rows(labels: Sequence[str], count: int) -> list[KindRow]:
    """kind_result for each label, telling how far it is."""
    rows = []
    for label in labels:
        rows.append((label, *kind_result(label, count)))
        print(f"{label} {rows[-1][1]}/{count}", file=sys.stderr, flush=True)
    return rows


def kinds_section(rows: Sequence[KindRow], count: int) -> Section:
    """Faults by kind."""
    good = sum(row[1] >= 0.99 * count for row in rows)
    about = (
        f"{count} random inputs a kind (shapes, layouts, number formats, masks), made by code that the "
        "clinic does not share; half of them do not say which axes are which. "
        "*Named*: the fault is told first, or tied for first. "
        f"Kinds named in 99 % or more: {good} of {len(rows)}."
    )
    return Section("Single faults", about, ["numpy"], [kinds_table(rows, count)])


def pairs_section(count: int) -> Section:
    """Two faults at once."""
    right, others = pair_result(count)
    about = f"{right} of {count} random pairs were named, both faults and nothing else."
    return Section(
        "Pairs of faults", about, ["numpy"], [f"- {n} × {what}" for what, n in others.most_common()]
    )


def right_section(count: int) -> Section:
    """Right code, by number format."""
    verdicts, accusations = correct_result(count)
    names = sorted({verdict for verdict, _ in verdicts})
    rows = [[name, *(str(verdicts[verdict, name]) for verdict in names)] for name in FORMATS]
    about = (
        f"{count} right implementations in random conventions, layouts and number formats. Accused: "
        f"{len(accusations)}. *Undetermined*: right, and the data could not have shown a common fault."
    )
    return Section("Right code", about, ["numpy"], [Table(("computed in", *names), rows), *accusations])


def others_section(count: int) -> Section:
    """The zoo: every implementation that did not always get an acceptable answer."""
    rows = others_result(count)
    short = [row for row in rows if row[1] < count]
    total = sum(row[1] for row in rows)
    about = (
        f"{len(rows)} other implementations, right and wrong, as people write them, {count} random inputs "
        f"each: {total} of {len(rows) * count} answers were acceptable. The table has the implementations "
        "that got another answer."
    )
    return Section("Other implementations", about, ["numpy"], [kinds_table(short, count)] if short else [])


def large_section() -> Section:
    """How long it takes at (2, 8, 64, 64)."""
    about = "q, k, v (2, 8, 64, 64) in float32, causal, one thread. Asked: one fault in 1 s, two in 5 s."
    return Section("Time", about, ["numpy"], [Table(("input", "found", "seconds"), large_result())])


def main() -> None:
    """Measure and write, or print some kinds, the worst first."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument(
        "sections", nargs="*", help="time, kinds, pairs, right, others; all if none is named"
    )
    options.add_argument("--per-kind", type=int, default=200)
    options.add_argument("--correct", type=int, default=2000)
    options.add_argument("--pairs", type=int, default=200)
    options.add_argument("--each", type=int, default=20)
    options.add_argument("--kind", action="append")
    chosen = options.parse_args()
    if chosen.kind:
        print(kinds_table(kind_rows(chosen.kind, chosen.per_kind), chosen.per_kind).markdown())
        return
    sections = {
        "time": large_section,
        "kinds": lambda: kinds_section(kind_rows(FAULT_KINDS, chosen.per_kind), chosen.per_kind),
        "pairs": lambda: pairs_section(chosen.pairs),
        "right": lambda: right_section(chosen.correct),
        "others": lambda: others_section(chosen.each),
    }
    for name in chosen.sections or sections:
        report(sections[name]())


if __name__ == "__main__":
    main()
