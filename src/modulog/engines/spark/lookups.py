"""Reads of facts that are represented, as parts of a plan: what is bounded by the number of nodes comes from the driver, the rest from look-ups in the executors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from modulog.engines import protocol as p
from modulog.engines.local.readers import PairsReader
from modulog.engines.local.reading import Lookup
from modulog.engines.spark.closure_relation import SparkClosure
from modulog.engines.spark.expanding import Broadcasts, How
from modulog.engines.spark.functions import F
from modulog.engines.spark.table import WEIGHT, DriverTable
from modulog.storage.pairs import Pairs


@dataclass(slots=True)
class Frame:
    """A data frame with a column for each variable, perhaps with the rule table's columns, perhaps with weights."""

    frame: DataFrame
    variables: tuple[str, ...]
    weighted: bool = False


class Lookups:
    """Makes frames of reads; `name` is what a variable is called in them."""

    def __init__(self, spark: SparkSession, broadcasts: Broadcasts, name: Callable[[str], str]) -> None:
        self.spark, self.broadcasts, self.name = spark, broadcasts, name

    def scan(self, read: p.Read) -> Frame:
        """What a read gives by itself."""
        relation = _closure(read)
        few = relation.few(read)
        if few is None:
            columns = [
                F.col(c).alias(self.name(v))
                for c, v in zip("st", read.args, strict=True)
                if isinstance(v, str)
            ]
            return Frame(self.broadcasts.listed(_pairs(read)).select(*columns), read.variables)
        frame = DriverTable(self.spark, few).frame
        columns = [F.col(f"`{v}`").alias(self.name(v)) for v in read.variables]
        return Frame(frame.select(*columns, F.col(f"`{WEIGHT}`")), read.variables, True)

    def join(self, left: Frame, read: p.Read, wanted: tuple[str, ...]) -> Frame:
        """Rows that share a variable with a read, with what it gives for them; of its own variables only the wanted ones are there."""
        fresh = tuple(v for v in read.variables if v not in left.variables and v in wanted)
        args = self._args(read, (*left.variables, *fresh))
        how: How = "those with" if all(a is not None for a in args) else "numbers"
        frame = self.broadcasts.looked_up(
            _pairs(read), left.frame, args, tuple(map(self.name, fresh)), "pairs" if fresh else how
        )
        weighted = left.weighted or (not fresh and how == "numbers")
        return Frame(frame, (*left.variables, *fresh), weighted)

    def filter(self, left: Frame, read: p.Read, wanted: bool) -> DataFrame:
        """Rows for which a read gives something, or, if that is not wanted, nothing."""
        pairs = _pairs(read)
        if any(v in left.variables for v in read.variables):
            # A variable that the rows do not have is anything, but the same wherever it is.
            args = tuple(self.name(a) if isinstance(a, str) else a for a in read.args)
            return self.broadcasts.looked_up(
                pairs, left.frame, args, (), "those with" if wanted else "those without"
            )
        unit = np.empty((0, 1), np.int32)
        found = bool(PairsReader(pairs).exists(Lookup((), read.args, ()), unit)[0])
        return left.frame if found == wanted else left.frame.filter(F.lit(False))

    def _args(self, read: p.Read, known: tuple[str, ...]) -> tuple[p.Argument, ...]:
        return tuple((self.name(a) if a in known else None) if isinstance(a, str) else a for a in read.args)


def _closure(read: p.Read) -> SparkClosure:
    assert isinstance(read.relation, SparkClosure)
    return read.relation


def _pairs(read: p.Read) -> Pairs:
    found = _closure(read).represented(read.version)
    assert found is not None
    return found
