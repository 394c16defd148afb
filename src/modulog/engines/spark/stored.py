"""Relations and terms of the Spark engine into a store and out of it.

Executors write files into a staging folder, one job for each arity, sorted within each file; the driver moves them to their places and
takes their checksums. The store must therefore lie where the driver and all executors see it under the same path. Reading, the facts of one
arity are one scan, in which the folder of a file says which relation it belongs to; files are compared with their checksums, by the driver, when a
relation is first read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.backend import Changed, Kept, Stored
from modulog.engines.protocol import Read, Relation
from modulog.engines.spark.engine import SparkEngine, spark_relation
from modulog.engines.spark.errors import translated
from modulog.engines.spark.mirrored import MirroredRelation
from modulog.engines.spark.parts import Part
from modulog.engines.spark.table import WEIGHT
from modulog.engines.spark.terms import SparkTerms
from modulog.errors import InternalError
from modulog.store.changes import staying
from modulog.store.manifest import Bounds, FactsFile, StoredRelation, TermsFile
from modulog.store.reading import Store
from modulog.store.writing import FACTS, Draft

ROWS = 1 << 22  # rows of a file, about
AS_WRITTEN = "__globPaths__"  # Spark's own name for whether `[`, `*` and the like in paths are patterns


def save(engine: SparkEngine, terms: SparkTerms, draft: Draft, relations: Sequence[Kept]) -> Stored:
    """Write terms and relations; answers what the manifest says of them."""
    entries = [
        (StoredRelation(n, predicate, role, 0), relation)
        for n, (predicate, role, relation) in enumerate(relations)
    ]
    stored = _save_relations(engine, draft, entries)
    return tuple(_save_terms(terms, draft)), stored


def save_changes(
    engine: SparkEngine, terms: SparkTerms, draft: Draft, store: Store, changes: Sequence[Changed]
) -> Stored:
    """Write new terms, and relations that changed, as a whole."""
    stored = _save_relations(engine, draft, [(change.before, change.relation) for change in changes])
    known = store.manifest.terms
    kept = known[: staying(known, len(terms) - store.manifest.term_count)]
    return (*kept, *_save_terms(terms, draft, sum(file.rows for file in kept))), stored


def _save_relations(
    engine: SparkEngine, draft: Draft, entries: Sequence[tuple[StoredRelation, Relation]]
) -> tuple[StoredRelation, ...]:
    engine.settle()
    draft.staging.mkdir()
    sized = [replace(e, rows=r.size("all"), files=(), scheme=r.scheme) for e, r in entries]
    files: dict[int, list[FactsFile]] = {}
    # What is represented follows from others that are kept.
    listed = [(e, r) for e, (_, r) in zip(sized, entries, strict=True) if e.rows and r.listed]
    for arity in sorted({r.arity for _, r in listed if r.arity}):
        chosen = [(e, r) for e, r in listed if r.arity == arity]
        group = {spark_relation(relation): entry.number for entry, relation in chosen}
        for number, file in _save_facts(engine, draft, arity, group, sum(e.rows for e, _ in chosen)):
            files.setdefault(number, []).append(file)
    return tuple(replace(entry, files=tuple(files.get(entry.number, ()))) for entry in sized)


def _save_facts(
    engine: SparkEngine, draft: Draft, arity: int, group: Mapping[MirroredRelation, int], rows: int
) -> Iterator[tuple[int, FactsFile]]:
    """One job for all relations of an arity; `group` has their numbers in the store."""
    columns = [f"c{j}" for j in range(arity)]
    facts = engine.facts([Read(relation, tuple(columns), "all") for relation in group])
    pairs = [F.lit(x) for relation, number in group.items() for x in (relation.number, number)]
    numbered = facts.select(F.create_map(*pairs)[F.col("p")].alias("p"), *columns)
    written = draft.staging / f"facts-{arity}"
    _write(numbered.coalesce(1 + rows // ROWS).sortWithinPartitions("p", *columns), written, "p")
    for source in sorted(written.glob("p=*/*.parquet")):
        number = int(source.parent.name.removeprefix("p="))
        count, bounds = _measured(source, columns)
        path = draft.new_facts(arity, number)
        yield number, FactsFile(path, *draft.adopt(source, path), count, bounds)


def _save_terms(terms: SparkTerms, draft: Draft, first: int = 0) -> Iterator[TermsFile]:
    """Write the terms from a number on."""
    if len(terms) == first:
        return
    written, frame = draft.staging / "terms", terms.frame()
    frame = frame.filter(F.col("id") >= first) if first else frame
    pieces = 1 + (len(terms) - first) // ROWS
    spread = frame.coalesce(1) if pieces == 1 else frame.repartitionByRange(pieces, "id")
    _write(spread.sortWithinPartitions("id"), written)
    measured = [(_measured(source, ["id"]), source) for source in written.glob("*.parquet")]
    for (count, bounds), source in sorted((m for m in measured if m[0][0]), key=lambda m: m[0][1]):
        if bounds != ((first, first + count - 1),):
            raise InternalError(f"ids are not dense: {count} terms from {first} on have the ids {bounds}")
        path = draft.new_terms()
        yield TermsFile(path, *draft.adopt(source, path), count, first)
        first += count


def _write(frame: DataFrame, folder: Path, *partitions: str) -> None:
    with translated():
        frame.write.partitionBy(*partitions).parquet(_uri(folder.absolute()))


def _measured(path: Path, columns: Sequence[str]) -> tuple[int, Bounds]:
    """The rows of a file, and the least and greatest value of each column, from its footer."""
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    places = [metadata.schema.names.index(column) for column in columns]
    found = [[group.column(place).statistics for group in groups] for place in places]
    return metadata.num_rows, tuple((min(s.min for s in c), max(s.max for s in c)) for c in found if c)


@dataclass(eq=False, slots=True)
class StoredPart(Part):
    """A part that lies in a store."""

    verify: Callable[[set[int]], None] = lambda numbers: None

    def read(self, numbers: set[int]) -> DataFrame:
        """The facts, once the files of the relations that are meant have been compared with their checksums."""
        self.verify(numbers)
        return self.frame


def restore_terms(terms: SparkTerms, store: Store) -> None:
    """Let the terms of a store be those of the engine."""
    files = store.manifest.terms

    def frame() -> DataFrame:
        store.verify(files)
        scan = terms.spark.read.schema("id long, key string").option(AS_WRITTEN, "false")
        return scan.parquet(*(_uri(store.folder / file.path) for file in files))

    terms.restore(frame, store.manifest.term_count)


def restore_relations(engine: SparkEngine, store: Store) -> list[MirroredRelation]:
    """The relations of a store, in the order of its manifest; no fact is read."""
    entries = store.manifest.relations
    offset = engine.reserve(1 + max((entry.number for entry in entries), default=0))
    relations = [engine.restored(e.predicate.name, e.predicate.arity, offset + e.number) for e in entries]
    for arity in {entry.predicate.arity for entry in entries}:
        plain = ((e, r) for e, r in zip(entries, relations, strict=True) if e.scheme == "plain")
        group = [(e, r) for e, r in plain if r.arity == arity and e.rows]
        if group:
            part = _part(engine, store, arity, [e for e, _ in group], offset)
            for entry, relation in group:
                relation.base = [_taken_back(engine, store, entry, offset) or part]
    return relations


def _part(
    engine: SparkEngine, store: Store, arity: int, entries: Sequence[StoredRelation], offset: int
) -> Part:
    """One part for all relations of an arity."""
    counts = {offset + e.number: sum(f.rows for f in e.files if f.sign > 0) or e.rows for e in entries}
    if not arity:
        numbers = pa.table({"p": pa.array(list(counts), pa.int32())})
        return Part(0, engine.spark.createDataFrame(numbers), None, counts, relations=set(counts))
    by_number = {offset + entry.number: entry.files for entry in entries}
    files = [file for entry in entries for file in entry.files if file.sign > 0]
    return StoredPart(
        arity,
        _frame(engine, store, arity, files, offset),
        None,
        counts,
        relations=set(counts),
        verify=lambda numbers: store.verify(f for n in numbers for f in by_number.get(n, ())),
    )


def _taken_back(engine: SparkEngine, store: Store, entry: StoredRelation, offset: int) -> Part | None:
    """A part of its own for a relation with changes: what its files give and do not take back."""
    if all(file.sign > 0 for file in entry.files):
        return None
    signed = []
    for sign in (1, -1):
        files = [file for file in entry.files if file.sign == sign]
        frame = _frame(engine, store, entry.predicate.arity, files, offset)
        signed.append(frame.withColumn(WEIGHT, F.lit(sign).cast("long")))
    keys = [c for c in signed[0].columns if c != WEIGHT]
    sums = signed[0].unionByName(signed[1]).groupBy(*keys).agg(F.sum(WEIGHT).alias(WEIGHT))
    number = offset + entry.number
    return Part(
        entry.predicate.arity,
        sums.filter(F.col(WEIGHT) > 0).select(*keys),
        None,
        {number: entry.rows},
        relations={number},
    )


def _frame(
    engine: SparkEngine, store: Store, arity: int, files: Sequence[FactsFile], offset: int
) -> DataFrame:
    """Facts (p, c0, c1, …) of files of one arity."""
    folder = store.folder / FACTS / str(arity)
    scan = engine.spark.read.schema(engine.parts.schema(arity)).option(AS_WRITTEN, "false")
    found = scan.option("basePath", _uri(folder)).parquet(*(_uri(store.folder / f.path) for f in files))
    number = (F.col("p") + F.lit(offset)).cast("int").alias("p")
    return found.select(number, *(f"c{j}" for j in range(arity)))


def _uri(path: Path) -> str:
    """A path of this machine as Hadoop takes it: with a scheme, and nothing encoded."""
    return f"file://{path}"
