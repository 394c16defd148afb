"""Measure what the papers measured, and write the report: ``python -m benchmarks.papers [--report] [--sizes 1,10] [--time-limit S] [--memory GB]``.

A run that was stopped goes on where it was: what is in the JSON lines is not measured again, unless a longer time limit is given.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import run_once
from benchmarks.papers.case import Settings
from benchmarks.papers.cases import cases
from benchmarks.papers.journal import Journal
from benchmarks.papers.writing import write_report, write_summary
from benchmarks.report import machine

FOLDER = Path(__file__).resolve().parent.parent
LINES = FOLDER / "results" / "papers.jsonl"
REPORT = FOLDER / "report"
README = FOLDER.parent / "README.md"
OVERHEAD = 60.0
GB = 1_000_000_000


def main(arguments: list[str] | None = None) -> None:
    """Measure what is missing, then write the report from all lines."""
    options = _parser().parse_args(arguments)
    journal = Journal(options.lines)
    if not options.report:
        with TemporaryDirectory() as temporary:
            measure(journal, options, options.data or Path(temporary))
    for path in write_report(journal, options.out):
        print(path)
    if options.out == REPORT and not options.only:
        write_summary(journal, README)


def measure(journal: Journal, options: argparse.Namespace, data: Path) -> None:
    """Measure every case that the journal does not have, each in a process of its own with a time limit."""
    sizes = tuple(int(size) for size in options.sizes.split(","))
    for case in cases(Settings(sizes, data.resolve(), options.time_limit, options.only)):
        changed = f", {case.change:,} changed" if case.change else ""
        what = f"{case.table}: {case.benchmark}, {case.facts:,} facts{changed}, {case.technique}"
        if journal.has(*case.key, options.time_limit):
            print(f"{what}: measured already")
            continue
        # Steps are limited inside the process; imports, warming up and loading come on top.
        outcome = run_once(case.run, OVERHEAD + 1.5 * options.time_limit, memory=options.memory * GB)
        used = machine()
        records = [
            replace(record, machine=used, time_limit=options.time_limit) for record in case.records(outcome)
        ]
        journal.write(records)
        print(f"{what}: {outcome.problem or outcome.unfinished or f'{outcome.seconds:.2f} s'}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("--report", action="store_true", help="only write the report from the JSON lines")
    parser.add_argument("--sizes", default="1,3,10", metavar="N,N", help="multiples of the base size")
    parser.add_argument("--time-limit", type=float, default=3600.0, metavar="S", help="seconds for each run")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only tables and benchmarks with this in their names"
    )
    parser.add_argument("--memory", type=int, default=20, metavar="GB", help="memory that each run may take")
    parser.add_argument("--lines", type=Path, default=LINES, metavar="FILE", help="the JSON lines")
    parser.add_argument("--out", type=Path, default=REPORT, metavar="DIR", help="the folder of the report")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="keep generated data here, and use what is there"
    )
    return parser


if __name__ == "__main__":
    main()
