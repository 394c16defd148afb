"""Saves a reasoner to a store and restores it: the program, the switches, explicit and derived facts.

The program is stored as text. Its own facts and those that it imports are among the explicit facts of the
store, and are not loaded again from the program: they may have been deleted since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from modulog.algebra.expressions import Read
from modulog.engines.backend import Backend
from modulog.engines.engine import Engine
from modulog.engines.relation import Relation
from modulog.engines.storage import Changed, Kept, Storage, Stored
from modulog.engines.table import Table
from modulog.errors import DataError, NotSupported
from modulog.evaluation.facts import Facts
from modulog.evaluation.fixpoint import make_live
from modulog.evaluation.statistics import Statistics
from modulog.evaluation.stratum import LiveStratum
from modulog.language.model import Predicate, Program
from modulog.language.parser import parse_program
from modulog.language.printer import print_program
from modulog.maintenance.update import Journal
from modulog.planning.passes import Switches
from modulog.planning.plan import Plan
from modulog.store.draft import Draft, check_target, writing
from modulog.store.manifest import Manifest, StoredRelation
from modulog.store.store import Store, open_store
from modulog.version import __version__

SYNTAX = "rls"
_NUMBERS = (
    "explicit",
    "facts",
    "derived",
    "nonrecursive_rules",
    "recursive_rules",
    "transitive_modules",
    "symmetric_modules",
    "bytes",
)


def target(folder: str | os.PathLike[str]) -> Path:
    """The path of a store to be written; a DataError, before long work begins, if it cannot become one."""
    path = store_path(folder)
    check_target(path)
    return path


def opened(folder: str | os.PathLike[str]) -> Store:
    """Open the current state of a store."""
    return open_store(store_path(folder))


def store_path(folder: str | os.PathLike[str]) -> Path:
    """The path of a store, which must be on a local or mounted file system, since it needs locks and renames.

    >>> store_path("hdfs://host/store")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    modulog.errors.DataError: hdfs://host/store: a store lies in a folder of this machine, ...
    """
    path = os.fspath(folder)
    if "://" in path:
        raise DataError(f"{path}: a store lies in a folder of this machine, or in one that is mounted here")
    return Path(path)


class Home:
    """The store that a reasoner was opened from: the state last read or written, and the changes since.

    `entries` maps relations, by identity, to their entries in the manifest. `journal` has the changes of each
    relation; it is None if the derived facts were computed again after opening, so that all relations are
    written as a whole.
    """

    def __init__(self, store: Store, relations: Sequence[Relation], journal: Journal | None) -> None:
        self.folder, self.manifest, self.journal = store.folder, store.manifest, journal
        self._store = store
        self._know(relations)

    def move(self, folder: Path) -> None:
        """Use another folder with the same files from now on; files not read yet are read from there."""
        self.folder = self._store.folder = folder

    def _know(self, relations: Sequence[Relation]) -> None:
        self._relations = list(relations)  # referenced, so that their identities are not used for others
        self.entries = {id(r): e for r, e in zip(relations, self.manifest.relations, strict=True)}

    def check(self, draft: Draft) -> None:
        """Raise an error if the store has a newer state than that which this reasoner has read or written."""
        if draft.before != self.manifest:
            raise DataError(
                f"{draft.folder}: the store has been written since this state was opened; "
                "open it again, or save to another folder"
            )

    def written(self, manifest: Manifest, relations: Sequence[Kept]) -> None:
        """Remember the state that has just been written, and start a new journal."""
        self.manifest = manifest
        self._know([relation for _, _, relation in relations])
        if self.journal is not None:
            self.journal.clear()


def storage_of(backend: Backend) -> Storage:
    """What writes the stores of an engine and reads them."""
    if backend.storage is None:
        raise NotSupported("this engine has no stores")
    return backend.storage


def save(
    folder: Path,
    program: Program,
    switches: Switches,
    facts: Facts,
    strata: Sequence[LiveStratum],
    backend: Backend,
    statistics: Statistics,
    home: Home | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Save a reasoner as a new state of a store, which has either the old or the new state at every moment.

    If `folder` is the store that the reasoner was opened from (`home`), only changes are written, and nothing
    if there are none. `notes` are stored with the state; if they are None, those of the old state stay.
    """
    relations = kept_relations(facts, strata)
    notes = None if notes is None else json.loads(json.dumps(notes))  # in the form that reading will give
    with writing(folder) as draft:
        own_store = home if home and draft.before and folder.resolve() == home.folder.resolve() else None
        if own_store is not None:
            own_store.check(draft)
        if own_store is None or own_store.journal is None:
            terms, stored = storage_of(backend).save(draft, relations)
        else:
            terms, stored = _save_changes(draft, own_store, own_store.journal, relations, backend)
            if stored == own_store.manifest.relations and notes in (None, own_store.manifest.notes):
                return
        before = own_store.manifest if own_store is not None else None
        manifest = _new_manifest(draft, program, switches, statistics, (terms, stored), notes, before)
        draft.commit(manifest)
    if own_store is not None:
        own_store.written(manifest, relations)


def _new_manifest(
    draft: Draft,
    program: Program,
    switches: Switches,
    statistics: Statistics,
    content: Stored,
    notes: Mapping[str, Any] | None,
    before: Manifest | None,
) -> Manifest:
    """The manifest of a new state; without `notes`, it has those of the state before."""
    terms, relations = content
    return Manifest(
        generation=draft.generation,
        program=print_program(program),
        syntax=SYNTAX,
        switches=asdict(switches),
        statistics={name: getattr(statistics, name) for name in _NUMBERS},
        terms=terms,
        relations=relations,
        writer=f"modulog {__version__}",
        notes=notes if notes is not None else before.notes if before else {},
        noted=draft.generation if notes is not None else before.noted if before else 0,
    )


def _save_changes(
    draft: Draft, home: Home, journal: Journal, relations: Sequence[Kept], backend: Backend
) -> Stored:
    """Write the relations that have changed; the entries of all others, with their files, stay the same."""
    known, changes, places = home.entries, list[Changed](), list[int]()
    entries: list[StoredRelation] = []
    number = 1 + max((entry.number for entry in known.values()), default=-1)
    for predicate, role, relation in relations:
        entry = known.get(id(relation))
        if entry is None:
            entry, steps = StoredRelation(number, predicate, role, 0), None
            number += 1
        else:
            steps = journal.steps(relation)
        if id(relation) not in known or journal.has_changed(relation):
            places.append(len(entries))
            changes.append(Changed(entry, relation, steps))
        entries.append(entry)
    if not changes and tuple(entries) == home.manifest.relations:
        return home.manifest.terms, home.manifest.relations
    terms, changed = storage_of(backend).save_changes(
        draft, Store(draft.folder, home.manifest, None), changes
    )
    for place, entry in zip(places, changed, strict=True):
        entries[place] = entry
    return terms, tuple(entries)


def kept_relations(facts: Facts, strata: Sequence[LiveStratum]) -> list[Kept]:
    """The relations of a store: explicit facts, derived facts, and what strata need for maintenance."""
    own = [relation for live in strata for relation in live.kept[len(live.relations) :]]
    return [
        *((p, "explicit", relation) for p, relation in facts.explicit.items()),
        *((p, "derived", relation) for p, relation in facts.derived.items()),
        *((Predicate(relation.name, relation.arity), "kept", relation) for relation in own),
    ]


def program_of(store: Store) -> tuple[Program, Switches]:
    """The program of a store and its switches."""
    manifest = store.manifest
    if manifest.syntax != SYNTAX:
        raise DataError(f"{store.folder}: the program is in the unknown syntax {manifest.syntax!r}")
    program = parse_program(manifest.program, f"{store.folder}", check=False)
    return program, Switches(**{"storage": "plain", **manifest.switches})


def _stored_edges(engine: Engine, edges: Relation) -> tuple[Table, None]:
    """The stored edges of a closure that other rules add to; there are no seeds."""
    return engine.collect(Read(edges, ("s", "t"), "all")), None


def _keeps_list(relation: Relation, facts: Relation) -> bool:
    """Whether a closure, empty yet, took the listed facts of a store as its own."""
    return relation.closing is not None and relation.closing.keep_list(facts)


def restore(
    store: Store, plan: Plan, facts: Facts, relations: list[Relation], *, anew: bool = False
) -> tuple[Statistics, list[LiveStratum]] | None:
    """Restore the facts and strata of a reasoner from the relations of a store.

    Returns None if the derived facts must be computed again: because `anew` says so (the program or the
    switches are different), or because the relations or schemes in the store are not those that the plan
    needs, as when another version of Modulog or another engine has written it.
    """
    entries = list(zip(store.manifest.relations, relations, strict=True))
    explicit = [(e, relation) for e, relation in entries if e.role == "explicit"]
    facts.explicit.update({e.predicate: relation for e, relation in explicit if e.rows or not anew})
    derived = {e.predicate: relation for e, relation in entries if e.role == "derived"}
    schemes = {e.predicate: e.scheme for e, _ in entries if e.scheme != "plain"}
    if anew or derived.keys() != facts.derived.keys():
        return None
    if not all(facts.can_represent(predicate, scheme) for predicate, scheme in schemes.items()):
        return None
    fresh = facts.derived
    closed = {p for p, relation in derived.items() if p in schemes or _keeps_list(fresh[p], relation)}
    facts.derived = {p: fresh[p] if p in closed else relation for p, relation in derived.items()}
    facts.connect()
    strata = list(make_live(plan, facts).values())
    kept = [(e.predicate.name, e.predicate.arity, r) for e, r in entries if e.role == "kept"]
    wanted = [(r.name, r.arity) for live in strata for r in live.kept[len(live.relations) :]]
    if [(name, arity) for name, arity, _ in kept] != wanted:
        facts.forget_derived()
        return None
    rows = {e.predicate: e.rows for e, _ in entries if e.predicate in closed}
    for place, (entry, stored) in enumerate(entries):
        if entry.predicate in closed and entry.role == "derived":
            relation = fresh[entry.predicate]
            if entry.files and entry.predicate in schemes and relation.closing is not None:
                relation.closing.later(partial(_stored_edges, facts.engine, stored), entry.rows)
            relations[place] = relation
    found = iter([relation for _, _, relation in kept])
    for live in strata:
        live.restore(found)
    if not all(live.represent(rows) for live in strata):
        facts.forget_derived()
        return None
    return replace(Statistics(), **store.manifest.statistics), strata
