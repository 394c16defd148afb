"""Linear transitive closure by the general engine: a random DAG, and graphs that are hard in other ways."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import chain, cliques, dag, digraph
from benchmarks.harness import Experiment, Settings, Target
from benchmarks.systems import runs
from benchmarks.workload import Workload

RULES = """\
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."""

SQL = """\
CREATE TABLE path AS WITH RECURSIVE path(c0, c1) AS (
    SELECT c0, c1 FROM edge
    UNION
    SELECT path.c0, edge.c1 FROM path JOIN edge ON edge.c0 = path.c1
) SELECT * FROM path"""

TARGETS = (Target(1 / 15, "Nemo"), Target(1.0, "Nemo", "peak"))

GRAPHS: Final[Mapping[str, tuple[int, Callable[[int], NDArray[np.int64]]]]] = {
    "DAG": (1_000, lambda n: dag(n, 10 * n)),
    "chain": (200, chain),
    "cliques": (10, lambda k: cliques(k, 50)),
    "digraph": (300, lambda n: digraph(n, 2 * n)),
}
"""For each graph its base size and its generator: ten edges a node, as long as possible, dense, cyclic."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield DAGs of 1,000 to 10,000 nodes, chains to 2,000, digraphs to 3,000, and up to 100 cliques."""
    for graph, (base, make) in GRAPHS.items():
        warm = _workload(make(50)).write(settings.data / f"{graph}-warm")
        for scale in settings.scales:
            workload = _workload(make(base * scale))
            folder = workload.write(settings.data / f"{graph}-{base * scale}")
            yield Experiment(
                question=f"closure, {graph}",
                size=f"{base * scale:,} " + ("cliques of 50" if graph == "cliques" else "nodes"),
                facts=len(workload),
                runs=(
                    *runs.modulog(folder, warm),
                    *runs.duckdb(folder),
                    *runs.nemo(folder),
                    *(runs.clingo(folder) if scale == 1 else ()),
                ),
                named=scale == 10 and graph == "DAG",
                targets=TARGETS,
                expected=_expected(graph, base * scale),
            )


def _expected(graph: str, n: int) -> dict[str, int]:
    """What is known without computing it."""
    if graph == "chain":
        return {"path": n * (n - 1) // 2}
    return {"path": n * 50 * 50} if graph == "cliques" else {}


def _workload(edges: NDArray[np.int64]) -> Workload:
    return Workload(RULES, {"edge": edges}, ("path",), {"rules": (SQL,)})
