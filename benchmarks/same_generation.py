"""Same generation on random trees: a recursive rule of three atoms, few rounds (wide) or hundreds (deep)."""

from collections.abc import Iterator
from typing import Literal

from benchmarks.data import tree
from benchmarks.data.graphs import levels
from benchmarks.harness import Experiment, Settings, Target
from benchmarks.systems import runs
from benchmarks.workload import Workload

RULES = """\
sg(?x, ?y) :- parent(?p, ?x), parent(?p, ?y) .
sg(?x, ?y) :- parent(?p, ?x), sg(?p, ?q), parent(?q, ?y) ."""

SQL = """\
CREATE TABLE sg AS WITH RECURSIVE sg(c0, c1) AS (
    SELECT a.c1, b.c1 FROM parent a JOIN parent b ON a.c0 = b.c0
    UNION
    SELECT a.c1, b.c1 FROM sg JOIN parent a ON a.c0 = sg.c0 JOIN parent b ON b.c0 = sg.c1
) SELECT * FROM sg"""

BASE: dict[Literal["wide", "deep"], int] = {"wide": 1_000, "deep": 3_000}
TARGETS = {
    "wide": (Target(1.0, "DuckDB"), Target(0.1, "Nemo"), Target(4.2, note="compiled Soufflé")),
    "deep": (
        Target(1.5, "DuckDB"),
        Target(0.001, measure="round"),
        Target(1.8, note="compiled Soufflé"),
    ),
}


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield wide trees of 1,000 to 10,000 nodes, then deep ones of 3,000 to 30,000."""
    for kind, base in BASE.items():
        warm = workload(kind, 100).write(settings.data / f"tree-{kind}-100")
        for scale in settings.scales:
            nodes = base * scale
            made = workload(kind, nodes)
            folder = made.write(settings.data / f"tree-{kind}-{nodes}")
            sizes = levels(made.facts["parent"])[1:]
            small = scale == 1
            yield Experiment(
                question=f"same generation, {kind} tree",
                size=f"{nodes:,} nodes",
                facts=len(made),
                runs=(
                    *runs.modulog(folder, warm),
                    *runs.duckdb(folder),
                    *runs.nemo(folder),
                    *(runs.clingo(folder) if small else ()),
                ),
                named=scale == 10,
                targets=TARGETS[kind],
                # Below the root, all nodes of one depth are of one generation.
                expected={"sg": int((sizes**2).sum())},
                rounds=len(sizes),
            )


def workload(kind: Literal["wide", "deep"], nodes: int) -> Workload:
    """Return same generation on a tree of so many nodes."""
    return Workload(RULES, {"parent": tree(nodes, kind)}, ("sg",), {"rules": (SQL,)})
