"""Relations and terms of the Spark engine into a store and out of it.

Executors write files into a staging folder, one job for each arity, sorted within each file; the driver moves
them to their places and takes their checksums. The store must therefore lie where the driver and all
executors see it under the same path. Reading, the facts of one arity are one scan, in which the folder of a
file says which relation it belongs to; files are compared with their checksums, by the driver, when a
relation is first read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.algebra.expressions import Read
from modulog.engines.relation import Relation
from modulog.engines.spark.engine import SparkEngine, spark_relation
from modulog.engines.spark.fact_files import Part
from modulog.engines.spark.relation import SparkRelation
from modulog.engines.spark.table import SparkTable
from modulog.engines.spark.terms import SparkTerms
from modulog.engines.storage import Changed, Kept, Stored
from modulog.engines.table import Table, columns_of
from modulog.errors import InternalError
from modulog.formats.folders import file_uri
from modulog.spark.errors import translated
from modulog.spark.file_systems import AS_WRITTEN
from modulog.store.draft import FACTS, Draft
from modulog.store.manifest import Bounds, FactsFile, StoredRelation, TermsFile, staying
from modulog.store.store import Store

ROWS = 1 << 22  # rows of a file, about
SIGN = "sign"  # 1 of a fact that a file gives, -1 of one that it takes back
FOLDER = "folder"

Entries = Sequence[tuple[StoredRelation, Relation]]


def save(engine: SparkEngine, terms: SparkTerms, draft: Draft, relations: Sequence[Kept]) -> Stored:
    """Write terms and relations; answers what the manifest says of them."""
    entries = [
        (StoredRelation(n, predicate, role, 0), relation)
        for n, (predicate, role, relation) in enumerate(relations)
    ]
    stored = _save_whole(engine, draft, entries)
    return tuple(_save_terms(terms, draft)), stored


def save_changes(
    engine: SparkEngine, terms: SparkTerms, draft: Draft, store: Store, changes: Sequence[Changed]
) -> Stored:
    """Write new terms, and of relations what has changed, or all where that is not small."""
    beside = [change for change in changes if change.staying]
    whole = [(change.before, change.relation) for change in changes if not change.staying]
    written = {entry.number: entry for entry in _save_whole(engine, draft, whole)}
    written |= {entry.number: entry for entry in _save_beside(engine, draft, store, beside)}
    known = store.manifest.terms
    kept = known[: staying(known, len(terms) - store.manifest.term_count)]
    new = _save_terms(terms, draft, sum(file.rows for file in kept))
    return (*kept, *new), tuple(written[change.before.number] for change in changes)


def _save_whole(engine: SparkEngine, draft: Draft, entries: Entries) -> tuple[StoredRelation, ...]:
    """Write all facts of relations."""
    engine.settle()
    sized = [
        (replace(e, rows=r.size("all"), files=(), scheme=r.scheme.kind), spark_relation(r))
        for e, r in entries
    ]
    files: dict[int, list[FactsFile]] = {}
    for arity in sorted({r.arity for e, r in sized if e.rows and r.arity}):
        group = {r: e for e, r in sized if e.rows and r.arity == arity}
        columns = columns_of(arity)
        facts = engine.facts([Read(relation, columns, "all") for relation in group])
        pairs = [F.lit(x) for relation, entry in group.items() for x in (relation.number, entry.number)]
        signed = facts.select(F.create_map(*pairs)[F.col("p")].alias("p"), F.lit(1).alias(SIGN), *columns)
        rows = sum(entry.rows for entry in group.values())
        for number, file in _save_facts(draft, f"facts-{arity}", arity, signed, rows):
            files.setdefault(number, []).append(file)
    return tuple(replace(entry, files=tuple(files.get(entry.number, ()))) for entry, _ in sized)


def _save_beside(
    engine: SparkEngine, draft: Draft, store: Store, changes: Sequence[Changed]
) -> Iterator[StoredRelation]:
    """Write what has changed in relations, with what those of their files say that do not stay."""
    files: dict[int, list[FactsFile]] = {}
    for arity in sorted({change.relation.arity for change in changes}):
        group = [change for change in changes if change.relation.arity == arity]
        said, rows = [], 0
        for change in group:
            folded, number = change.before.files[change.staying :], change.before.number
            said += [_signed(engine, store, arity, folded)] if folded else []
            steps = [(t, sign) for step in change.steps or () for t, sign in zip(step, (-1, 1), strict=True)]
            said += [_of_table(table, number, sign) for table, sign in steps if len(table)]
            rows += sum(file.rows for file in folded) + sum(len(table) for table, _ in steps)
        if said:
            for number, file in _save_facts(draft, f"changes-{arity}", arity, _net(said), rows):
                files.setdefault(number, []).append(file)
    for change in changes:
        kept = change.before.files[: change.staying]
        found = sorted(files.get(change.before.number, ()), key=lambda file: file.sign)
        yield replace(change.before, rows=change.relation.size("all"), files=(*kept, *found))


def _of_table(table: Table, number: int, sign: int) -> DataFrame:
    assert isinstance(table, SparkTable)
    columns = [F.col(f"`{name}`").alias(f"c{j}") for j, name in enumerate(table.columns)]
    return table.frame.select(F.lit(number).alias("p"), F.lit(sign).alias(SIGN), *columns)


def _net(said: Sequence[DataFrame]) -> DataFrame:
    """Facts (p, sign, c0, …) that changes give or take back, one after the other, as one change."""
    together = reduce(DataFrame.unionByName, said)
    keys = [name for name in together.columns if name != SIGN]
    return together.groupBy(*keys).agg(F.sum(SIGN).cast("int").alias(SIGN)).where(F.col(SIGN) != 0)


def _save_facts(
    draft: Draft, name: str, arity: int, facts: DataFrame, rows: int
) -> Iterator[tuple[int, FactsFile]]:
    """Write facts (p, sign, c0, …) of relations by their numbers in the store, with one job."""
    columns, written = columns_of(arity), draft.staging / name
    # One column for relation and sign, no constant for the optimiser: else the order of facts is lost.
    folder = (2 * F.col("p") + (F.col(SIGN) > 0).cast("int")).alias(FOLDER)
    spread = facts.select(folder, *columns).coalesce(1 + rows // ROWS)
    _write(spread.sortWithinPartitions(FOLDER, *columns), written, FOLDER)
    for source in sorted(written.glob(f"{FOLDER}=*/*.parquet")):
        number, is_added = divmod(int(source.parent.name.removeprefix(f"{FOLDER}=")), 2)
        count, bounds = _measured(source, columns)
        path = draft.new_facts(arity, number)
        yield number, FactsFile(path, *draft.adopt(source, path), count, bounds, sign=1 if is_added else -1)


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
        frame.write.partitionBy(*partitions).parquet(file_uri(folder.absolute()))


def _measured(path: Path, columns: Sequence[str]) -> tuple[int, Bounds]:
    """The rows of a file, and the least and greatest value of each column, from its footer."""
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    places = [metadata.schema.names.index(column) for column in columns]
    found = [[group.column(place).statistics for group in groups] for place in places]
    return metadata.num_rows, tuple((min(s.min for s in c), max(s.max for s in c)) for c in found if c)


# ---- Reading


def restore_terms(terms: SparkTerms, store: Store) -> None:
    """Begin with the terms of a store; its files are looked at when a term is first asked for."""
    files = sorted(store.manifest.terms, key=lambda file: file.first)

    def stored() -> DataFrame:
        store.verify(files)
        scan = terms.spark.read.schema("id long, key string").option(AS_WRITTEN, "false")
        return scan.parquet(*(file_uri(store.folder / file.path) for file in files))

    if files:
        terms.restore(stored, store.manifest.term_count)


@dataclass(eq=False, slots=True)
class StoredPart(Part):
    """A part that lies in a store: the relations by their numbers here."""

    store: Store | None = None
    entries: Mapping[int, StoredRelation] = field(default_factory=dict)

    def read(self, numbers: set[int]) -> DataFrame:
        """The facts, once the files of these relations have been compared with their checksums."""
        assert self.store is not None
        self.store.verify(f for n in numbers if n in self.entries for f in self.entries[n].files)
        return Part.read(self, numbers)


def restore_relations(engine: SparkEngine, store: Store) -> list[SparkRelation]:
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
    return StoredPart(
        arity,
        partial(_facts, engine, store, arity, offset, entries),
        None,
        counts,
        relations=set(counts),
        store=store,
        entries={offset + entry.number: entry for entry in entries},
    )


def _facts(
    engine: SparkEngine, store: Store, arity: int, offset: int, entries: Sequence[StoredRelation]
) -> DataFrame:
    """Facts (p, c0, …) that the files of relations give and do not take back."""
    base, changes = list[FactsFile](), list[FactsFile]()
    for entry in entries:
        first = next((i for i, file in enumerate(entry.files) if file.sign < 0), len(entry.files))
        base += entry.files[:first]
        changes += entry.files[first:]
    facts = _frame(engine, store, arity, base)
    if changes:
        net = _net([_signed(engine, store, arity, changes)])
        few = sum(file.rows for file in changes) <= engine.broadcast_limit
        gone = net.where(F.col(SIGN) < 0).drop(SIGN)
        facts = facts.join(F.broadcast(gone) if few else gone, facts.columns, "left_anti")
        facts = facts.unionByName(net.where(F.col(SIGN) > 0).drop(SIGN))
    return facts.withColumn("p", (F.col("p") + F.lit(offset)).cast("int"))


def _signed(engine: SparkEngine, store: Store, arity: int, files: Sequence[FactsFile]) -> DataFrame:
    """Facts (p, sign, c0, …) that files give, or take back."""
    store.verify(files)
    frames = [
        _frame(engine, store, arity, some).withColumn(SIGN, F.lit(sign))
        for sign in (-1, 1)
        if (some := [file for file in files if file.sign == sign])
    ]
    return reduce(DataFrame.unionByName, frames)


def _frame(engine: SparkEngine, store: Store, arity: int, files: Sequence[FactsFile]) -> DataFrame:
    """Facts (p, c0, c1, …) of files of one arity, under the numbers that relations have in the store."""
    folder = store.folder / FACTS / str(arity)
    scan = engine.spark.read.schema(engine.parts.schema(arity)).option(AS_WRITTEN, "false")
    paths = [file_uri(store.folder / file.path) for file in files]
    found = scan.option("basePath", file_uri(folder)).parquet(*paths) if paths else engine.parts.empty(arity)
    return found.select("p", *columns_of(arity))
