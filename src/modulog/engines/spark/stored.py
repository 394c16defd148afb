"""Relations and terms of the Spark engine into a store and out of it.

Executors write files into a staging folder, one job for each arity, sorted within each file; the driver moves them to their places and
takes their checksums. The store must therefore lie where the driver and all executors see it under the same path. Reading, the facts of one
arity are one scan, in which the folder of a file says which relation it belongs to; files are compared with their checksums, by the driver, when a
relation is first read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from modulog.engines.backend import Changed, Kept, Stored
from modulog.engines.local.changes import write_change
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.saving import Pending, save_facts
from modulog.engines.local.stored import OpenedRelation
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Read, Relation, Table
from modulog.engines.spark.driver import MOST_TERMS
from modulog.engines.spark.engine import SparkEngine, spark_relation
from modulog.engines.spark.errors import translated
from modulog.engines.spark.folders import file_uri
from modulog.engines.spark.functions import F
from modulog.engines.spark.hadoop import AS_WRITTEN
from modulog.engines.spark.mirrored import MirroredRelation
from modulog.engines.spark.parts import Part
from modulog.engines.spark.table import SparkTable
from modulog.engines.spark.terms import SparkTerms
from modulog.errors import InternalError
from modulog.store.changes import state_of, staying
from modulog.store.manifest import Bounds, FactsFile, StoredRelation, TermsFile
from modulog.store.reading import Store
from modulog.store.writing import FACTS, Draft

ROWS = 1 << 22  # rows of a file, about
FEW = 1 << 17  # terms that the driver writes by itself
_ORDER = "_order"


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
    """Write new terms, and of relations what changed: the driver writes few facts, and what it has anyway, executors write all other relations as a whole."""
    with ThreadPoolExecutor() as threads:
        pending = {id(c): _write_here(engine, draft, store, c, threads) for c in changes}
        whole = [(c.before, c.relation) for c in changes if pending[id(c)] is None]
        written = iter(_save_relations(engine, draft, whole) if whole else ())
        stored = tuple(
            next(written) if made is None else replace(made[0], files=(*made[0].files, *_results(made[1])))
            for made in (pending[id(c)] for c in changes)
        )
    known = store.manifest.terms
    kept = known[: staying(known, len(terms) - store.manifest.term_count)]
    return (*kept, *_save_terms(terms, draft, sum(file.rows for file in kept))), stored


def _write_here(
    engine: SparkEngine, draft: Draft, store: Store, change: Changed, threads: ThreadPoolExecutor
) -> Pending | None:
    """Let the driver write what changed in a relation, or all of it if the driver has it; None if executors should."""
    relation = spark_relation(change.relation)
    rows = sum(len(table) for step in change.steps or () for table in step)
    is_few = rows <= engine.broadcast_limit and len(engine.terms) <= MOST_TERMS
    if is_few and (count := change.staying):
        return write_change(draft, store, _fetched(change), count, threads)
    if relation.mirror is None or not relation.listed:
        return None
    entry = replace(change.before, rows=relation.size("all"), files=(), scheme=relation.scheme)
    return entry, save_facts(draft, entry, relation.mirror, threads)


def _results(files: Sequence[Future[FactsFile]]) -> Iterator[FactsFile]:
    return (file.result() for file in files)


def _fetched(change: Changed) -> Changed:
    """The same with the rows on the driver."""
    tables = [(gone, come) for gone, come in change.steps or ()]
    return replace(change, steps=[(_rows(gone), _rows(come)) for gone, come in tables])


def _rows(table: Table) -> LocalTable:
    assert isinstance(table, SparkTable)
    return table.rows()


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
    if terms.is_here and len(terms) - first <= FEW:
        draft.staging.mkdir(exist_ok=True)
        source, path = draft.staging / "terms.parquet", draft.new_terms()
        ids, texts = pa.array(range(first, len(terms)), pa.int64()), terms.keys_from(first)
        pq.write_table(pa.table({"id": ids, "key": texts}), source, use_dictionary=False)
        yield TermsFile(path, *draft.adopt(source, path), len(ids), first)
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
        frame.write.partitionBy(*partitions).parquet(file_uri(folder.absolute()))


def _measured(path: Path, columns: Sequence[str]) -> tuple[int, Bounds]:
    """The rows of a file, and the least and greatest value of each column, from its footer."""
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    places = [metadata.schema.names.index(column) for column in columns]
    found = [[group.column(place).statistics for group in groups] for place in places]
    return metadata.num_rows, tuple((min(s.min for s in c), max(s.max for s in c)) for c in found if c)


@dataclass(eq=False, slots=True)
class StoredPart(Part):
    """A part that lies in a store: the relations by their numbers here."""

    store: Store | None = None
    entries: Mapping[int, StoredRelation] = field(default_factory=dict)

    def read(self, numbers: set[int]) -> DataFrame:
        """The facts, once the files of the relations that are meant have been compared with their checksums."""
        assert self.store is not None
        self.store.verify(f for n in numbers if n in self.entries for f in self.entries[n].files)
        return Part.read(self, numbers)

    def opened(self, number: int) -> PlainRelation:
        """The facts of a relation, read when one of them is asked for."""
        assert self.store is not None
        return OpenedRelation(self.entries[number], self.store)


def restore_relations(engine: SparkEngine, store: Store) -> list[MirroredRelation]:
    """The relations of a store, in the order of its manifest; no fact is read."""
    entries = store.manifest.relations
    offset = engine.reserve(1 + max((entry.number for entry in entries), default=0))
    relations = [engine.restored(e.predicate.name, e.predicate.arity, offset + e.number) for e in entries]
    for arity in {entry.predicate.arity for entry in entries}:
        plain = ((e, r) for e, r in zip(entries, relations, strict=True) if e.scheme == "plain")
        group = [(e, r) for e, r in plain if r.arity == arity and e.rows]
        for is_changed in (False, True):
            some = [(e, r) for e, r in group if any(f.sign < 0 for f in e.files) == is_changed]
            if some:
                part = _part(engine, store, arity, [e for e, _ in some], offset)
                for _, relation in some:
                    relation.base = [part]
    return relations


def _part(
    engine: SparkEngine, store: Store, arity: int, entries: Sequence[StoredRelation], offset: int
) -> Part:
    """One part for some relations of an arity."""
    counts = {offset + entry.number: entry.rows for entry in entries}
    if not arity:
        numbers = pa.table({"p": pa.array(list(counts), pa.int32())})
        return Part(0, lambda: engine.spark.createDataFrame(numbers), None, counts, relations=set(counts))
    by_order: dict[int, list[FactsFile]] = {}
    for entry in entries:
        for file, order in zip(entry.files, _orders(entry), strict=True):
            by_order.setdefault(order, []).append(file)
    rows = sum(file.rows for order, files in by_order.items() if order for file in files)
    return StoredPart(
        arity,
        partial(_last_said, engine, store, arity, offset, by_order, rows <= engine.broadcast_limit),
        None,
        counts,
        relations=set(counts),
        store=store,
        entries={offset + entry.number: entry for entry in entries},
    )


def _orders(entry: StoredRelation) -> Iterator[int]:
    """When each file of a relation said what it says: 0 for what comes before the first change; then odd where facts come, even where they go."""
    is_changed = False
    for file in entry.files:
        is_changed |= file.sign < 0
        yield (2 * state_of(file) + (file.sign > 0)) if is_changed else 0


def _last_said(
    engine: SparkEngine,
    store: Store,
    arity: int,
    offset: int,
    by_order: Mapping[int, Sequence[FactsFile]],
    few: bool,
) -> DataFrame:
    """What files give and do not take back: a fact holds if the last that speaks of it gives it."""
    frames = {order: _frame(engine, store, arity, files, offset) for order, files in by_order.items()}
    said = [f.withColumn(_ORDER, F.lit(order)) for order, f in sorted(frames.items()) if order]
    if not said:
        return frames[0]
    keys = list(frames[0].columns)
    last = reduce(DataFrame.unionByName, said).groupBy(*keys).agg(F.max(_ORDER).alias(_ORDER))
    spoken = F.broadcast(last) if few else last
    untouched = frames[0].join(spoken, keys, "left_anti")
    return untouched.unionByName(last.where(F.col(_ORDER) % 2 == 1).select(*keys))


def _frame(
    engine: SparkEngine, store: Store, arity: int, files: Sequence[FactsFile], offset: int
) -> DataFrame:
    """Facts (p, c0, c1, …) of files of one arity."""
    folder = store.folder / FACTS / str(arity)
    scan = engine.spark.read.schema(engine.parts.schema(arity)).option(AS_WRITTEN, "false")
    found = scan.option("basePath", file_uri(folder)).parquet(
        *(file_uri(store.folder / f.path) for f in files)
    )
    number = (F.col("p") + F.lit(offset)).cast("int").alias("p")
    return found.select(number, *(f"c{j}" for j in range(arity)))
