"""The storage paper: closures in four insertions, whole programs, and queries, with compact storage and without."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from benchmarks.closures import DBPEDIA, TRANSITIVE
from benchmarks.data.ontologies import ontology_file, ontology_rules, vocabulary
from benchmarks.data.relations import relations
from benchmarks.data.skos import categories
from benchmarks.data.thesaurus import QUERIES, quarters, subjects, thesaurus, thesaurus_rules
from benchmarks.harness import Run
from benchmarks.maintenance import PAPERS
from benchmarks.outcome import Outcome
from benchmarks.papers.case import MB, SMALL_CHANGE, Case, Settings, folders, of_step, record
from benchmarks.papers.figures import PEAK, RESTING, TABLES
from benchmarks.papers.journal import Record
from benchmarks.workload import Workload

API: Final = "benchmarks.systems.storage_api"

TECHNIQUES: Final = {
    "Standard": {"modules": "off", "storage": "plain"},
    "TCModule": {"modules": "auto", "storage": "plain"},
    "TCScheme": {"modules": "auto", "storage": "auto"},
    "MultiScheme": {"modules": "auto", "storage": "auto"},
}
LISTED: Final = {"Standard": TECHNIQUES["TCModule"], "MultiScheme": TECHNIQUES["MultiScheme"]}
"""For queries it matters how facts are kept, not how they were derived."""

STEPS: Final = {
    "materialisation": "materialise",
    "first insertion": "materialise",
    "second insertion": "insertion 1",
    "third insertion": "insertion 2",
    "fourth insertion": "insertion 3",
}
"""The paper's tasks, and the steps of a runner, where their names differ."""

BROADER: Final = {"broader, small": 16_000, "broader, large": 143_000}
"""Edges for each unit of size, so that ten units are the paper's."""

SMALL: Final = 8_000
"""Pairs of broader categories in the small workloads that load kernels before each measurement."""


def cases(settings: Settings, size: int) -> Iterator[Case]:
    """Tables 1, 2 and 3 at one size; ten is the paper's number of edges."""
    yield from _insertions(settings, size)
    yield from _programs(settings, size)
    if settings.wants("storage 3", "DB50%"):
        yield from _queries(settings, size)


def _insertions(settings: Settings, size: int) -> Iterator[Case]:
    """Table 1: a closure, and three insertions of a thousand edges."""
    warm = Workload(TRANSITIVE, {"edge": np.concatenate(list(categories(16_000)))}, ("path",))
    for benchmark, edges in BROADER.items():
        if not settings.wants("storage 1", benchmark):
            continue
        facts = {"edge": np.concatenate(list(categories(edges * size)))}
        workload = Workload(TRANSITIVE, facts, ("path",))
        given = folders(settings, f"storage {benchmark} {size}", workload, warm)
        for technique in TABLES["storage 1"].techniques:
            change = {"changed": "edge", "sample": SMALL_CHANGE}
            arguments = {**given, **change, "switches": TECHNIQUES[technique]}
            yield _case("storage 1", benchmark, technique, len(workload), "insert", arguments, settings)


def _programs(settings: Settings, size: int) -> Iterator[Case]:
    """Table 2: parts of one set of facts under the SKOS program, DAG-R, and the Relation Ontology."""
    for benchmark, make in _PROGRAMS.items():
        if not settings.wants("storage 2", benchmark):
            continue
        workload, warm = make(size), make(0)
        if workload is None or warm is None:
            continue
        given = folders(settings, f"storage {benchmark} {size}", workload, warm)
        for technique in TABLES["storage 2"].techniques:
            arguments = {**given, "switches": TECHNIQUES[technique]}
            yield _case("storage 2", benchmark, technique, len(workload), "materialise", arguments, settings)


def _skos(size: int, part: int) -> Workload:
    """So many quarters of the facts."""
    counted = ("broaderTransitive", "narrowerTransitive", "semanticRelation", "Concept")
    parts = list(quarters(thesaurus(DBPEDIA * size // 10 or SMALL)))
    return Workload(thesaurus_rules(), parts[part - 1], counted)


def _relations(size: int) -> Workload | None:
    """About 84,600 facts for each unit of size; None without the ontology."""
    if (path := ontology_file("relations")) is None:
        return None
    rules, names = ontology_rules(path)
    blocks = defaultdict(list)
    for iri, rows in relations(vocabulary(path), round(84_580 * size) or 4_000):
        blocks[names[iri]].append(rows)
    facts = {name: np.concatenate(parts) for name, parts in blocks.items() if sum(map(len, parts))}
    return Workload(rules, facts, tuple(sorted(facts)))


_PROGRAMS: Final[Mapping[str, Callable[[int], Workload | None]]] = {
    "DB25%": lambda size: _skos(size, 1),
    "DB50%": lambda size: _skos(size, 2),
    "DB75%": lambda size: _skos(size, 3),
    "DBAll": lambda size: _skos(size, 4),
    "DAG-R": lambda size: PAPERS["DAG-R"](1_000 * size or 1_000),
    "Relations": _relations,
}
"""The workload of a size, and for 0 one that loads kernels."""


def _queries(settings: Settings, size: int) -> Iterator[Case]:
    """Table 3: the paper's 22 queries over half of the facts."""
    counted = ("narrowerTransitive", "semanticRelation")
    workload, warm = (
        Workload(made.rules, {**made.facts, **subjects(made.facts)}, counted)
        for made in (_skos(size, 2), _skos(0, 4))
    )
    given = folders(settings, f"storage queries {size}", workload, warm)
    for technique, switches in LISTED.items():
        arguments = {**given, "switches": switches, "queries": QUERIES}
        yield _case("storage 3", "DB50%", technique, len(workload), "answer", arguments, settings)


def _case(
    table: str,
    benchmark: str,
    technique: str,
    facts: int,
    runner: str,
    arguments: Mapping[str, object],
    settings: Settings,
) -> Case:
    limit = settings.time_limit
    run = Run("Modulog", 1, f"{API}:{runner}", {**arguments, "limit": limit}, repeated=False)
    return Case(
        table,
        benchmark,
        technique,
        facts,
        run,
        lambda o: records(table, benchmark, technique, facts, o, limit),
    )


def records(
    table: str, benchmark: str, technique: str, facts: int, outcome: Outcome, limit: float
) -> list[Record]:
    """What a table says of one technique: a record for each task."""
    found = []
    memory = outcome.details.get("memory", [])
    for place, task in enumerate(TABLES[table].tasks):
        measured = of_step(STEPS.get(task, task), outcome, limit)
        if "metrics" in measured and place < len(memory):
            measured["metrics"] |= {PEAK: memory[place]["peak"] / MB, RESTING: memory[place]["resting"] / MB}
        found.append(record(table, benchmark, task, technique, facts, outcome, **measured))
    return found
