"""A chain of join rules over small relations: what the planner and the engine cost for each rule."""

from collections.abc import Iterator

from benchmarks.data import rule_chain
from benchmarks.harness import Experiment, Settings, Target
from benchmarks.systems import runs
from benchmarks.workload import Workload

BASE = 200
FACTS = 100


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield chains of 200 to 2,000 rules with 100 facts for each predicate."""
    warm = _workload(20).write(settings.data / "rule-chain-20")
    for scale in settings.scales:
        rules = BASE * scale
        workload = _workload(rules)
        folder = workload.write(settings.data / f"rule-chain-{rules}")
        yield Experiment(
            question="chain of join rules",
            size=f"{rules:,} rules",
            facts=len(workload),
            runs=(
                *runs.modulog(folder, warm),
                *runs.duckdb(folder),
                *runs.nemo(folder),
                *runs.clingo(folder),
            ),
            named=scale == 10,
            targets=(Target(1.0),),
            expected={f"p{rules}": FACTS},
        )


def _workload(rules: int) -> Workload:
    text, facts = rule_chain(rules, FACTS)
    sql = tuple(
        f"CREATE TABLE p{i + 1} AS SELECT DISTINCT p{i}.c0, e{i}.c1 FROM p{i} JOIN e{i} ON e{i}.c0 = p{i}.c1"
        for i in range(rules)
    )
    return Workload(text, facts, (f"p{rules}",), {"rules": sql})
