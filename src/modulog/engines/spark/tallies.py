"""How many rows each rule gives, counted while Spark evaluates them: that takes no job, and little time for a row.

A rule that only reads gives as many rows as there are facts. For all others the rows are observed on their way to where repetitions and known facts are left out. Where rules share
a plan, a count-min sketch (Cormode and Muthukrishnan, 2005) counts them: whatever falls into one cell is added up, so rules whose numbers fall into different
cells are counted exactly. A row costs the same however many rules there are, while a condition for each of them would soon cost more than the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, Observation, SparkSession

from modulog.engines import protocol as p
from modulog.engines.spark.functions import F
from modulog.engines.spark.relation import SparkRelation
from modulog.engines.spark.table import SparkTable

LEAST = 64  # cells of a sketch; at least half of them are left empty
CONFIDENCE, SEED = 0.4, 7  # so little that a sketch has one row of cells
WAIT = 10_000  # milliseconds in which Spark tells what it has observed, once a job is over

Count = Callable[[], int]


class Sketches:
    """Numbers for rules, each with a cell of its own in a sketch, and what such a sketch has counted."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._made: dict[int, tuple[list[int], np.ndarray]] = {}

    def numbers(self, rules: int) -> list[int]:
        """A number for each rule."""
        return self._cells(rules)[0][:rules]

    def watch(self, frame: DataFrame, found: Observation, column: str, rules: int) -> DataFrame:
        """Rows whose numbers are counted by somebody's first evaluation of them."""
        error = F.lit(2 / _width(rules))
        sketch = F.count_min_sketch(column, error, F.lit(CONFIDENCE), F.lit(SEED))
        return frame.observe(found, sketch.alias("rows"))

    def counts(self, sketch: bytes, rules: int) -> list[int]:
        """How often each number has been seen."""
        return [int(n) for n in _table(sketch, _width(rules))[self._cells(rules)[1][:rules]]]

    def _cells(self, rules: int) -> tuple[list[int], np.ndarray]:
        """Numbers and their cells, found with a sketch like those of the executors."""
        width = _width(rules)
        if width not in self._made:
            jvm: Any = self.spark._jvm
            sketch = jvm.org.apache.spark.util.sketch.CountMinSketch.create(2 / width, CONFIDENCE, SEED)
            found: list[int] = []
            number = 0
            while len(found) < width // 2:
                if not sketch.estimateCount(number):
                    found.append(number)
                    sketch.addLong(number, len(found))
                number += 1
            self._made[width] = found, np.argsort(_table(sketch.toByteArray(), width))[-len(found) :]
        return self._made[width]


def _width(rules: int) -> int:
    return max(LEAST, 1 << (2 * rules - 1).bit_length())


def _table(sketch: bytes, width: int) -> np.ndarray:
    """The cells, which are the last numbers of a sketch as Spark writes it."""
    return np.frombuffer(sketch, ">i8", width, len(sketch) - 8 * width)


class Tally:
    """The rows of rules that share a plan. `watches` says that they must be observed: not all of them only read facts whose number will be known."""

    def __init__(self, sketches: Sketches, work: Sequence[p.Work]) -> None:
        self._sketches, self._work = sketches, work
        counts = [known_rows(item.expr) for item in work]
        self._known = [count for count in counts if count is not None]
        self.watches = len(self._known) < len(work)
        self._observed: Observation | None = None

    @property
    def numbers(self) -> Sequence[int]:
        """What the rules are called where they share a plan."""
        rules = len(self._work)
        return self._sketches.numbers(rules) if self.watches else range(rules)

    def watch(self, frame: DataFrame, column: str | None) -> DataFrame:
        """The rows of all rules, to be counted by the job that evaluates them; a column has the numbers, unless all rules are the same."""
        self._observed = Observation()
        if column is None:
            return frame.observe(self._observed, F.count(F.lit(1)).alias("rows"))
        return self._sketches.watch(frame, self._observed, column, len(self._work))

    def take(self) -> None:
        """Tell the rules, once they have been evaluated."""
        for item, rows in zip(self._work, self._rows(), strict=True):
            item.rows = rows

    def skip(self) -> None:
        """Tell the rules that nobody needed their rows."""
        for item in self._work:
            item.rows = 0

    def _rows(self) -> Sequence[int | None]:
        rules = len(self._work)
        if self._observed is None:
            return [count() for count in self._known]
        if not _is_over(self._sketches.spark, self._observed):
            return [None] * rules
        found = _seen(self._observed)
        if isinstance(found, int):
            return [found] * rules
        return [0] * rules if found is None else self._sketches.counts(found, rules)


def known_rows(expr: p.Expr) -> Count | None:
    """How many rows a rule has that only reads; None for others."""
    assert isinstance(expr, p.Project)
    match expr.child:
        case p.Rows(table=SparkTable(size=int(size))):
            return lambda: size
        case p.Read(relation=SparkRelation(listed=True) as relation) as read:
            every = len(read.variables) == sum(a is not None for a in read.args)
            if every and relation.is_plain(read.version):
                parts = dict.fromkeys(relation.parts(read.version))
                mine = [part for part in parts if read.except_from is None or part.source != read.except_from]
                return lambda: sum(part.count(relation.number) for part in mine)
    return None


def _is_over(spark: SparkSession, observed: Observation) -> bool:
    """Whether Spark has told all that it has to tell of the jobs so far. PySpark can only wait for what was observed, with some releases for ever."""
    with suppress(Py4JJavaError):
        if not _java(observed).future().isCompleted():
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(WAIT)
        return True
    return False


def _seen(observed: Observation) -> Any:
    """What was observed; None where Spark found, while it worked, that there is nothing, and left the plan out."""
    found = _java(observed)
    return dict(found.getAsJava()).get("rows") if found.future().isCompleted() else None


def _java(observed: Observation) -> Any:
    return observed._jo
