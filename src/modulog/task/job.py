"""A function that runs in the Python worker of one executor, as a job of one task, and the memory it may
have.

The function is named by its module, so that only names and bytes are shipped. A worker may have another path
for imports than the driver, or in local mode even another Python: the task first puts the driver's folders on
its own path, and in local mode workers of these jobs run the driver's Python.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Event
from uuid import uuid4

from pyspark.sql import SparkSession
from pyspark.util import InheritableThread

from modulog.engines.room import Room
from modulog.errors import WorkerLost
from modulog.spark.errors import translate

POLL = 0.05  # seconds between two looks at how far a task is
PATIENCE = 10.0  # seconds that a cancelled task has to end, which Spark kills after two

_LOST = ("exited unexpectedly", "Python worker", "ExecutorLostFailure", "Connection reset")
"""What Spark says when a Python worker was killed, for want of memory most of the time."""


def run_task(
    spark: SparkSession, function: str, request: bytes, description: str, observe: Callable[[], None]
) -> bytes:
    """Let a worker call a function, named "module:function", with the request; answers what it returned.

    `observe` is called every now and then while the task runs, in the thread of the caller. If it or the user
    stops the work, the task is cancelled, and is gone when this returns.
    """
    outcome: list[bytes] = []
    failure: list[BaseException] = []
    over = Event()

    def work() -> None:
        try:
            with _own_python(spark):
                spark.sparkContext.setJobGroup(group, description, interruptOnCancel=True)
                one = spark.sparkContext.parallelize(
                    [0], 1
                )  # a plan of SQL would take seconds the first time
                outcome.append(one.mapPartitions(_calling(function, request)).collect()[0])
        except BaseException as error:
            failure.append(error)
        finally:
            over.set()

    group = f"modulog-{uuid4().hex}"
    thread = InheritableThread(target=work, daemon=True, session=spark)
    thread.start()
    try:
        while not over.wait(POLL):
            observe()
        observe()
    except BaseException:
        with suppress(Exception):
            spark.sparkContext.cancelJobGroup(group)
        over.wait(PATIENCE)
        raise
    finally:
        thread.join(PATIENCE if over.is_set() else 0)
    if failure:
        if any(words in str(failure[0]) for words in _LOST):
            raise WorkerLost("the Python worker of the task has ended") from failure[0]
        raise translate(failure[0]) from failure[0]
    return outcome[0]


@contextmanager
def _own_python(spark: SparkSession) -> Iterator[None]:
    """In local mode, let workers run the Python that runs us: another one may lack all that we need."""
    context = spark.sparkContext
    before = context.pythonExec
    if is_local(spark):
        context.pythonExec = sys.executable
    try:
        yield
    finally:
        context.pythonExec = before


def _calling(function: str, request: bytes) -> Callable[[Iterable[int]], Iterable[bytes]]:
    """The function as `mapPartitions` takes it.

    As it is made here, it travels by value: nothing of the package is imported before the path is right. All
    input is read: a worker that leaves some is thrown away.
    """
    paths, (module, name) = [os.path.abspath(path) for path in sys.path], function.split(":")

    def call(numbers: Iterable[int]) -> Iterable[bytes]:
        import sys
        from importlib import import_module

        for _ in numbers:
            pass
        sys.path.extend(path for path in paths if path not in sys.path)
        yield getattr(import_module(module), name)(request)

    import_module(module)  # a mistake of ours is better told here
    return call


def is_local(spark: SparkSession) -> bool:
    """Whether driver and executors are one process."""
    return str(spark.sparkContext.master).split("[")[0] == "local"


_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_LIMIT = "spark.executor.pyspark.memory"
_OVERHEAD = "spark.executor.memoryOverhead"
_LEAST_OVERHEAD = 384 << 20


def room_of(spark: SparkSession) -> Room:
    """The memory of a worker: what Spark limits it to, otherwise what the container has beside Java's heap;
    in local mode what is free.
    """
    context = spark.sparkContext
    conf = context.getConf()
    is_local = str(context.master).split("[")[0] == "local"
    cores = int(conf.get("spark.executor.cores", "1") or 1)
    limit = conf.get(_LIMIT)
    if limit:
        share = parse_size(limit, "m") // (1 if is_local else cores)
        return Room(share, _LIMIT)
    if is_local:
        return Room(free_memory(), "free on this machine")
    given = conf.get(_OVERHEAD)
    heap = parse_size(conf.get("spark.executor.memory", "1g") or "1g", "m")
    factor = float(conf.get("spark.executor.memoryOverheadFactor", "0.1") or 0.1)
    overhead = parse_size(given, "m") if given else max(int(heap * factor), _LEAST_OVERHEAD)
    return Room(overhead, _OVERHEAD)


def parse_size(text: str, unit: str = "") -> int:
    """Bytes as Spark's settings say them; a number alone is of the unit.

    >>> parse_size("2g"), parse_size("512", "m"), parse_size("1k")
    (2147483648, 536870912, 1024)
    """
    found = re.fullmatch(r"\s*([0-9]+)\s*([kmgtp]?)i?b?\s*", text.lower())
    if found is None:
        return 0
    return int(found[1]) * _UNITS[found[2] or unit]


def free_memory() -> int:
    """The bytes that can be had on this machine without swapping."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
