"""What a computation has so far, written so that another process can take it up: terms, and facts in sorted
runs, as a store has them.

Terms only grow, and relations that do not change any more are written once; of the others I and Δ are written
anew, apart, each time. Relations that are represented instead of listed are not written: they are quickly
computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from modulog.engines.freezer import Frozen
from modulog.engines.local.fact_levels import Layer
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.runs import Run, concatenate
from modulog.engines.local.store_reader import OpenedVersions, bounds_of, read_levels
from modulog.engines.local.store_writer import save_terms, words_of, write_words
from modulog.engines.relation import ModuleId, Relation
from modulog.language.model import Predicate
from modulog.store.draft import Draft
from modulog.store.manifest import Manifest, StoredRelation, TermsFile, relation_from, terms_from
from modulog.store.store import Store
from modulog.terms.dictionary import Dictionary

FACT, TERM = 1e-7, 2e-7  # seconds for writing one, measured with LUBM on two cores
LEAST = 0.3  # seconds, whatever is written: files are synchronised

Entry = list[tuple[ModuleId | None, StoredRelation]]
"""The files of a relation: those of I, without a source, and of Δ by source."""


class Freezer:
    """Freezes what one process has into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._draft = _Draft(folder)
        self._terms: tuple[TermsFile, ...] = ()
        self._lasting: WeakKeyDictionary[PlainRelation, Entry] = WeakKeyDictionary()
        self._states: list[frozenset[str]] = []  # folders of the last two states

    def seconds(self, dictionary: Dictionary, relations: Iterable[Relation]) -> float:
        """About how long it takes to freeze what is not written yet."""
        terms = len(dictionary) - sum(file.rows for file in self._terms)
        facts = sum(r.size("all") for r in relations if can_freeze(r) and r not in self._lasting)
        return LEAST + TERM * terms + FACT * facts

    def freeze(
        self,
        dictionary: Dictionary,
        aside: Sequence[Mapping[str, Any]],
        relations: Sequence[Relation],
        changing: Sequence[Relation],
    ) -> Frozen:
        """As `Freezer.freeze`."""
        entries: dict[PlainRelation, Entry] = {}
        with ThreadPoolExecutor() as threads:
            known = sum(file.rows for file in self._terms)
            terms = save_terms(self._draft, dictionary, threads, known)
            for relation in map(_plain, relations):
                entries[relation] = self._lasting.get(relation) or list(self._written(relation, threads))
            self._terms += tuple(file.result() for file in terms)
        still = set(map(_plain, changing))
        self._lasting.update({r: entry for r, entry in entries.items() if r not in still})
        state = {
            "terms": [asdict(file) for file in self._terms],
            "aside": list(aside),
            "relations": [[[source, asdict(part)] for source, part in entries[_plain(r)]] for r in relations],
        }
        folders = frozenset(_folders(self._terms, entries.values()))
        self._states = [*self._states, folders][-2:]
        for path in self.folder.glob("*/*"):
            if not any(path.relative_to(self.folder).as_posix() in known for known in self._states):
                rmtree(path)
        return Frozen(state, folders)

    def _written(
        self, relation: PlainRelation, threads: ThreadPoolExecutor
    ) -> Iterator[tuple[ModuleId | None, StoredRelation]]:
        """Write I of a relation, and Δ by source."""
        delta = relation.versions.delta
        pieces: list[tuple[ModuleId | None, Sequence[Layer]]] = [(None, relation.layers("old"))]
        pieces += [(source, [Layer(run)]) for source, run in delta]
        for source, layers in pieces:
            words, rows = words_of(relation.arity, layers)
            entry = StoredRelation(0, Predicate(relation.name, relation.arity), "kept", rows)
            files = write_words(self._draft, entry, words, threads) if rows and relation.arity else []
            yield source, _with(entry, [file.result() for file in files])

    def thaw(self, state: Mapping[str, Any]) -> tuple[Store, list[dict[str, Any]]]:
        """The terms of a frozen state, as those of a store, and the bad records; they count as written."""
        self._terms = terms_from(state["terms"])
        content = Manifest(0, "", "", {}, terms=self._terms)
        return Store(self.folder, content, None), state["aside"]

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        """As `Freezer.thaw_relations`."""
        store = Store(self.folder, Manifest(0, "", "", {}), None)
        for relation, parts in zip(map(_plain, relations), state["relations"], strict=True):
            entry: Entry = [(source, relation_from(part)) for source, part in parts]
            (_, old), *delta = entry
            relation.versions = OpenedVersions(old, store)
            relation.bounds = bounds_of(f for _, part in entry for f in part.files)
            if delta:
                runs = [(source, _run(part, store)) for source, part in delta if source is not None]
                relation.versions.show(runs)


def can_freeze(relation: Relation) -> bool:
    """Whether the facts of a relation are written: not if they can be represented."""
    return isinstance(relation, PlainRelation)


class _Draft(Draft):
    """Names for files of checkpoints, each in a folder of its own that nothing had before."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, None)
        self._stem, self._numbers = uuid4().hex[:8], count()

    def _new(self, *parents: str) -> str:
        path = f"{parents[0]}/{self._stem}-{next(self._numbers):06d}/0.parquet"
        (self.folder / path).parent.mkdir(parents=True)
        return path


def _run(part: StoredRelation, store: Store) -> Run:
    """The facts of Δ that came from one source."""
    arity = part.predicate.arity
    if not arity:
        return Run.of(0, np.zeros((1, 1), np.int64), True)
    return concatenate(arity, [level.adds for level in read_levels(arity, part.files, store)])


def _with(entry: StoredRelation, files: Sequence[Any]) -> StoredRelation:
    return StoredRelation(entry.number, entry.predicate, entry.role, entry.rows, tuple(files))


def _folders(terms: Iterable[TermsFile], entries: Iterable[Entry]) -> Iterator[str]:
    """Every folder that a state needs."""
    paths = [file.path for file in terms]
    paths += [file.path for entry in entries for _, part in entry for file in part.files]
    return (path.rpartition("/")[0] for path in paths)


def _plain(relation: Relation) -> PlainRelation:
    assert isinstance(relation, PlainRelation)
    return relation
