"""Relations and terms of the local engine into a store: facts sorted as in a run, in files that several
threads write.

Ids are written as differences, bit-packed: sorted facts then take two to three bytes each, and writing and
reading are faster than without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.engines.local.body_relation import Body, body_of
from modulog.engines.local.fact_levels import Layer, Level, merged
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.runs import Run, concatenate, places
from modulog.engines.local.shared_closure import SharedClosureBody
from modulog.engines.local.store_reader import read_levels
from modulog.engines.local.table import LocalTable
from modulog.engines.storage import Changed, Kept, Stored
from modulog.engines.table import Table
from modulog.kernels import packing, sort
from modulog.kernels.types import Words
from modulog.store.draft import Draft
from modulog.store.manifest import FactsFile, StoredRelation, TermsFile, staying
from modulog.store.store import Store
from modulog.terms.arrow import wrap
from modulog.terms.dictionary import Dictionary

FACTS = 1 << 22  # facts in a file, so that several threads write and read a large relation
TERMS = 1 << 21  # terms in a file
GROUP = 1 << 19  # rows in a row group
HELD = 1 << 23  # facts that may wait to be written

Pending = tuple[StoredRelation, Sequence["Future[FactsFile]"]]


def save(draft: Draft, dictionary: Dictionary, relations: Iterable[Kept]) -> Stored:
    """Write terms and relations; answers what the manifest says of them."""
    with ThreadPoolExecutor() as threads:
        terms = save_terms(draft, dictionary, threads)
        pending: deque[Pending] = deque()
        stored: list[StoredRelation] = []
        held = 0
        for number, (predicate, role, relation) in enumerate(relations):
            entry = StoredRelation(number, predicate, role, relation.size("all"), (), relation.scheme.kind)
            pending.append((entry, save_facts(draft, entry, body_of(relation), threads)))
            # Relations are sorted while those before them are written, which may be copies: not too many are
            # held.
            held += entry.rows if relation.listed else 0
            while held > HELD:
                stored.append(_finished(*pending.popleft()))
                held -= stored[-1].rows if stored[-1].scheme == "plain" else 0
        stored += [_finished(*one) for one in pending]
        return tuple(f.result() for f in terms), tuple(stored)


def _finished(entry: StoredRelation, files: Sequence[Future[FactsFile]]) -> StoredRelation:
    return replace(entry, files=tuple(file.result() for file in files))


def save_facts(
    draft: Draft, entry: StoredRelation, relation: Body, threads: ThreadPoolExecutor
) -> Sequence[Future[FactsFile]]:
    """Write all facts of a relation."""
    arity, rows = relation.arity, entry.rows
    if not rows or not arity:
        return []
    if isinstance(relation, SharedClosureBody):
        return write_words(draft, entry, relation.external_words(), threads)
    if isinstance(relation, PlainRelation):
        return write_words(draft, entry, sorted_words(relation), threads)
    return []


def write_words(
    draft: Draft, entry: StoredRelation, words: Words, threads: ThreadPoolExecutor, sign: int = 1
) -> Sequence[Future[FactsFile]]:
    """Write sorted facts of a relation that has arguments."""
    arity, rows = entry.predicate.arity, words.shape[1]
    return [
        threads.submit(
            _write_facts,
            draft,
            draft.new_facts(arity, entry.number),
            words,
            arity,
            start,
            min(rows, start + FACTS),
            sign,
        )
        for start in range(0, rows, FACTS)
    ]


def sorted_words(relation: PlainRelation) -> Words:
    """The facts of a relation, sorted by their arguments; a run that is sorted so is not copied."""
    return words_of(relation.arity, relation.layers("all"))[0]


def words_of(arity: int, layers: Sequence[Layer]) -> tuple[Words, int]:
    """The facts of some layers, sorted by their arguments, and how many there are; a run that is sorted so is
    not copied.
    """
    runs = [reduce(Run.without, layer.hidden, layer.run) for layer in layers]
    run = concatenate(arity, runs) if runs else Run.empty(arity)
    natural = tuple(range(arity))
    for order in run.orders:
        if order.is_sorted and order.permutation == natural:
            return order.words, len(run)
    return sort.sort_words(run.words()), len(run)


def _write_facts(
    draft: Draft, path: str, words: Words, arity: int, start: int, stop: int, sign: int
) -> FactsFile:
    schema = pa.schema([pa.field(f"c{j}", pa.int64(), nullable=False) for j in range(arity)])
    natural = places(tuple(range(arity)))
    least, greatest = np.full(arity, 2**31, np.int64), np.full(arity, -1, np.int64)
    with (
        draft.create(path) as output,
        pq.ParquetWriter(
            output, schema, compression="none", use_dictionary=False, column_encoding="DELTA_BINARY_PACKED"
        ) as writer,
    ):
        for at in range(start, stop, GROUP):
            columns = packing.unpack(words, natural, at, min(stop, at + GROUP))
            low, high = packing.ranges(columns)
            least, greatest = np.minimum(least, low), np.maximum(greatest, high)
            arrays = [wrap(column.astype(np.int64)) for column in columns]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
    bounds = tuple(zip(least.tolist(), greatest.tolist(), strict=True))
    return FactsFile(path, output.bytes, output.checksum, stop - start, bounds, sign=sign)


def save_terms(
    draft: Draft, dictionary: Dictionary, threads: ThreadPoolExecutor, first: int = 0
) -> Sequence[Future[TermsFile]]:
    """Write the terms from a number on."""
    count = len(dictionary)
    return [
        threads.submit(_write_terms, draft, draft.new_terms(), dictionary, at, min(count, at + TERMS))
        for at in range(first, count, TERMS)
    ]


def _write_terms(draft: Draft, path: str, dictionary: Dictionary, start: int, stop: int) -> TermsFile:
    data, offsets, _ = dictionary.arrays()
    schema = pa.schema(
        [pa.field("id", pa.int64(), nullable=False), pa.field("key", pa.large_string(), nullable=False)]
    )
    content = pa.py_buffer(data)
    with (
        draft.create(path) as output,
        pq.ParquetWriter(
            output,
            schema,
            compression="lz4",
            use_dictionary=False,
            column_encoding={"id": "DELTA_BINARY_PACKED", "key": "PLAIN"},
        ) as writer,
    ):
        for at in range(start, stop, GROUP):
            end = min(stop, at + GROUP)
            keys = pa.LargeStringArray.from_buffers(end - at, pa.py_buffer(offsets[at : end + 1]), content)
            ids = wrap(np.arange(at, end, dtype=np.int64))
            writer.write_batch(pa.record_batch([ids, keys], schema=schema))
    return TermsFile(path, output.bytes, output.checksum, stop - start, start)


# Changes of the local engine into a store: of each relation what went and what came, folded with earlier
# changes where these are small beside it.
def save_changes(draft: Draft, store: Store, dictionary: Dictionary, changes: Sequence[Changed]) -> Stored:
    """Write new terms and what changed; answers all files of terms, and the entries of the relations."""
    known = store.manifest.terms
    kept = known[: staying(known, len(dictionary) - store.manifest.term_count)]
    with ThreadPoolExecutor() as threads:
        terms = save_terms(draft, dictionary, threads, sum(file.rows for file in kept))
        pending = [_change(draft, store, change, threads) for change in changes]
        stored = [replace(e, files=(*e.files, *(f.result() for f in files))) for e, files in pending]
        return (*kept, *(file.result() for file in terms)), tuple(stored)


def _change(draft: Draft, store: Store, change: Changed, threads: ThreadPoolExecutor) -> Pending:
    """The entry of a relation with the files that stay, and those that are being written."""
    relation = change.relation
    if count := change.staying:
        return write_change(draft, store, change, count, threads)
    entry = replace(change.before, rows=relation.size("all"), files=(), scheme=relation.scheme.kind)
    return entry, save_facts(draft, entry, body_of(relation), threads)


def write_change(
    draft: Draft, store: Store, change: Changed, count: int, threads: ThreadPoolExecutor
) -> Pending:
    """Write the steps of a relation, and what the files after the first so many say, as one change."""
    before, arity = change.before, change.relation.arity
    entry = replace(before, rows=change.relation.size("all"), files=before.files[:count])
    levels = read_levels(arity, before.files[count:], store)
    levels += [Level(_run(come), _run(gone)) for gone, come in change.steps or ()]
    level = reduce(merged, levels, Level(Run.empty(arity)))
    files: list[Future[FactsFile]] = []
    for run, sign in ((level.dels, -1), (level.adds, 1)):
        if run is not None and len(run):
            words, is_sorted = run.natural()
            files += write_words(draft, entry, words if is_sorted else sort.sort_words(words), threads, sign)
    return entry, files


def _run(table: Table) -> Run:
    """The rows of a table, each of them there once."""
    assert isinstance(table, LocalTable)
    arity = len(table.columns)
    words = packing.pack(table.ids, places(tuple(range(arity))))
    return Run.of(arity, sort.sort_words(words), True)
