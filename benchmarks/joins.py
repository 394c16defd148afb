"""Nonrecursive joins of three to five atoms, against ``CREATE TABLE AS SELECT DISTINCT`` on integers."""

from collections.abc import Iterator

from benchmarks.data import JOIN_RULES, joins
from benchmarks.harness import Experiment, Settings, Target
from benchmarks.systems import runs
from benchmarks.workload import Workload

SQL = {
    "chain": "SELECT DISTINCT r.c0, t.c1 FROM r JOIN s ON s.c0 = r.c1 JOIN t ON t.c0 = s.c1",
    "triangle": "SELECT DISTINCT r.c0, r.c1, s.c1 AS c2 FROM r JOIN s ON s.c0 = r.c1 "
    "JOIN t ON t.c0 = r.c0 AND t.c1 = s.c1",
    "star": "SELECT DISTINCT hub.c0, hub.c1 FROM hub JOIN u ON u.c0 = hub.c0 JOIN v ON v.c0 = hub.c0 "
    "JOIN w ON w.c0 = hub.c0",
    "projection": "SELECT DISTINCT r.c0, v.c1 FROM r JOIN s ON s.c0 = r.c1 JOIN t ON t.c0 = s.c1 "
    "JOIN u ON u.c0 = t.c1 JOIN v ON v.c0 = u.c1",
}
SEMIJOIN_SQL = "SELECT DISTINCT c0, c1 FROM hub WHERE " + " AND ".join(
    f"EXISTS (SELECT 1 FROM {name} WHERE {name}.c0 = hub.c0)" for name in ("u", "v", "w")
)
HEADS = {"chain": "path", "triangle": "triangle", "star": "star", "projection": "ends"}
BASE = 500_000
TARGETS = (Target(3.0, "DuckDB"),)


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield each kind of join over 500,000 to 5,000,000 facts."""
    for kind in JOIN_RULES:
        warm = workload(kind, 30_000).write(settings.data / f"join-{kind}-30000")
        for scale in settings.scales:
            facts = BASE * scale
            made = workload(kind, facts)
            folder = made.write(settings.data / f"join-{kind}-{facts}")
            yield Experiment(
                question=f"join, {kind} ({len(made.facts)} atoms)",
                size=f"{facts:,} facts",
                facts=len(made),
                runs=(
                    *runs.modulog(folder, warm),
                    *(run for form in made.sql for run in runs.duckdb(folder, form)),
                    *runs.nemo(folder),
                ),
                named=scale == 10,
                targets=TARGETS,
            )


def workload(kind: str, facts: int) -> Workload:
    """Return a join of one kind over so many facts."""
    head = HEADS[kind]
    sql = {"rules": (f"CREATE TABLE {head} AS {SQL[kind]}",)}
    if kind == "star":
        sql["exists"] = (f"CREATE TABLE {head} AS {SEMIJOIN_SQL}",)
    return Workload(JOIN_RULES[kind], joins(kind, facts), (head,), sql)
