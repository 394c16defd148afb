"""Modules and maintenance as in the papers' Tables 1 and 2: Mat against Mat-Mod, DRed^c against ours.

Also the closure of a DAG from facts to all pairs, chains and cycles (Examples 1 and 2), and cliques that lose and regain a fact.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import chain, dag, lubm, tree
from benchmarks.data.claros import claros
from benchmarks.data.graphs import chorded_cycle, cycle
from benchmarks.data.thesaurus import thesaurus, thesaurus_rules
from benchmarks.data.triples import relations
from benchmarks.data.vlog import read_vlog, rules_file, without_equality
from benchmarks.harness import Experiment, Run, Settings, Target
from benchmarks.maintenance_tables import tables
from benchmarks.systems import runs
from benchmarks.workload import Workload

__all__ = ["experiments", "tables"]

API = "benchmarks.systems.maintenance_api"
SIDES: Final[Mapping[str, Mapping[str, str]]] = {
    "Modulog": {"modules": "auto", "maintenance": "auto"},
    "Modulog, DRed^c": {"modules": "off", "maintenance": "dredc"},
}
SAMPLE = 1_000

LINEAR = """\
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."""
NONLINEAR = """\
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."""
TRANSITIVE = "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) ."
SYMMETRIC = f"{TRANSITIVE}\nr(?y, ?x) :- r(?x, ?y) ."

GROWTH: Final[Mapping[str, tuple[str, Callable[[int], NDArray[np.int64]], tuple[int, ...]]]] = {
    "chain": (TRANSITIVE, chain, (1_000, 3_000, 10_000)),
    "cycle": (SYMMETRIC, cycle, (500, 1_500, 5_000)),
}
"""Examples 1 and 2: the rules, the graph, and the nodes; a fifth of them with --small.

Without modules the last size is left out: the instances of the rules grow with the cube of the nodes, and would take hours.
"""

CLIQUES: Final[Mapping[str, Callable[[int], NDArray[np.int64]]]] = {
    "each fact a bridge": tree,
    "no fact a bridge": chorded_cycle,
}
"""What connects the members of a clique: by a tree every deletion splits it, by a cycle with chords none does."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield the papers' benchmarks, then all pairs of a DAG, chains and cycles, and cliques of 10, 100 and 1,000."""
    yield from _papers(settings)
    yield from _all_pairs(settings)
    yield from _growth(settings)
    yield from _cliques(settings)


def _papers(settings: Settings) -> Iterator[Experiment]:
    for name, make in PAPERS.items():
        scales = (1,) if settings.small else tuple(scale for scale in (1, 10) if scale in settings.scales)
        for scale in scales:
            workload = make(1_000 * scale)
            if workload is None:
                yield Experiment(f"updates: {name}", "no rules: set MODULOG_DATA", 0, ())
                break
            small = make(50)
            assert small is not None
            folder = workload.write(settings.data / f"maintenance-{name}-{scale}", csv=False)
            warm = small.write(settings.data / f"maintenance-{name}-warm", csv=False)
            yield Experiment(
                question=f"updates: {name}",
                size=f"{scale} times",
                facts=len(workload),
                runs=_sides(settings, folder, warm, SAMPLE, quarter=True),
                named=scale == 10,
            )


def _sides(settings: Settings, folder: Path, warm: Path, sample: int, quarter: bool) -> tuple[Run, ...]:
    """Ours, the baseline, and every state from scratch."""
    given = {"folder": str(folder), "warm": str(warm), "sample": sample, "quarter": quarter}
    # The baselines may need hours: a quick look does not wait for them.
    baseline = 0.15 if settings.small else 0.3
    limits = {system: settings.time_limit * (0.8 if system == "Modulog" else baseline) for system in SIDES}
    sides = tuple(
        Run(system, 1, f"{API}:maintain", {**given, **switches, "limit": limits[system]}, repeated=False)
        for system, switches in SIDES.items()
    )
    scratch = {**given, "singles": False, "limit": settings.time_limit * 0.8}
    return (*sides, Run("Modulog, from scratch", 1, f"{API}:from_scratch", scratch, repeated=False))


def _dag_r(size: int) -> Workload:
    return Workload(NONLINEAR, {"edge": dag(size, 10 * size)}, ("path",))


def _skos(size: int) -> Workload:
    return Workload(thesaurus_rules(), thesaurus(10 * size), ("semanticRelation",))


def _lubm_le(size: int) -> Workload | None:
    """A university for each thousand; part of one below."""
    if (path := rules_file("LUBM_LE.vlog")) is None:
        return None
    with TemporaryDirectory() as folder:
        triples = Path(folder) / "lubm.nt"
        lubm(triples, max(size // 1_000, 1))
        lines = triples.read_text(encoding="utf-8").splitlines()
    facts = relations(lines[: 100 * size])
    return Workload("\n".join(read_vlog(path.read_text(encoding="utf-8"))), facts, ("colleagues",))


def _claros_le(size: int) -> Workload | None:
    if (path := rules_file("Claros_LE.vlog")) is None:
        return None
    rules = without_equality(read_vlog(path.read_text(encoding="utf-8")))
    return Workload("\n".join(rules), claros(5 * size), ("relatedPlaces",))


PAPERS: Final[Mapping[str, Callable[[int], Workload | None]]] = {
    "DAG-R": _dag_r,
    "SKOS": _skos,
    "LUBM-LE": _lubm_le,
    "Claros-LE": _claros_le,
}


def _all_pairs(settings: Settings) -> Iterator[Experiment]:
    """The nonlinear rule with modules, from arrays to all pairs, against Nemo's linear rule without its loading."""
    warm = Workload(NONLINEAR, {"edge": dag(50, 500)}, ("path",)).write(settings.data / "pairs-warm")
    for scale in settings.scales:
        edges = {"edge": dag(1_000 * scale, 10_000 * scale)}
        folder = Workload(NONLINEAR, edges, ("path",)).write(settings.data / f"pairs-{scale}", csv=False)
        linear = Workload(LINEAR, edges, ("path",)).write(settings.data / f"pairs-linear-{scale}")
        given = {"folder": str(folder), "warm": str(warm), "modules": "auto", "from_facts": True}
        yield Experiment(
            question="pairs: DAG, facts to all pairs",
            size=f"{1_000 * scale:,} nodes",
            facts=len(edges["edge"]),
            runs=(Run("Modulog", 1, f"{API}:materialise", given), *runs.nemo(linear)),
            named=scale == 10,
            targets=(Target(1 / 50, "Nemo", note="linear form, without its loading"),),
        )


def _growth(settings: Settings) -> Iterator[Experiment]:
    for graph, (rules, make, sizes) in GROWTH.items():
        warm = Workload(rules, {"r": make(20)}, ("r",)).write(settings.data / f"{graph}-warm", csv=False)
        sides = (("Modulog", "auto"), ("Modulog, modules off", "off"))
        for size in (n // 5 for n in sizes) if settings.small else sizes:
            facts = {"r": make(size)}
            folder = Workload(rules, facts, ("r",)).write(settings.data / f"{graph}-{size}", csv=False)
            given = {"folder": str(folder), "warm": str(warm), "from_facts": False}
            yield Experiment(
                question=f"growth: {graph}",
                size=f"{size:,} nodes",
                facts=len(facts["r"]),
                runs=tuple(
                    Run(system, 1, f"{API}:materialise", {**given, "modules": modules})
                    for system, modules in (sides[:1] if size == sizes[-1] else sides)
                ),
                named=True,
                expected={"r": size * (size - 1) // 2 if graph == "chain" else size * size},
            )


def _cliques(settings: Settings) -> Iterator[Experiment]:
    for connected, make in CLIQUES.items():
        short = connected.split()[0]
        warm = Workload(SYMMETRIC, {"r": make(8)}, ("r",)).write(
            settings.data / f"clique-{short}-warm", csv=False
        )
        for members in (10, 100, 1_000):
            facts = {"r": make(members)}
            name = f"clique-{short}-{members}"
            folder = Workload(SYMMETRIC, facts, ("r",)).write(settings.data / name, csv=False)
            yield Experiment(
                question=f"cliques: {connected}",
                size=f"{members:,} members",
                facts=len(facts["r"]),
                runs=_sides(settings, folder, warm, 1, quarter=False),
                named=True,
            )
