"""What terms mean, on Spark: comparing them by value, and giving them out as columns of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import BooleanType, StructField, StructType

from modulog.engines.spark import keys
from modulog.engines.spark.functions import F
from modulog.terms.model import Kind

TURTLE = {"modulog.terms": "turtle"}
"""The metadata of a column of text in Turtle form."""

_LEFT, _RIGHT, _HOLDS = "_left", "_right", "_holds"
_SIMPLE = {
    frozenset({Kind.INTEGER}): "long",
    frozenset({Kind.DOUBLE}): "double",
    frozenset({Kind.BOOLEAN}): "boolean",
    frozenset({Kind.STRING}): "string",
    frozenset[Kind](): "string",
}
_BARE = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.BOOLEAN, Kind.IRI, Kind.BLANK})
"""Kinds that Spark can write in Turtle form by itself."""


class Counter(Protocol):
    """A sum over executors, such as `spark.sparkContext.accumulator(0)`."""

    def add(self, term: Any) -> None:
        """Add a number."""


class Decoder(Protocol):
    """What leads from ids to keys."""

    def key(self, number: int) -> str:
        """The key of one id."""

    def decode(self, frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
        """Columns of ids as columns of keys: old names to new ones, all others stay."""


def compare(
    terms: Decoder,
    frame: DataFrame,
    operator: str,
    left: str | int,
    right: str | int,
    incomparable: Counter | None = None,
) -> DataFrame:
    """The rows for which a comparison by value holds between two columns of ids, or a column and an id.

    Incomparable pairs do not satisfy it and are added to `incomparable`, an accumulator of Spark: whatever is evaluated twice is counted twice.
    """
    columns = frame.columns
    sides = {_LEFT: left, _RIGHT: right}
    keyed = [
        (F.col(side) if isinstance(side, str) else F.lit(terms.key(side))).alias(name)
        for name, side in sides.items()
    ]
    both = frame.select("*", *keyed)
    both = terms.decode(both, {name: name for name, side in sides.items() if isinstance(side, str)})
    schema = StructType([*frame.schema.fields, StructField(_HOLDS, BooleanType(), False)])
    run = partial(keys.compare_batches, operator=operator, incomparable=incomparable)
    return both.mapInArrow(run, schema).where(_HOLDS).select(*columns)


def typed(terms: Decoder, frame: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
    """Columns of ids as columns of values under new names: long, double, boolean or string, else Turtle.

    One job finds the kinds of the terms; the frame is evaluated again when the result is.
    """
    if not columns:
        return frame.select()
    places = [f"_k{i}" for i in range(len(columns))]
    decoded = frame.select(*[F.col(c).alias(p) for c, p in zip(columns, places, strict=True)])
    decoded = terms.decode(decoded, {p: p for p in places})
    kinds = decoded.agg(*[F.collect_set(F.ascii(p)).alias(p) for p in places]).collect()[0]
    return shown(decoded, places, [frozenset(Kind(kind) for kind in kinds[p]) for p in places], names)


def shown(
    frame: DataFrame,
    places: Sequence[str],
    kinds: Sequence[frozenset[Kind]],
    names: Sequence[str],
    *also: str,
) -> DataFrame:
    """Columns of keys of these kinds as columns of values under new names; the columns in `also` stay."""
    awkward = [p for p, k in zip(places, kinds, strict=True) if k not in _SIMPLE and not k <= _BARE]
    if awkward:
        frame = frame.mapInArrow(partial(keys.turtle_batches, columns=awkward), frame.schema)
    values = [
        _shown(p, kind, p in awkward).alias(name, metadata={} if kind in _SIMPLE else TURTLE)
        for p, kind, name in zip(places, kinds, names, strict=True)
    ]
    return frame.select(*also, *values)


def _shown(place: str, kinds: frozenset[Kind], done: bool) -> Column:
    """A column of keys as values, or in Turtle form; `done` says that it is in that form already."""
    text = F.substring(place, 2, 2**31 - 1)
    if kinds in _SIMPLE:
        return text if _SIMPLE[kinds] == "string" else text.cast(_SIMPLE[kinds])
    if done:
        return F.col(place)
    kind = F.ascii(place)
    shown = F.when(kind == int(Kind.IRI), F.concat(F.lit("<"), text, F.lit(">")))
    return shown.when(kind == int(Kind.BLANK), F.concat(F.lit("_:"), text)).otherwise(text)
