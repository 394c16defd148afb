"""What starting costs: imports, help, a first materialisation; nothing large is imported here beforehand."""

import os
import subprocess
import sys
from importlib import import_module
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Literal

from benchmarks.outcome import Outcome, peak_memory, versions


def import_package(module: str) -> Outcome:
    """Import a package in this process, which has imported nothing of the kind."""
    start = perf_counter()
    import_module(module)
    done = perf_counter()
    return Outcome(done - start, peak=peak_memory(), versions=versions(module))


def show_help() -> Outcome:
    """Run ``modulog --help``, from starting the interpreter to its end."""
    import_module("modulog")
    return Outcome(_seconds([sys.executable, "-m", "modulog", "--help"], {}), versions=versions("modulog"))


def first_materialisation(folder: str, state: Literal["cold", "warm"]) -> Outcome:
    """Time a process that imports Modulog and materialises a small workload.

    The kernels' cache is an empty folder of its own; the warm process runs after one that filled it.
    """
    import_module("modulog")
    command = [sys.executable, "-m", "benchmarks.systems.modulog_api", folder]
    with TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        seconds = _seconds(command, environment)
        if state == "warm":
            seconds = _seconds(command, environment)
    return Outcome(seconds, versions=versions("modulog", "numba"))


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    start = perf_counter()
    subprocess.run(
        command, env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL, timeout=300
    )
    return perf_counter() - start
