"""What terms mean, on Spark: giving them out as columns of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from modulog.engines.spark import term_keys
from modulog.terms.constant import Kind

TURTLE = {"modulog.terms": "turtle"}
"""The metadata of a column of text in Turtle form."""

_SIMPLE = {
    frozenset({Kind.INTEGER}): "long",
    frozenset({Kind.DOUBLE}): "double",
    frozenset({Kind.BOOLEAN}): "boolean",
    frozenset({Kind.STRING}): "string",
    frozenset[Kind](): "string",
}
_BARE = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.BOOLEAN, Kind.IRI, Kind.BLANK})
"""Kinds that Spark can write in Turtle form by itself."""


class Decoder(Protocol):
    """What leads from ids to keys."""

    def decode(self, frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
        """Columns of ids as columns of keys: old names to new ones, all others stay."""


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
        frame = frame.mapInArrow(partial(term_keys.turtle_batches, columns=awkward), frame.schema)
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
