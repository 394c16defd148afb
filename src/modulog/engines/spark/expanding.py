"""Pairs that are represented, read by executors: each gets the whole set, broadcast, and lists the pairs of its share of the ids, or of the rows it is given.

A set is small, whatever the number of its pairs. So a join with it is a look-up for each row on the other side, where the row lies: nothing is
shuffled, and only pairs that somebody asks for are ever listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from modulog.engines.local.readers import PairsReader
from modulog.engines.local.reading import Lookup
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Argument
from modulog.engines.spark.table import WEIGHT, SparkTable
from modulog.kernels.types import Columns, Mask
from modulog.storage.asking import sizes
from modulog.storage.lists import distinct
from modulog.storage.pairs import Pairs, Selected, Together, Turned, guess

SHARE = 1 << 20  # pairs that one task lists, about
KEPT = 8  # sets that stay broadcast
GREATEST = 2**31 - 1  # id of a represented pair

How = Literal["pairs", "numbers", "those with", "those without"]
"""What becomes of rows: joined with pairs, weighted with the number of their pairs, or kept where there is a pair, or is none."""


class Shared(NamedTuple):
    """A set of pairs, and the ids of one column by which it is cut into shares: all that occur there, perhaps with others."""

    pairs: Pairs
    column: int
    ids: Columns


class Broadcasts:
    """What executors have, or will have, of sets of pairs; a set never changes."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: list[tuple[Pairs, Any]] = []

    def of(self, pairs: Pairs) -> Any:
        """A set, broadcast."""
        for known, broadcast in self._known:
            if known is pairs:
                return broadcast
        made = self._spark.sparkContext.broadcast(Shared(pairs, *_shares(pairs)))
        self._known.append((pairs, made))
        if len(self._known) > KEPT:
            # A frame that still reads it makes executors fetch it again.
            self._known.pop(0)[1].unpersist()
        return made

    def listed(self, pairs: Pairs) -> DataFrame:
        """All pairs (s, t), by as many tasks as their number asks for."""
        tasks = max(1, -(-guess(pairs) // SHARE))
        numbers = self._spark.range(0, tasks, 1, tasks)
        return numbers.mapInArrow(partial(_list, self.of(pairs), tasks), "s bigint, t bigint")

    def looked_up(
        self, pairs: Pairs, frame: DataFrame, args: tuple[Argument, ...], fresh: tuple[str, ...], how: How
    ) -> DataFrame:
        """Rows of a frame with what matching pairs make of them. Arguments are ids, columns of the frame, new ones, of which `fresh` are kept, or None."""
        names = tuple(dict.fromkeys(a for a in args if isinstance(a, str) and a in frame.columns))
        asked = Question(args, names, fresh, how)
        schema = ", ".join(f"`{c}` {t}" for c, t in frame.dtypes if how != "numbers" or c != WEIGHT)
        added = fresh if how == "pairs" else (WEIGHT,) if how == "numbers" else ()
        whole = ", ".join([*filter(None, [schema]), *(f"`{name}` bigint" for name in added)])
        return frame.mapInArrow(partial(_look_up, self.of(pairs), asked), whole)


def _shares(pairs: Pairs) -> tuple[int, Columns]:
    """The column by which a set is best cut, and its ids; nothing is listed for it."""
    match pairs:
        case Turned():
            column, ids = _shares(pairs.pairs)
            return 1 - column, ids
        case Selected():
            return _shares(pairs.pairs)
        case Together():
            found = [_shares(part) for part in pairs.parts]
            columns = {column for column, _ in found}
            if len(columns) == 1:
                return columns.pop(), distinct(np.concatenate([ids for _, ids in found]))
    return 0, pairs.distinct(0)


# ---- In the executors ------------------------------------------------------------------------------------------------


def _list(shared: Any, tasks: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pairs of some shares: every so-many-th id, so that long rows are spread."""
    pairs, column, ids = shared.value
    for batch in batches:
        for number in batch.column(0).to_pylist():
            mine = np.ascontiguousarray(ids[number::tasks])
            for piece in pairs.scan(None, mine) if column else pairs.scan(mine):
                yield pa.RecordBatch.from_arrays([_long(c) for c in piece], names=["s", "t"])


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for every row of a frame."""

    args: tuple[Argument, ...]
    names: tuple[str, ...]
    fresh: tuple[str, ...]
    how: How


def _look_up(shared: Any, asked: Question, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    reader, lookup = PairsReader(shared.value.pairs), Lookup(asked.names, asked.args, asked.fresh)
    answer: Callable[[pa.RecordBatch, Columns], Iterable[pa.RecordBatch]]
    match asked.how:
        case "pairs":
            answer = partial(_joined, reader, lookup, asked.fresh)
        case "numbers":
            answer = partial(_weighted, reader, lookup)
        case _:
            answer = partial(_filtered, reader, lookup, asked.how == "those with")
    for batch in batches:
        keys = [np.asarray(batch.column(batch.schema.get_field_index(name))) for name in asked.names]
        known = np.ones(len(batch), np.bool_)
        for key in keys:
            known &= key <= GREATEST  # no pair has a greater id
        ids = np.stack(keys) if keys else np.empty((0, len(batch)), np.int64)
        if known.all():
            yield from answer(batch, np.ascontiguousarray(ids.astype(np.int32)))
            continue
        few = np.flatnonzero(known)
        yield from answer(batch.take(pa.array(few)), np.ascontiguousarray(ids[:, few].astype(np.int32)))
        if asked.how == "those without":
            yield batch.filter(pa.array(~known))


def _joined(
    reader: PairsReader, lookup: Lookup, fresh: tuple[str, ...], batch: pa.RecordBatch, ids: Columns
) -> Iterator[pa.RecordBatch]:
    for rows, columns in reader.matches(lookup, ids):
        left = batch.take(pa.array(rows))
        names = [*batch.schema.names, *fresh]
        yield pa.RecordBatch.from_arrays([*left.columns, *map(_long, columns)], names=names)


def _weighted(
    reader: PairsReader, lookup: Lookup, batch: pa.RecordBatch, ids: Columns
) -> Iterator[pa.RecordBatch]:
    """A row once for all its pairs, with their number times the weight it has."""
    column = lookup.bound[0]
    argument = lookup.args[column]
    assert isinstance(argument, str)
    numbers = sizes(reader.pairs, ids[lookup.left.index(argument)], column)
    place = batch.schema.get_field_index(WEIGHT)
    if place >= 0:
        numbers = numbers * np.asarray(batch.column(place))
        batch = batch.drop_columns([WEIGHT])
    rows = np.flatnonzero(numbers)
    if len(rows):
        left = batch.take(pa.array(rows))
        names = [*batch.schema.names, WEIGHT]
        yield pa.RecordBatch.from_arrays([*left.columns, _long(numbers[rows])], names=names)


def _filtered(
    reader: PairsReader, lookup: Lookup, wanted: bool, batch: pa.RecordBatch, ids: Columns
) -> Iterator[pa.RecordBatch]:
    mask: Mask = reader.exists(lookup, ids) == wanted
    yield batch.filter(pa.array(mask))


def _long(values: Any) -> pa.Array:
    return pa.array(values.astype(np.int64))


# ---- On the driver ---------------------------------------------------------------------------------------------------


class PairsTable(SparkTable):
    """A set of pairs as a table: listed when it is read, by executors or, in pieces, here."""

    def __init__(self, columns: tuple[str, ...], pairs: Pairs, broadcasts: Broadcasts) -> None:
        super().__init__(columns, None)
        self._pairs, self._broadcasts = pairs, broadcasts

    @property
    def frame(self) -> DataFrame:
        """The rows as Spark reads them."""
        if self._frame is None:
            self._frame = self._broadcasts.listed(self._pairs).toDF(*self.columns)
        return self._frame

    def __len__(self) -> int:
        if self.size is None:
            self.size = self._pairs.count()
        return self.size

    def batches(self) -> Iterator[pa.RecordBatch]:
        for piece in self._pairs.scan():
            yield from LocalTable(self.columns, piece).batches()

    def rows(self) -> LocalTable:
        """The rows on the driver."""
        if self._rows is None:
            pieces = [np.empty((2, 0), np.int32), *self._pairs.scan()]
            self._rows = LocalTable(self.columns, np.concatenate(pieces, axis=1))
        return self._rows
