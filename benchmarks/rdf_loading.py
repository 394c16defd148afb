"""Loading N-Triples: Modulog into its dictionary and relations, against pyoxigraph, which only parses."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import lubm
from benchmarks.harness import Experiment, Run, Settings, Target
from benchmarks.systems.runs import THREADS

_COUNT = "triples"


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield LUBM with 1 to 10 universities."""
    warm, _ = _file(settings.data, 1)
    for universities in settings.scales:
        path, triples = _file(settings.data, universities)
        yield Experiment(
            question="loading N-Triples",
            size=f"LUBM-{universities}, {triples:,} triples",
            facts=triples,
            runs=_runs(str(path), str(warm)),
            named=universities == 10,
            targets=(Target(3.0, "pyoxigraph"),),
            expected={"triples": triples},
        )


def _runs(path: str, warm: str) -> tuple[Run, ...]:
    found = []
    for materialised, name in ((False, "Modulog"), (True, "Modulog, materialised")):
        arguments = {"path": path, "warm": warm, "materialised": materialised}
        found += [Run(name, n, "benchmarks.systems.modulog_api:load_rdf", arguments) for n in THREADS]
    parsed = {"path": path}
    return (
        *found,
        *(Run("pyoxigraph", n, "benchmarks.systems.pyoxigraph_api:parse", parsed) for n in THREADS),
    )


def _file(folder: Path, universities: int) -> tuple[Path, int]:
    """A file of so many universities and the number of its triples, made unless it is there."""
    path = folder / f"lubm-{universities}.nt"
    count = path.with_suffix(f".{_COUNT}")
    if not count.exists():
        folder.mkdir(parents=True, exist_ok=True)
        count.write_text(str(lubm(path, universities)), encoding="utf-8")
    return path, int(count.read_text(encoding="utf-8"))
