"""Changes of the local engine into a store: of each relation what went and what came, folded with earlier changes where these are small beside it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import reduce

from modulog.engines.backend import Changed, Stored
from modulog.engines.local.levels import Level, merged
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.runs import Run, places
from modulog.engines.local.saving import Pending, save_facts, save_terms, write_words
from modulog.engines.local.stored import read_levels
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Table
from modulog.kernels import packing, sorting
from modulog.store.changes import staying
from modulog.store.manifest import FactsFile
from modulog.store.reading import Store
from modulog.store.writing import Draft
from modulog.terms.dictionary import Dictionary


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
    assert isinstance(relation, PlainRelation)
    if count := change.staying:
        return write_change(draft, store, change, count, threads)
    entry = replace(change.before, rows=relation.size("all"), files=(), scheme=relation.scheme)
    return entry, save_facts(draft, entry, relation, threads)


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
            files += write_words(
                draft, entry, words if is_sorted else sorting.sort_words(words), threads, sign
            )
    return entry, files


def _run(table: Table) -> Run:
    """The rows of a table, each of them there once."""
    assert isinstance(table, LocalTable)
    arity = len(table.columns)
    words = packing.pack(table.ids, places(tuple(range(arity))))
    return Run.of(arity, sorting.sort_words(words), True)
