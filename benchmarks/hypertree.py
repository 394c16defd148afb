"""Hypertree decompositions as in their paper's Table 2: standard plans, every rule decomposed, and what `decompose="auto"` chooses."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.data import lubm
from benchmarks.data.collaborators import COLLABORATOR_RULE, collaborators
from benchmarks.data.expressions import expression_rules, expressions
from benchmarks.data.labelled import BODIES, RECURSIVE, labelled_graph, labelled_rules
from benchmarks.data.lubm_cyclic import CYCLIC_RULES, SEEDS
from benchmarks.data.triples import relations
from benchmarks.data.vlog import read_vlog, rules_file
from benchmarks.harness import Experiment, Run, Settings
from benchmarks.hypertree_tables import APART, tables
from benchmarks.systems import runs
from benchmarks.workload import Workload

__all__ = ["experiments", "tables"]

API = "benchmarks.systems.maintenance_api"
RULES = "benchmarks.systems.rules_apart"
SIDES: Final[Mapping[str, str]] = {
    "Modulog": "auto",
    "Modulog, all decomposed": "all",
    "Modulog, standard": "off",
}
SAMPLE = 1_000
COLLABORATORS = {True: ((100, 25), (200, 50), (400, 100)), False: ((500, 125), (1_000, 250), (2_000, 500))}
EXPRESSIONS = {True: ((10, 20), (30, 50)), False: ((75, 75), (150, 150), (300, 300))}
EDGES = {True: (50_000,), False: (1_000_000, 10_000_000)}
UNIVERSITIES = {True: (1,), False: (1, 10)}
JOIN = (
    "SELECT cw.c0, p.c1 FROM cw JOIN ca ON ca.c0 = cw.c0 JOIN {0} p ON p.c0 = cw.c1 "
    "JOIN {0} q ON q.c0 = ca.c1 AND q.c1 = p.c1"
)
SQL = (
    f"CREATE TABLE one AS SELECT * FROM pc UNION {JOIN.format('pc')}",
    f"CREATE TABLE two AS SELECT * FROM one UNION {JOIN.format('one')}",
    "DROP TABLE pc",
    "ALTER TABLE two RENAME TO pc",
)
"""The two rounds in which everything follows."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield possible collaborators, expressions, universities without and with cyclic rules, and the labelled graph."""
    yield from _collaborators(settings)
    for count, values in EXPRESSIONS[settings.small]:
        size = f"{count} expressions, {values} values"
        yield _experiment(
            settings, "Exp", size, expression_workload(count, values), expression_workload(3, 5)
        )
    yield from _universities(settings)
    for edges in EDGES[settings.small]:
        size = f"{edges:,} edges"
        whole = _experiment(
            settings, "labelled graph", size, labelled_workload(edges), labelled_workload(2_000)
        )
        yield whole
        yield _one_by_one(whole)


def _one_by_one(whole: Experiment) -> Experiment:
    """The rules of an experiment each on its own: all of them together have the time of one run."""
    given = {name: whole.runs[0].arguments[name] for name in ("folder", "warm", "limit")}
    sides = [
        Run(system, 1, f"{RULES}:modulog", {**given, "decompose": mode}, repeated=False)
        for system, mode in SIDES.items()
    ]
    del given["warm"]
    peer = Run("DuckDB", 1, f"{RULES}:duckdb", {**given, "threads": 1}, repeated=False)
    return Experiment(APART, whole.size, whole.facts, (*sides, peer), named=whole.named)


def _experiment(settings: Settings, name: str, size: str, made: Workload, warm: Workload) -> Experiment:
    folder = made.write(settings.data / f"hypertree-{name}-{size}".replace(" ", "-"), csv=bool(made.counted))
    warmed = warm.write(settings.data / f"hypertree-{name}-warm".replace(" ", "-"), csv=False)
    given = {"folder": str(folder), "warm": str(warmed), "limit": settings.time_limit * 0.8}
    sides = tuple(
        Run(
            system,
            1,
            f"{API}:maintain",
            {
                **given,
                "modules": "off",
                "maintenance": "auto",
                "sample": SAMPLE,
                "quarter": True,
                "decompose": mode,
                "by_name": True,
            },
            repeated=False,
        )
        for system, mode in SIDES.items()
    )
    peers = runs.nemo(folder) if made.counted else ()
    left_deep = Run("Modulog, left-deep", 1, f"{API}:left_deep", given, repeated=False)
    more = (left_deep, *runs.duckdb(folder, threads=(1,)), *peers) if made.sql else peers
    return Experiment(f"hypertree: {name}", size, len(made), (*sides, *more), named=not settings.small)


def _collaborators(settings: Settings) -> Iterator[Experiment]:
    warm = Workload(COLLABORATOR_RULE, collaborators(8, 4), ("pc",), {"rules": SQL})
    for n, k in COLLABORATORS[settings.small]:
        made = Workload(COLLABORATOR_RULE, collaborators(n, k), ("pc",), {"rules": SQL})
        yield _experiment(settings, "PossibleCollaborator", f"n={n:,}, k={k}", made, warm)


def _universities(settings: Settings) -> Iterator[Experiment]:
    for universities in UNIVERSITIES[settings.small]:
        for name, cyclic in (("LUBM, simple rules", False), ("LUBM, cyclic rules", True)):
            made, warm = university_workload(universities, cyclic), university_workload(1, cyclic, 5_000)
            if made is None or warm is None:
                yield Experiment(f"hypertree: {name}", "no rules: set MODULOG_DATA", 0, ())
                continue
            noun = "university" if universities == 1 else "universities"
            yield _experiment(settings, name, f"{universities} {noun}", made, warm)


def university_workload(universities: int, cyclic: bool, most: int | None = None) -> Workload | None:
    """The LUBM L rules, and perhaps cyclic ones, over so many universities or the first triples of them; None without the rules."""
    if (path := rules_file("LUBM_L.vlog")) is None:
        return None
    added = (*SEEDS, *CYCLIC_RULES) if cyclic else ()
    heads = tuple(rule.partition("(")[0] for rule in CYCLIC_RULES if cyclic)
    with TemporaryDirectory() as folder:
        triples = Path(folder) / "lubm.nt"
        lubm(triples, universities)
        facts = relations(triples.read_text(encoding="utf-8").splitlines()[:most])
    return Workload("\n".join((*read_vlog(path.read_text(encoding="utf-8")), *added)), facts, heads)


def expression_workload(count: int, values: int) -> Workload:
    """Expressions with so many values each."""
    return Workload(expression_rules(), expressions(count, values), ())


def labelled_workload(edges: int) -> Workload:
    """Cyclic rules over a graph with labelled edges."""
    names = tuple(name for name, _, _ in (*BODIES, *RECURSIVE))
    return Workload(labelled_rules(), labelled_graph(edges), names)
