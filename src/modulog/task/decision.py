"""Whether one task is enough for a run: the one place where that is decided, and the figures it is decided
by.

The estimate is of the memory that a Python worker needs at its peak while it loads sources, evaluates rules
and writes a store. It is made from the sizes of sources before any of them is read, so what rules derive is
guessed from ordinary programs: `BYTES` has what was measured with the local engine, rules and all, rounded
up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modulog.engines.room import Room

BYTES: Mapping[str, float] = {
    "nt": 0.7,  # LUBM, 1.8 GB of N-Triples: 1.1 GB; 18.7 GB: 9.0 GB
    "nq": 0.7,
    "ttl": 2.0,  # shorter by the names that N-Triples repeat
    "trig": 2.0,
    "rdf": 1.0,
    "csv": 4.0,
    "tsv": 4.0,
    "jsonl": 2.0,
    "parquet": 12.0,  # columns are coded and compressed
    "table": 12.0,
    "frame": 4.0,  # as Spark estimates a plan's result, uncompressed
    "facts": 3.0,  # from Python: numbers and keys
    "store": 5.0,  # files of a store: facts of two arguments take 2 to 3 bytes there, 8 and more in memory
}
"""Bytes of memory for a byte of a source, by its format."""

COMPRESSED = 8.0
"""What gzip makes of a byte, at least in N-Triples."""

FLOOR = 400_000_000
"""Bytes that a worker takes with next to no facts: libraries, kernels, buffers."""

SHARE = 0.8
"""The share of the memory that may be planned for."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How many workers a run has, 1 or more, and why."""

    workers: int
    reason: str

    @property
    def place(self) -> str:
        """The decision as plans and reports tell it."""
        what = (
            "one task of Spark"
            if self.workers == 1
            else f"SQL over the executors of Spark, {self.workers} workers"
        )
        return f"{what}: {self.reason}"


def needed(sizes: Mapping[str, int]) -> int:
    """Bytes of memory for sources of so many bytes by format; a format that ends in `.gz` is compressed.

    >>> needed({"nt": 1_000_000_000}), needed({"nt.gz": 1_000_000_000})
    (1100000000, 6000000000)
    """
    total = float(FLOOR)
    for format, size in sizes.items():
        factor = BYTES.get(format.removesuffix(".gz"), max(BYTES.values()))
        total += size * factor * (COMPRESSED if format.endswith(".gz") else 1)
    return int(total)


def decide(sizes: Mapping[str, int], room: Room, cores: int, wanted: int | None) -> Decision:
    """One worker if it has room for all facts, and otherwise all cores; `wanted` overrides it.

    >>> decide({"nt": 10**9}, Room(10**10, "free here"), 8, None).place
    'one task of Spark: 1.0 GB of sources need about 1.1 GB, and a Python worker may have 10.0 GB (free here)'
    >>> decide({"nt": 10**11}, Room(10**10, "free here"), 8, None).workers
    8
    """
    if wanted is not None:
        return Decision(wanted, f"as `workers={wanted}` says")
    asks = needed(sizes)
    fits = asks <= SHARE * room.bytes
    reason = f"{_shown(sum(sizes.values()))} of sources need about {_shown(asks)}, and a Python worker may have {_shown(room.bytes)} ({room.said})"
    return Decision(1 if fits else max(2, cores), reason)


def _shown(size: float) -> str:
    """Bytes as people say them."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.1f} {unit}" if unit != "B" else f"{int(size)} B"
        size /= 1000
    return f"{size:.1f} GB"


def outgrown(room: Room, peak: int, asks: int) -> str:
    """What is said of a task that ran out of memory."""
    seen = f" at {_shown(peak)} or more" if peak else ""
    return (
        f"a task has outgrown its memory{seen}: {_shown(asks)} were expected, and its Python worker may have {_shown(room.bytes)} ({room.said}); "
        "give it more (spark.executor.pyspark.memory, or spark.executor.memoryOverhead on a cluster), or let all executors evaluate the rules: workers=2 or more. "
        "What was there before is as it was"
    )
