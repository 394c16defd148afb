"""Start-up: importing, ``modulog --help``, a first materialisation with and without compiled kernels."""

from collections.abc import Iterator

from benchmarks.data import tree
from benchmarks.harness import Experiment, Run, Settings, Target
from benchmarks.workload import Workload

RULES = """\
sg(?x, ?y) :- parent(?p, ?x), parent(?p, ?y) .
sg(?x, ?y) :- parent(?p, ?x), sg(?p, ?q), parent(?q, ?y) .
below(?x, ?y) :- parent(?x, ?y) .
below(?x, ?z) :- below(?x, ?y), parent(?y, ?z) .
inner(?x) :- parent(?x, ?y) .
leaf(?x) :- parent(?p, ?x), ~inner(?x) .
between(?x, ?z) :- leaf(?x), leaf(?z), sg(?x, ?z), ?x != ?z ."""

_RUNNER = "benchmarks.systems.processes"
_MODULES = {"Modulog": "modulog", "DuckDB": "duckdb", "Nemo": "nmo_python", "clingo": "clingo"}


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield imports, the command line's help, and a first materialisation; all have one size only."""
    yield Experiment(
        question="import",
        size="package",
        facts=0,
        runs=tuple(
            Run(system, 1, f"{_RUNNER}:import_package", {"module": module})
            for system, module in _MODULES.items()
        ),
        named=True,
        targets=(Target(0.3),),
    )
    yield Experiment(
        question="modulog --help",
        size="process",
        facts=0,
        runs=(Run("Modulog", 1, f"{_RUNNER}:show_help", {}),),
        named=True,
        targets=(Target(0.5),),
    )
    workload = Workload(RULES, {"parent": tree(1_000)}, ("sg", "below", "leaf", "between"))
    folder = str(workload.write(settings.data / "startup"))
    yield Experiment(
        question="first materialisation",
        size="process",
        facts=len(workload),
        runs=tuple(
            Run(
                f"Modulog, {state}", 2, f"{_RUNNER}:first_materialisation", {"folder": folder, "state": state}
            )
            for state in ("cold", "warm")
        ),
        named=True,
        targets=(Target(20.0, system="Modulog, cold"),),
    )
