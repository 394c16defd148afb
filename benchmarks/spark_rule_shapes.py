"""10 against 100 copy, inverse, domain, range and chain rules on the same facts: what rules cost that share their evaluation."""

from collections.abc import Iterator
from typing import Literal

from benchmarks.data import rule_shapes
from benchmarks.harness import Experiment, Settings
from benchmarks.systems import runs
from benchmarks.workload import Workload

BASE = 100_000


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield 100,000 to 1,000,000 facts of 20 predicates, even and skewed in size, with 10 rules and with 100."""
    kinds: tuple[Literal["even", "skewed"], ...] = ("skewed", "even")
    for kind in kinds:
        for scale in settings.scales:
            facts = BASE * scale
            for rules in (10, 100):
                warm = _workload(rules, 10_000, kind).write(settings.data / f"shapes-{kind}-{rules}-10000")
                workload = _workload(rules, facts, kind)
                folder = workload.write(settings.data / f"shapes-{kind}-{rules}-{facts}")
                yield Experiment(
                    question=f"rules of five shapes, {kind} predicates",
                    size=f"{rules} rules, {facts:,} facts",
                    facts=len(workload),
                    runs=runs.spark(folder, warm),
                    named=scale == 10,
                )


def _workload(rules: int, facts: int, kind: Literal["even", "skewed"]) -> Workload:
    text, relations = rule_shapes(rules, facts, kind)
    heads = tuple(line.partition("(")[0] for line in text.splitlines())
    return Workload(text, relations, heads)
