"""Run benchmarks: ``python -m benchmarks [names…] [--small|--full] [--time-limit S]``."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks import report
from benchmarks.harness import Question, Run, Settings, measure
from benchmarks.outcome import Outcome

NAMES = (
    "startup",
    "same_generation",
    "closure",
    "joins",
    "loading",
    "rdf_loading",
    "ontology",
    "rule_chain",
    "store",
    "maintenance",
    "updates",
    "closures",
    "hypertree",
    "points_to",
    "threads",
    "duckdb",
)
SPARK = (
    "spark_task",
    "spark_triples",
    "spark_rule_shapes",
    "spark_recursion",
    "spark_closure",
    "spark_memory",
    "spark_pipeline",
)
RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: list[str] | None = None) -> None:
    """Measure what the command line asks for, show tables, and keep JSON lines."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if Console().is_terminal else 200)
    with TemporaryDirectory() as temporary:
        settings = _settings(options, options.data or Path(temporary))
        path = report.results_file(RESULTS)
        report.show_machine(console)
        for name in options.names or (SPARK if options.spark else NAMES):
            folder = settings.data / name  # of its own: some call different data by the same name
            folder.mkdir(parents=True, exist_ok=True)
            _answer(name, replace(settings, data=folder), path, console)
        console.print(f"JSON lines: {path}")


def _answer(name: str, settings: Settings, path: Path, console: Console) -> None:
    module = import_module(f"benchmarks.{name}")
    question: Question = module.experiments
    table, measured = report.new_table(name), []
    with path.open("a", encoding="utf-8") as file, console.status(name) as status:
        for experiment in question(settings):
            what = f"{experiment.question}, {experiment.size}"
            if (settings.named_only and not experiment.named) or settings.only.lower() not in what.lower():
                continue
            status.update(what)

            def tell(run: Run, outcome: Outcome, what: str = what) -> None:
                status.update(f"{what}: {run.system} {outcome.problem or f'{outcome.seconds:.2f} s'}")

            results = measure(experiment, settings, tell)
            report.write_lines(file, experiment, results)
            report.add_rows(table, experiment, results)
            measured.append((experiment, results))
    for shown in module.tables(measured) if hasattr(module, "tables") else (table,):
        console.print(shown)


def _settings(options: argparse.Namespace, data: Path) -> Settings:
    systems = options.systems.lower().split(",") if options.systems else None
    shapes: Mapping[bool, tuple[tuple[int, ...], float, float]] = {
        True: ((1,), 20.0, 1.0),
        False: ((1, 3, 10), 600.0, 10.0),
    }
    scales, time_limit, short = shapes[options.small]
    return Settings(
        scales=(10,) if options.named else scales,
        time_limit=options.time_limit or time_limit,
        repetitions=1 if options.once or options.small else 3,
        short=short,
        data=data.resolve(),
        families=frozenset(systems) if systems else None,
        named_only=options.named,
        only=options.only,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES + SPARK)}")
    parser.add_argument(
        "--spark", action="store_true", help="those of Spark; without names, all others are run"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--small", action="store_true", help="the base size, each run once and for at most 20 s"
    )
    size.add_argument("--full", action="store_true", help="1, 3 and 10 times the base size (the default)")
    size.add_argument(
        "--named", action="store_true", help="only 10 times the base size, which targets speak of"
    )
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for each run")
    parser.add_argument(
        "--systems",
        metavar="A,B",
        help="only these: modulog, duckdb, nemo, clingo, pyarrow, pyoxigraph, reasonable, owlrl",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="only what has this in its question or size, such as 'chain'",
    )
    parser.add_argument("--once", action="store_true", help="no repetitions of short runs")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="keep generated data here, and use what is there"
    )
    return parser


if __name__ == "__main__":
    main()
