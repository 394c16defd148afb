"""A points-to analysis of bytecode: 120 rules, half of them one relation for each kind of instruction, and mutually recursive ones of four to nine atoms."""

from collections.abc import Iterator

from benchmarks.data.bytecode import BYTECODE_RULES, bytecode
from benchmarks.harness import Experiment, Settings, Target
from benchmarks.systems import runs
from benchmarks.workload import Workload

CLASSES = (300, 1_000, 6_000)
"""100,000, 320,000 and 1.9 million facts."""
COUNTED = ("reachable", "callEdge", "pointsTo", "fieldPointsTo", "elementPointsTo", "escapes", "failingCast")


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield programs of 300 to 6,000 classes, with what `decompose="auto"` chooses, with standard plans, and with Nemo."""
    warm = workload(40).write(settings.data / "bytecode-40", csv=False)
    for classes in CLASSES[:1] if settings.small else CLASSES:
        made = workload(classes)
        folder = made.write(settings.data / f"bytecode-{classes}")
        yield Experiment(
            question="points-to analysis of bytecode",
            size=f"{classes:,} classes",
            facts=len(made),
            runs=(
                *runs.modulog(folder, warm),
                *runs.modulog(folder, warm, threads=(1,), decompose="off"),
                *runs.nemo(folder),
            ),
            named=classes == CLASSES[-1],
            targets=(Target(1.2, "Modulog, standard"), Target(1.0, "Nemo")),
        )


def workload(classes: int) -> Workload:
    """The analysis of a program of so many classes."""
    return Workload(BYTECODE_RULES, bytecode(classes), COUNTED)
