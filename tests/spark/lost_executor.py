"""Run a pipeline on a cluster of worker processes, and kill executors in the middle of a round, one or more: `lost_executor.py PIPELINE NUMBER`.

Prints whether one was killed, and how many facts there are in the end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark import SparkContext

from modulog import Pipeline
from modulog.pipeline.run import Unwatched


def executors() -> list[int]:
    """The executors that descend from this process."""
    found, parents = list[int](), dict[int, int]()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
            found.append(int(entry.name))
    return sorted(pid for pid in found if is_ours(pid, parents))


def is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != os.getpid():
        pid = parents[pid]
    return pid == os.getpid()


class Killer(Unwatched):
    """Kills some executors while the round after the second one is evaluated."""

    rounds = killed = 0

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        self.rounds += 1
        if self.rounds == 2:
            threading.Thread(target=self.kill).start()

    def kill(self) -> None:
        context = SparkContext._active_spark_context
        assert context is not None
        while not context.statusTracker().getActiveStageIds():
            time.sleep(0.001)
        for executor in executors()[: self.number]:
            os.kill(executor, signal.SIGKILL)
            self.killed += 1


if __name__ == "__main__":
    watch = Killer(int(sys.argv[2]))
    run = Pipeline.from_file(sys.argv[1]).run(watch=watch)
    print("killed", watch.killed == watch.number, run.facts)
