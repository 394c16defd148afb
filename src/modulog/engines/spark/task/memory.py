"""How much memory the Python worker of a task may have."""

from __future__ import annotations

import os
import re

from pyspark.sql import SparkSession

from modulog.engines.room import Room

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_LIMIT = "spark.executor.pyspark.memory"
_OVERHEAD = "spark.executor.memoryOverhead"
_LEAST_OVERHEAD = 384 << 20


def room_of(spark: SparkSession) -> Room:
    """The memory of a worker: what Spark limits it to, otherwise what the container has beside Java's heap; in local mode what is free."""
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
