"""What the driver holds after materialising at several sizes: `python driver_at_two_sizes.py FOLDER NODES...`, JSON out.

Nothing may pass the driver that grows with the facts: nothing is evaluated there, nothing is broadcast, and Spark refuses results of more than 256 kB.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from modulog import Reasoner, SparkOptions
from modulog.errors import EngineError
from modulog.spark.session import build_session

RULES = """
far(?x, ?z) :- link(?x, ?y), link(?y, ?z) .
reached(?y) :- start(?x), link(?x, ?y) .
reached(?y) :- reached(?x), link(?x, ?y) .
lone(?x) :- link(?x, ?y), ~reached(?x), ?x != ?y .
same(?x, ?y) :- alike(?x, ?y) .
same(?y, ?x) :- same(?x, ?y) .
same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
"""
SETTINGS = {
    # Executors are processes of their own: the buffers of tasks are not the driver's.
    "spark.master": "local-cluster[1,2,1024]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.maxResultSize": "256k",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # What Spark remembers of past work grows with the number of jobs, not with the data.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def main(folder: Path, *sizes: int) -> None:
    """Measure each size in turn, in one session."""
    session = build_session(SETTINGS)
    print(json.dumps([measure(session, nodes, folder / str(nodes)) for nodes in sizes]))
    session.stop()


def measure(session: Any, nodes: int, folder: Path) -> dict[str, Any]:
    """Nodes 0 and 1 lead to each other only, so that the number of rounds does not depend on the size; the others anywhere."""
    numbers = session.range(nodes)
    pairs = numbers.where("id < 2").selectExpr("concat('node ', id)", "concat('node ', 1 - id)")
    for factor in (7, 11, 13):
        there = f"concat('node ', id * {factor} % {nodes})"
        pairs = pairs.union(numbers.where("id > 1").selectExpr("concat('node ', id)", there))
    pairs.write.csv(str(folder / "link.csv"))
    # Threes: each node is like the next one, but for every third.
    alike = numbers.where("id % 3 < 2").selectExpr("concat('node ', id)", "concat('node ', id + 1)")
    alike.write.csv(str(folder / "alike.csv"))
    with Reasoner(RULES, spark=SparkOptions(session=session, broadcast_limit=0)) as r:
        r.load(folder)
        r.add("start", [("node 0",)])
        facts = r.materialise().facts
        return {"facts": facts, "heap": heap(session), "python": peak(), "refused": refused(r)}


def heap(session: Any) -> int:
    """The bytes that the JVM still needs after a collection."""
    jvm = session.sparkContext._jvm
    for _ in range(3):
        jvm.System.gc()
    memory = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    return int(memory.getHeapMemoryUsage().getUsed())


def peak() -> int:
    """The most bytes that this process has held."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def refused(r: Reasoner) -> bool:
    """Whether Spark refuses to hand a whole relation to the driver."""
    try:
        r.query("link(?x, ?y)")
    except EngineError as error:
        return "maxResultSize" in f"{error} {error.__cause__}"
    return False


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
