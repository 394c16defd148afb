"""The process of one measurement: ``python -m benchmarks.worker JOB RESULT``, both JSON files.

A job names a function and its arguments. A missing package of the measured system gives the outcome
"not installed"; any other failure ends the process with its traceback.
"""

import json
import os
import resource
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from time import perf_counter

from benchmarks.outcome import Outcome, seconds_waited

PACKAGES = frozenset(
    {
        "modulog",
        "nmo_python",
        "clingo",
        "duckdb",
        "pyarrow",
        "pyoxigraph",
        "pyspark",
        "psutil",
        "reasonable",
        "owlrl",
        "rdflib",
    }
)


def main(job_path: Path, result_path: Path) -> None:
    """Run the job and write its outcome."""
    job = json.loads(job_path.read_text(encoding="utf-8"))
    _limit_cores(job["threads"])
    if job["memory"] is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (job["memory"], job["memory"]))
    start = perf_counter()
    module, function = job["runner"].split(":")
    try:
        outcome = getattr(import_module(module), function)(**job["arguments"])
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        outcome = Outcome(problem="not installed")
    except MemoryError:
        outcome = Outcome(problem=f"needs more than {job['memory'] / 1e9:g} GB")
    waited = seconds_waited() / (perf_counter() - start)
    outcome = replace(outcome, waited=round(waited, 3))
    result_path.write_text(json.dumps(outcome.to_json()), encoding="utf-8")


def _limit_cores(threads: int) -> None:
    """Let all systems, also those without a setting for it, run on the same number of cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
