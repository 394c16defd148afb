"""Compact storage as in the storage paper's Tables 1, 2 and 3: what is represented against what is listed, in time and memory.

Time is that of materialising, counting and reading 1,000 random rows; memory is what the process has above the same explicit facts with nothing derived. Lists of
billions of pairs are not tried: where only the compact side stands, the other would need more memory than this machine has.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.closures_tables import tables
from benchmarks.data import chain, dag, digraph
from benchmarks.data.relation_ontology import relation_facts, relation_rules
from benchmarks.data.skos import categories
from benchmarks.data.thesaurus import QUERIES, quarters, subjects, thesaurus, thesaurus_rules
from benchmarks.harness import Experiment, Run, Settings
from benchmarks.systems.storage_api import BATCHES
from benchmarks.workload import Workload

__all__ = ["experiments", "tables"]

API = "benchmarks.systems.storage_api"
COMPACT: Final = ("Modulog", {"storage": "auto"})
PLAIN: Final = ("Modulog, plain", {"storage": "plain"})
OFF: Final = ("Modulog, modules off", {"modules": "off"})
Side = tuple[str, Mapping[str, str]]

READS = 1_000
SAMPLE = 1_000

TRANSITIVE = "path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
SYMMETRIC = "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .\nr(?y, ?x) :- r(?x, ?y) ."

CATEGORIES: Final = (160_000, 1_430_000)
"""Edges, as in Table 1."""

DBPEDIA = 2_700_000
"""Pairs of broader categories in the whole of Table 2; its other sizes are random parts of it."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield the named sizes, and sizes that take seconds unless only the named ones are wanted."""
    named = (True,) if settings.named_only else (False,) if settings.small else (False, True)
    for large in named:
        yield from _graphs(settings, large)
        yield from _chains(settings, large)
        yield from _table_2(settings, large)
        yield from _relations(settings, large)
        yield from _cliques(settings, large)
        yield from _queries(settings, large)


def _broader(edges: int) -> NDArray[np.int64]:
    return np.concatenate(list(categories(edges)))


WARM: Final[Mapping[str, Callable[[], NDArray[np.int64]]]] = {
    "DAG-R": lambda: dag(1_000, 10_000),
    "categories": lambda: _broader(16_000),
    "digraph": lambda: digraph(1_000, 40_000),
}
"""Graphs large enough to be represented as the named ones are, so that all kernels are loaded before anything is measured."""


def _graphs(settings: Settings, large: bool) -> Iterator[Experiment]:
    """DAG-R, graphs of categories, and a random digraph."""
    both, alone = (COMPACT, PLAIN), (COMPACT,)
    sizes: list[tuple[str, str, Callable[[], NDArray[np.int64]], tuple[Side, ...]]]
    if large:
        sizes = [
            ("DAG-R", "10,000 nodes", lambda: dag(10_000, 100_000), both),
            ("categories", f"{CATEGORIES[0]:,} edges", lambda: _broader(CATEGORIES[0]), both),
            ("categories", f"{CATEGORIES[1]:,} edges", lambda: _broader(CATEGORIES[1]), alone),
            ("digraph", "40,000 nodes", lambda: digraph(40_000, 1_600_000), alone),
        ]
    else:
        sizes = [
            ("DAG-R", "1,000 nodes", WARM["DAG-R"], both),
            ("categories", "16,000 edges", WARM["categories"], both),
            ("digraph", "1,000 nodes", WARM["digraph"], both),
        ]
    for name, size, make, sides in sizes:
        workload = Workload(TRANSITIVE, {"edge": make()}, ("path",))
        small = Workload(TRANSITIVE, {"edge": WARM[name]()}, ("path",))
        yield _experiment(settings, f"graphs: {name}", size, workload, small, sides, "path", "edge", large)


def _chains(settings: Settings, large: bool) -> Iterator[Experiment]:
    """Rows of a chain are long: ten of them are read."""
    for nodes in (1_000, 10_000, 100_000, 1_000_000) if large else (1_000, 10_000):
        workload = Workload(TRANSITIVE, {"edge": chain(nodes)}, ("path",))
        small = Workload(TRANSITIVE, {"edge": chain(1_000)}, ("path",))
        yield _experiment(
            settings, "chains: chain", f"{nodes:,} nodes", workload, small, (COMPACT,), "path", "edge", large, reads=10, sample=1,
            expected={"path": nodes * (nodes - 1) // 2},
        )  # fmt: skip


def _table_2(settings: Settings, large: bool) -> Iterator[Experiment]:
    """The whole SKOS program on a quarter, a half, three quarters and all of one set of facts."""
    counted = ("broaderTransitive", "narrowerTransitive", "semanticRelation", "Concept")
    facts = thesaurus(DBPEDIA if large else DBPEDIA // 100)
    small = Workload(thesaurus_rules(), thesaurus(8_000), counted)
    for number, part in enumerate(quarters(facts), 1):
        workload = Workload(thesaurus_rules(), part, counted)
        sides = (COMPACT, PLAIN) if number == 1 or not large else (COMPACT,)
        size = f"{number}/4 of {len(facts['broader']):,}"
        yield _experiment(
            settings, "Table 2: SKOS", size, workload, small, sides, "semanticRelation", "broader", large
        )


def _relations(settings: Settings, large: bool) -> Iterator[Experiment]:
    rules = relation_rules()
    if rules is None:
        yield Experiment(
            "Table 2: Relations", "no rules: needs MODULOG_DATA and `modulog rules`", 0, (), large
        )
        return
    facts = {size: relation_facts(rules, size) for size in (500, 40_000 if large else 1_000)}
    given = sorted(next(iter(facts.values())))
    counted = tuple(name for name in given if f"{name}(?x, ?z) :- {name}(?x, ?y), {name}(?y, ?z) ." in rules)
    small, workload = (Workload(rules, found, counted) for found in facts.values())
    size = f"{len(workload):,} facts"
    first = counted[0]
    yield _experiment(
        settings, "Table 2: Relations", size, workload, small, (COMPACT, PLAIN), first, first, large
    )


def _cliques(settings: Settings, large: bool) -> Iterator[Experiment]:
    members, warm = (1_000, 400) if large else (60, 60)
    workload = Workload(SYMMETRIC, {"r": digraph(members, 5 * members)}, ("r",))
    small = Workload(SYMMETRIC, {"r": digraph(warm, 5 * warm)}, ("r",))
    yield _experiment(
        settings, "cliques: clique", f"{members:,} members", workload, small, (COMPACT, OFF), "r", "r", large, reads=100,
        sample=members, expected={"r": members * members},
    )  # fmt: skip


def _queries(settings: Settings, large: bool) -> Iterator[Experiment]:
    """Table 3: the 22 queries of Tables 4 and 5, compact against plain."""
    edges = CATEGORIES[0] if large else 8_000
    facts, small = thesaurus(edges), thesaurus(8_000)
    workload = Workload(
        thesaurus_rules(), {**facts, **subjects(facts)}, ("narrowerTransitive", "semanticRelation")
    )
    warm = Workload(thesaurus_rules(), {**small, **subjects(small)}, workload.counted)
    given = _folders(settings, "queries", f"{edges}", workload, warm)
    yield Experiment(
        question="Table 3: queries",
        size=f"{edges:,} edges",
        facts=len(workload),
        runs=tuple(
            Run(
                side,
                1,
                f"{API}:answer",
                {**given, "switches": dict(switches), "queries": QUERIES},
                repeated=False,
            )
            for side, switches in (COMPACT, PLAIN)
        ),
        named=large,
    )


def _experiment(
    settings: Settings,
    question: str,
    size: str,
    workload: Workload,
    small: Workload,
    sides: tuple[Side, ...],
    rows_of: str,
    changed: str,
    large: bool,
    reads: int = READS,
    sample: int = SAMPLE,
    expected: Mapping[str, int] | None = None,
) -> Experiment:
    workload, small = (_asked(part, changed, reads) for part in (workload, small))
    given = {
        **_folders(settings, question, size, workload, small),
        "rows_of": rows_of,
        "changed": changed,
        "sample": min(sample, len(workload.facts[changed]) // 10) or 1,
    }
    return Experiment(
        question=question,
        size=size,
        facts=len(workload),
        runs=tuple(
            Run(side, 1, f"{API}:represent", {**given, "switches": dict(switches)}, repeated=False)
            for side, switches in sides
        ),
        named=large,
        expected=expected or {},
    )


def _asked(workload: Workload, changed: str, reads: int) -> Workload:
    """The same with random sources, in batches, whose rows will be read."""
    sources = np.random.default_rng(3).permutation(np.unique(workload.facts[changed][:, 0]))[:reads]
    asked = np.column_stack([sources, np.arange(len(sources)) % BATCHES])
    return Workload(workload.rules, {**workload.facts, "asked": asked}, workload.counted)


def _folders(
    settings: Settings, question: str, size: str, workload: Workload, small: Workload
) -> dict[str, Any]:
    """Both workloads written, and the limit of a side: it must end before its process is ended."""
    name = "-".join(f"closures {question} {size}".replace(":", "").replace("/", " of ").split())
    folder: Path = workload.write(settings.data / name, csv=False)
    warm = small.write(settings.data / f"{name}-warm", csv=False)
    return {"folder": str(folder), "warm": str(warm), "limit": settings.time_limit * 0.8}
