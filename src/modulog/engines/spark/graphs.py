"""What seeds lead to along a graph, and connected components, on Spark.

A graph of up to `broadcast_limit` edges is collected and broadcast; sources are spread over the executors,
which run the local engine's kernels over the seeds of their sources. A larger graph is joined in rounds.
Components of as many edges are found by union-find on the driver, of more in rounds, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from modulog.algebra import expressions as p
from modulog.closures.components import connected
from modulog.closures.linear_closure import reached
from modulog.closures.shared_lists import distinct
from modulog.engines.engine import Work
from modulog.engines.spark.table import SparkTable

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine

PAIR = ("s", "t")
MEMBER = ("x", "c")


def reach(engine: SparkEngine, seeds: p.Expr, graph: p.Expr) -> SparkTable:
    """Pairs (s, t), each once: a seed (s, y) and a path of edges (u, v) from y to t."""
    edges = engine.collect(p.Project(graph, ("u", "v"), "set"))
    pairs = engine.collect(p.Project(seeds, ("s", "y"), "set"))
    if len(edges) > engine.broadcast_limit:
        return _joined(engine, pairs, edges)
    shared = engine.spark.sparkContext.broadcast(_arrays(edges))
    spread = pairs.frame.repartition("s")
    found = spread.mapInArrow(partial(_reached, shared), "s bigint, t bigint")
    return engine.parts.keep(PAIR, found, False)


def _reached(shared: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All pairs of the sources of one partition."""
    pieces = [[np.asarray(batch.column(j)) for j in (0, 1)] for batch in batches if len(batch)]
    if not pieces:
        return
    seeds = np.stack([np.concatenate([piece[j] for piece in pieces]) for j in (0, 1)])
    edges = shared.value
    # Kernels speak 32 bits: ids become places in the sorted list of all that occur.
    ids = distinct(np.concatenate([seeds.ravel(), edges.ravel()]))
    small, lines = (np.searchsorted(ids, pair).astype(np.int32) for pair in (seeds, edges))
    for found in reached(small, lines):
        yield pa.RecordBatch.from_arrays([pa.array(ids[column]) for column in found], names=["s", "t"])


def _joined(engine: SparkEngine, pairs: SparkTable, edges: SparkTable) -> SparkTable:
    """The same in rounds of joins."""
    found = engine.relation("reached", 2)
    found.schedule(pairs, 0)
    step = p.Join(p.Read(found, ("s", "u"), "delta"), p.Rows(edges, ("u", "t")), PAIR)
    while found.derive():
        engine.run([Work(found, p.Project(step, PAIR, "keep"), 0)])
        found.merge()
    return engine.collect(p.Read(found, PAIR, "all"))


def components(engine: SparkEngine, edges: SparkTable) -> SparkTable:
    """Each node x with the least node c of its component."""
    if len(edges) > engine.broadcast_limit:
        return _labelled(engine, edges)
    pairs = _arrays(edges)
    ids = distinct(pairs.ravel())
    found = connected(np.searchsorted(ids, pairs).astype(np.int32))
    return engine.table(MEMBER, ids[found] if len(ids) else np.empty((2, 0), np.int64))


def _labelled(engine: SparkEngine, edges: SparkTable) -> SparkTable:
    """The same in rounds: a node takes its neighbours' least label, then that of the node it names."""
    ends = edges.frame.toDF("x", "y")
    both = engine.parts.keep(("x", "y"), ends.union(ends.select("y", "x")).distinct(), False).frame
    first = both.groupBy("x").agg(F.least("x", F.min("y")).alias("c"))
    labels = engine.parts.keep(MEMBER, first, False)
    while True:
        named = labels.frame
        around = both.join(named.toDF("y", "near"), "y").select("x", "near").union(named)
        least = around.groupBy("x").agg(F.min("near").alias("near"))
        jumped = least.join(named.toDF("near", "c"), "near").select("x", F.least("near", "c").alias("c"))
        after = engine.parts.keep(MEMBER, jumped, False)
        if not len(engine.parts.keep(MEMBER, after.frame.join(named, list(MEMBER), "left_anti"), False)):
            return after
        labels = after


def _arrays(table: SparkTable) -> np.ndarray:
    """Two columns of a table as an array with two rows."""
    batches = list(table.batches())
    columns = [[np.asarray(batch.column(j)) for batch in batches] for j in (0, 1)]
    return np.stack([np.concatenate(column) if column else np.empty(0, np.int64) for column in columns])
