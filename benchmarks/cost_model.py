"""What a full run of a pipeline over executors costs: ``python -m benchmarks.cost_model RESULTS.jsonl``, from what `spark_pipeline` measured.

Every stage costs ``a + b · triples / cores``. The smallest and the largest size on two cores give a and b; those between check them, and so does one core. Then the
same constants say what larger data on a cluster would take, if executors were as fast as these cores and did not wait for each other; what the driver does
alone does not become faster with more of them.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

STAGES: Final = ("start of Spark", "read", "encode", "rules", "save", "sinks")
CLUSTERS: Final = ((10, 16), (100, 16))
"""Nodes, and cores of each."""

TRIPLES: Final = (10**9, 10**11)
DRIVER_BYTES: Final = {"read": 177.0, "save": 6.0}
"""Bytes of each triple that the driver alone reads for checksums: of the sources, and of the files of the store."""

CHECKED: Final = 1.5e9
"""Bytes in a second that the driver compares."""

Seconds = Mapping[str, float]


def main() -> None:
    """Print the constants, how well they hold, and what they say of clusters."""
    console = Console(width=120)
    runs = _runs(Path(sys.argv[1]))
    two = {size: seconds for (size, cores), seconds in runs.items() if cores == 2}
    small, *between, large = sorted(two)
    model = {stage: _fitted(stage, two, small, large) for stage in STAGES}
    console.print(
        _checked(model, runs, [(size, 2) for size in between] + [key for key in runs if key[1] == 1])
    )
    console.print(_foretold(model))


def _runs(path: Path) -> dict[tuple[int, int], Seconds]:
    """The seconds of each stage, by triples and cores."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if run["system"] == "Modulog, Spark, executors" and "full" in run["notes"]:
            seconds = dict(run["notes"]["full"])
            seconds["rules"] = seconds.pop("materialise") - seconds["encode"]
            found[run["facts"], run["threads"]] = seconds
    return found


def _fitted(stage: str, runs: Mapping[int, Seconds], small: int, large: int) -> tuple[float, float]:
    """a and b; a stage that does not grow has no b."""
    low, high = (runs[size][stage] for size in (small, large))
    b = max(0.0, 2 * (high - low) / (large - small))
    return max(0.0, low - b * small / 2), b


def _predicted(constants: tuple[float, float], triples: int, cores: int) -> float:
    return constants[0] + constants[1] * triples / cores


def _checked(
    model: Mapping[str, tuple[float, float]],
    runs: Mapping[tuple[int, int], Seconds],
    others: Sequence[tuple[int, int]],
) -> Table:
    table = Table(title="seconds of a stage: a + b · triples / cores", title_justify="left")
    for name in ("stage", "a, s", "b, µs"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for size, cores in others:
        table.add_column(f"{size:,} on {cores}: predicted", justify="right")
        table.add_column("measured", justify="right")
    for stage in (*STAGES, "all"):
        parts = STAGES if stage == "all" else (stage,)
        a, b = (sum(model[part][i] for part in parts) for i in (0, 1))
        cells = [stage, f"{a:.1f}", f"{b * 1e6:.2f}"]
        for size, cores in others:
            cells.append(f"{sum(_predicted(model[part], size, cores) for part in parts):.1f}")
            cells.append(f"{sum(runs[size, cores][part] for part in parts):.1f}")
        table.add_row(*cells)
    return table


def _foretold(model: Mapping[str, tuple[float, float]]) -> Table:
    table = Table(title="what that says of clusters, in minutes", title_justify="left")
    table.add_column("stage")
    cases = [(n, nodes, cores) for n in TRIPLES for nodes, cores in CLUSTERS]
    for triples, nodes, cores in cases:
        table.add_column(f"{triples:.0e} on {nodes} × {cores} cores", justify="right")
    minutes = {
        stage: [_predicted(model[stage], n, nodes * cores) / 60 for n, nodes, cores in cases]
        for stage in STAGES
    }
    minutes |= {
        f"the driver alone, in {stage}": [n * size / CHECKED / 60 for n, _, _ in cases]
        for stage, size in DRIVER_BYTES.items()
    }
    for name, row in minutes.items():
        table.add_row(name, *(f"{value:,.1f}" for value in row))
    table.add_row("all", *(f"{sum(column):,.1f}" for column in zip(*minutes.values(), strict=True)))
    most = [max(minutes, key=lambda name: minutes[name][i]) for i in range(len(cases))]
    table.add_row("most of it", *most)
    return table


if __name__ == "__main__":
    main()
