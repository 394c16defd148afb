"""One task of Spark beside the local engine in this process: the same work from files to counts, in a session that is warm."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks import same_generation
from benchmarks.data import lubm
from benchmarks.data.ontologies import ontology_file
from benchmarks.harness import Experiment, Run, Settings

API: Final = "benchmarks.systems.modulog_spark:whole"
NODES: Final = {"wide": 10_000, "deep": 30_000}
"""Same generation with 9.8 and 2.9 million results, the latter in 308 rounds."""
UNIVERSITIES: Final = (1, 10)


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield same generation on a wide and a deep tree, and the rules of LUBM's ontology from N-Triples."""
    for kind, nodes in NODES.items():
        size = nodes // 10 if settings.small else nodes
        made, warm = same_generation.workload(kind, size), same_generation.workload(kind, 100)  # type: ignore[arg-type]
        folder = made.write(settings.data / f"tree-{kind}-{size}")
        given = {
            "rules": str(folder / "rules.rls"),
            "facts": str(folder / "facts"),
            "warm": str(warm.write(settings.data / f"tree-{kind}-100") / "facts"),
            "counted": list(made.counted),
        }
        yield Experiment(f"same generation, {kind} tree", f"{size:,} nodes", len(made), _sides(given))
    ontology = ontology_file("lubm")
    for universities in UNIVERSITIES[:1] if settings.small else UNIVERSITIES:
        if ontology is None:
            yield Experiment("rules of LUBM's ontology", "no ontology: set MODULOG_DATA", 0, ())
            return
        path, warm_path = (settings.data / f"lubm-{n}" / "facts.nt" for n in (universities, 1))
        triples = _triples(path, universities)
        _triples(warm_path, 1)
        given = {"rules": str(ontology), "facts": str(path), "warm": str(warm_path), "counted": []}
        yield Experiment("rules of LUBM's ontology", f"{triples:,} triples", triples, _sides(given))


def _triples(path: Path, universities: int) -> int:
    """Make a file of triples unless it is there; answers how many it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        lubm(path, universities)
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b""))


def _sides(given: dict[str, object]) -> tuple[Run, ...]:
    """The task and the local engine, on two cores each."""
    return (
        Run("Modulog, one task of Spark", 2, API, {**given, "engine": "spark"}),
        Run("Modulog", 2, API, {**given, "engine": "local"}),
    )
