"""Facts out of Spark, as columns of values, or written by the executors: a folder for each predicate, and in
it Parquet, CSV, TSV, N-Triples or Turtle.

Predicates of one arity are decoded together and written together, so the number of jobs does not grow with
the number of predicates. For Parquet the decoded facts are kept for a moment: what type a column gets is
known when all its terms have been seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from modulog.algebra.expressions import Project, Read
from modulog.engines.backend import Signed
from modulog.engines.engine import Work
from modulog.engines.relation import EXPLICIT
from modulog.engines.spark import term_keys
from modulog.engines.spark.engine import SparkEngine, spark_relation
from modulog.engines.spark.table import SparkTable
from modulog.engines.spark.terms import SparkTerms
from modulog.engines.table import columns_of
from modulog.formats import DataWarning, rdf_output
from modulog.formats.csv_output import format_rows
from modulog.formats.export import check_written, only_triples, part_names
from modulog.formats.folders import Folder, file_uri
from modulog.formats.format import FORMATS, WRITTEN_TRIPLES
from modulog.language.model import Predicate
from modulog.spark.file_systems import folder_of
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Dictionary
from modulog.wording import plural

if TYPE_CHECKING:
    from modulog.engines.spark.backend import SparkBackend

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


def typed(terms: SparkTerms, frame: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
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


SIGNED = "predicate string, sign int, terms array<string>"
NUMBER = "n"
"""The column that says which of the predicates a fact is of."""

_ASIDE = ".modulog-together"  # holds what was written for several predicates until each has its folder


def export(
    backend: SparkBackend, folder: str, format: str, facts: Mapping[Predicate, Project]
) -> dict[str, int]:
    """Write the facts of each predicate into a folder named for it; returns the rows of each folder."""
    check_written(format)
    predicates = only_triples(list(facts)) if format in WRITTEN_TRIPLES else list(facts)
    names = part_names(predicates, format)
    facts = {p: _as_read(backend.engine, facts[p]) for p in predicates}
    rows = {p: _read(facts[p]).relation.size("all") for p in predicates}
    place = folder_of(backend.spark, folder)
    for predicate in predicates:
        place.delete(names[predicate])
        if not predicate.arity or not rows[predicate]:
            _write_bare(backend, predicate, format, place / names[predicate], rows[predicate])
    waiting = [p for p in predicates if p.arity and rows[p]]
    left: dict[Predicate, int] = {}
    for arity in sorted({p.arity for p in waiting}):
        chosen = [p for p in waiting if p.arity == arity]
        found = _numbered(backend.engine, [facts[p] for p in chosen])
        write = _write_columns if format == "parquet" else _write_lines
        left |= write(backend, place, format, {p: names[p] for p in chosen}, found)
    for predicate, count in left.items():
        said = plural(count, "fact is", "facts are")
        why = f"{rdf_output.LITERAL_SUBJECT} or {rdf_output.NO_TERM}"
        path = place / names[predicate]
        warnings.warn(f"{path}: {said} left out, {why}", DataWarning, stacklevel=2)
    return {names[p]: rows[p] - left.get(p, 0) for p in predicates}


def _as_read(engine: SparkEngine, expr: Project) -> Project:
    """The facts of a predicate as those of one relation, a new one if they lie in several or are some."""
    if isinstance(expr.child, Read) and len(expr.child.variables) == len(expr.child.args):
        return expr
    relation = engine.relation("exported", len(expr.args))
    engine.run([Work(relation, expr, EXPLICIT)])
    relation.derive()
    relation.merge()
    names = columns_of(relation.arity)
    return Project(Read(relation, names), names, "keep")


def _read(expr: Project) -> Read:
    assert isinstance(expr.child, Read)
    return expr.child


def _write_bare(backend: SparkBackend, predicate: Predicate, format: str, path: str, rows: int) -> None:
    """Write a predicate without arguments, or without facts."""
    if format != "parquet":
        backend.spark.range(rows).selectExpr("'' AS value").write.text(path)
    elif predicate.arity:
        schema = ", ".join(f"c{j} string" for j in range(predicate.arity))
        backend.spark.createDataFrame([], schema).write.parquet(path)
    else:
        backend.spark.range(rows).selectExpr("true AS holds").write.parquet(path)


def _numbered(engine: SparkEngine, facts: Sequence[Project]) -> DataFrame:
    """The facts of predicates of one arity as (n, c0, c1, …): n says whose they are."""
    engine.settle()
    by_places = dict[tuple[int, ...], list[tuple[Read, int]]]()
    for number, expr in enumerate(facts):
        read = _read(expr)
        places = tuple(read.args.index(a) for a in expr.args)
        by_places.setdefault(places, []).append((read, number))
    frames = list[DataFrame]()
    for places, reads in by_places.items():
        frame = engine.facts([read for read, _ in reads])
        numbers = {
            "p": [spark_relation(read.relation).number for read, _ in reads],
            NUMBER: [number for _, number in reads],
        }
        table = pa.table({name: pa.array(column, pa.int32()) for name, column in numbers.items()})
        named = frame.join(F.broadcast(engine.spark.createDataFrame(table)), "p")
        frames.append(named.select(NUMBER, *(F.col(f"c{k}").alias(f"c{j}") for j, k in enumerate(places))))
    return reduce(DataFrame.unionByName, frames)


def _decoded(backend: SparkBackend, facts: DataFrame) -> tuple[DataFrame, list[str]]:
    """Facts (n, c0, c1, …) as (n, k0, k1, …), sorted by predicate, and the names of the keys."""
    columns = {c: f"k{c[1:]}" for c in facts.columns if c != NUMBER}
    decoded = backend.terms.decode(facts, columns)
    return decoded.hint("rebalance", NUMBER).sortWithinPartitions(NUMBER), list(columns.values())


def _write_columns(
    backend: SparkBackend, place: Folder, format: str, names: Mapping[Predicate, str], facts: DataFrame
) -> dict[Predicate, int]:
    """Write Parquet: one job decodes, then there is one for all predicates with columns of the same types."""
    decoded, columns = _decoded(backend, facts)
    seen = Observation()
    kinds = F.collect_set(F.struct(NUMBER, *(F.ascii(c).alias(c) for c in columns))).alias("kinds")
    kept = backend.engine.parts.keep((NUMBER, *columns), decoded.observe(seen, kinds), False)
    found = [[set[Kind]() for _ in columns] for _ in names]
    for row in seen.get["kinds"]:
        for kind, column in zip(found[row[NUMBER]], columns, strict=True):
            kind.add(Kind(row[column]))
    alike: dict[tuple[frozenset[Kind], ...], list[int]] = {}
    for number, column_kinds in enumerate(found):
        alike.setdefault(tuple(map(frozenset, column_kinds)), []).append(number)
    for typing, numbers in alike.items():
        mine = kept.frame.where(F.col(NUMBER).isin(numbers))
        written = shown(mine, columns, typing, [f"c{k[1:]}" for k in columns], NUMBER)
        written.write.mode("overwrite").partitionBy(NUMBER).parquet(place / _ASIDE)
        _take(place, names)
    return {}


def _write_lines(
    backend: SparkBackend, place: Folder, format: str, names: Mapping[Predicate, str], facts: DataFrame
) -> dict[Predicate, int]:
    """Write text; answers how many facts of each predicate were left out because no triple can say them."""
    decoded, columns = _decoded(backend, facts)
    left = [backend.spark.sparkContext.accumulator(0) for _ in names]
    run = partial(text_batches, predicates=list(names), format=format, left=left)
    lines = decoded.select(NUMBER, *columns).mapInArrow(run, f"{NUMBER} int, value string")
    lines.write.mode("overwrite").partitionBy(NUMBER).text(place / _ASIDE)
    _take(place, names)
    found = place.names()
    for predicate, name in names.items():  # if none of its facts can be said
        if name not in found:
            _write_bare(backend, predicate, format, place / name, 0)
    return {p: count.value for p, count in zip(names, left, strict=True) if count.value}


def _take(place: Folder, names: Mapping[Predicate, str]) -> None:
    """Let each predicate have its folder."""
    found = place.inside(_ASIDE).names()
    for number, name in enumerate(names.values()):
        if f"{NUMBER}={number}" in found:
            place.move(f"{_ASIDE}/{NUMBER}={number}", name)
    place.delete(_ASIDE)


def signed_frame(backend: SparkBackend, facts: Sequence[Signed]) -> DataFrame:
    """Facts of predicates as (predicate, sign, terms), terms in Turtle form; one plan for each arity."""
    frames = [backend.spark.createDataFrame([], SIGNED)]
    for arity in sorted({len(item.columns) for item in facts}):
        names = [f"k{j}" for j in range(arity)]
        group = [item for item in facts if len(item.columns) == arity]
        few = sum(len(item.table) for item in group) <= backend.engine.broadcast_limit
        rows = reduce(DataFrame.union, [_signed_rows(item, names) for item in group])
        decoded = backend.terms.decode(rows, {name: name for name in names}, few)
        turtle = partial(term_keys.turtle_batches, columns=names)
        shown = decoded.mapInArrow(turtle, decoded.schema) if names else decoded
        frames.append(shown.select("predicate", "sign", F.array(*names).cast("array<string>").alias("terms")))
    return reduce(DataFrame.union, frames)


def _signed_rows(item: Signed, names: Sequence[str]) -> DataFrame:
    assert isinstance(item.table, SparkTable)
    marks = F.lit(item.predicate).alias("predicate"), F.lit(item.sign).alias("sign")
    columns = [F.col(f"`{c}`").alias(name) for c, name in zip(item.columns, names, strict=True)]
    return item.table.frame.select(*marks, *columns)


def write_signed(backend: SparkBackend, facts: Sequence[Signed], folder: Path) -> None:
    """Write the same as Parquet into a folder of this machine."""
    signed_frame(backend, facts).write.mode("overwrite").parquet(file_uri(folder.absolute()))


def text_batches(
    batches: Iterable[pa.RecordBatch], *, predicates: Sequence[Predicate], format: str, left: Sequence[Any]
) -> Iterator[pa.RecordBatch]:
    """Numbers and columns of keys as lines of text; facts that no triple can say are added to `left`."""
    for number, dictionary, ids in _by_number(batches):
        if format in WRITTEN_TRIPLES:
            texts, lost = rdf_output.format_triples(dictionary, ids, predicates[number], format == "ttl")
            left[number].add(sum(lost.values()))
            text = "".join(texts.to_pylist())
        else:
            text = format_rows(dictionary, ids, ord(FORMATS[format].delimiter or ","))[0].tobytes().decode()
        if text:
            columns = [pa.array([number], pa.int32()), pa.array([text.removesuffix("\n")])]
            yield pa.RecordBatch.from_arrays(columns, [NUMBER, "value"])


def _by_number(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Dictionary, np.ndarray]]:
    """The facts of each predicate in each batch, where they lie next to each other."""
    for batch in batches:
        numbers = batch.column(0).to_numpy()
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for start, end in pairwise(cuts):
            if start < end:
                dictionary = Dictionary()
                some = batch.slice(start, end - start).columns[1:]
                yield (
                    int(numbers[start]),
                    dictionary,
                    np.stack([term_keys.read_keys(dictionary, c) for c in some]),
                )
