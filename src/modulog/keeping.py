"""A session into a store and out of it again: the program, the switches, what was given and what follows.

The program is kept as printed. Its facts, and what it imports, are among the explicit facts of the store and are not read from it again: they may have
been taken back since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend, Changed, Kept, Stored
from modulog.engines.protocol import Engine, Read, Relation, Table
from modulog.engines.schemes import can_close
from modulog.errors import DataError
from modulog.language.model import Predicate, Program
from modulog.language.parser import parse_program
from modulog.language.printer import print_program
from modulog.maintenance.journal import Journal
from modulog.materialisation.facts import Facts
from modulog.materialisation.materialise import make_live
from modulog.materialisation.statistics import Statistics
from modulog.materialisation.strata import LiveStratum
from modulog.planning.pipeline import Switches
from modulog.planning.plan import Plan
from modulog.store.manifest import Manifest, StoredRelation
from modulog.store.reading import Store, open_store
from modulog.store.writing import Draft, check_target, writing
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
    """A folder that is a store or can become one; said before long work."""
    path = store_path(folder)
    check_target(path)
    return path


def opened(folder: str | os.PathLike[str]) -> Store:
    """The current state of a store."""
    return open_store(store_path(folder))


def store_path(folder: str | os.PathLike[str]) -> Path:
    """The folder of a store, which lies on a file system of this machine: locks and renames need one.

    >>> store_path("hdfs://host/store")
    Traceback (most recent call last):
    modulog.errors.DataError: hdfs://host/store: a store lies in a folder of this machine, or in one that is mounted here
    """
    path = os.fspath(folder)
    if "://" in path:
        raise DataError(f"{path}: a store lies in a folder of this machine, or in one that is mounted here")
    return Path(path)


class Home:
    """The store that a session was opened from: the state it knows, where its relations lie in it, and what has changed since.

    Without a journal what follows was computed again, and is written as a whole.
    """

    def __init__(self, store: Store, relations: Sequence[Relation], journal: Journal | None) -> None:
        self.folder, self.manifest, self.journal = store.folder, store.manifest, journal
        self._know(relations)

    def _know(self, relations: Sequence[Relation]) -> None:
        self._relations = list(relations)  # held, so that their identities stay theirs
        self.entries = {id(r): e for r, e in zip(relations, self.manifest.relations, strict=True)}

    def check(self, draft: Draft) -> None:
        """Refuse to write over a state that this session has not seen."""
        if draft.before != self.manifest:
            raise DataError(
                f"{draft.folder}: the store has been written since this state was opened; open it again, or save to another folder"
            )

    def written(self, manifest: Manifest, relations: Sequence[Kept]) -> None:
        """A new state was written: it is the one that is known."""
        self.manifest = manifest
        self._know([relation for _, _, relation in relations])
        if self.journal is not None:
            self.journal.clear()


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
    """Write everything into a store, which has the old state or the new one at every moment; into its home, what has changed.

    Notes belong to the state; without new ones, those of the home stay.
    """
    relations = kept_relations(facts, strata)
    notes = None if notes is None else json.loads(json.dumps(notes))  # as they will be read
    with writing(folder) as draft:
        returning = home if home and draft.before and folder.resolve() == home.folder.resolve() else None
        if returning is not None:
            returning.check(draft)
        if returning is None or returning.journal is None:
            terms, stored = backend.save(draft, relations)
        else:
            terms, stored = _save_changes(draft, returning, returning.journal, relations, backend)
            if stored == returning.manifest.relations and notes in (None, returning.manifest.notes):
                return
        before = returning.manifest if returning is not None else None
        manifest = Manifest(
            generation=draft.generation,
            program=print_program(program),
            syntax=SYNTAX,
            switches=asdict(switches),
            statistics={name: getattr(statistics, name) for name in _NUMBERS},
            terms=terms,
            relations=stored,
            writer=f"modulog {__version__}",
            notes=notes if notes is not None else before.notes if before else {},
            noted=draft.generation if notes is not None else before.noted if before else 0,
        )
        draft.commit(manifest)
    if returning is not None:
        returning.written(manifest, relations)


def _save_changes(
    draft: Draft, home: Home, journal: Journal, relations: Sequence[Kept], backend: Backend
) -> Stored:
    """Write what has changed; the entries of other relations stay what they are, with their files."""
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
    terms, changed = backend.save_changes(draft, Store(draft.folder, home.manifest, None), changes)
    for place, entry in zip(places, changed, strict=True):
        entries[place] = entry
    return terms, tuple(entries)


def kept_relations(facts: Facts, strata: Sequence[LiveStratum]) -> list[Kept]:
    """What a store keeps: explicit and derived facts, and what strata keep to maintain them, in the order of the strata."""
    own = [relation for live in strata for relation in live.kept[len(live.relations) :]]
    return [
        *((p, "explicit", relation) for p, relation in facts.explicit.items()),
        *((p, "derived", relation) for p, relation in facts.derived.items()),
        *((Predicate(relation.name, relation.arity), "kept", relation) for relation in own),
    ]


def program_of(store: Store) -> tuple[Program, Switches]:
    """The program of a store and the switches it is evaluated with."""
    manifest = store.manifest
    if manifest.syntax != SYNTAX:
        raise DataError(f"{store.folder}: the program is in the unknown syntax {manifest.syntax!r}")
    program = parse_program(manifest.program, f"{store.folder}", check=False)
    return program, Switches(**{"storage": "plain", **manifest.switches})


def _split(schemes: Mapping[Predicate, str]) -> tuple[list[Predicate], list[str]]:
    return list(schemes), list(schemes.values())


def _external(engine: Engine, edges: Relation) -> tuple[Table, None]:
    """The external facts of a closure that other rules feed, as a store keeps them."""
    return engine.collect(Read(edges, ("s", "t"), "all")), None


def restore(
    store: Store, plan: Plan, facts: Facts, relations: list[Relation], *, anew: bool = False
) -> tuple[Statistics, list[LiveStratum]] | None:
    """Put the relations of a store in their places; None if what follows must be computed again.

    That is so if the program is another, or if this version of Modulog, or the engine, keeps other relations than the one that wrote the store, or keeps
    them otherwise.
    """
    entries = list(zip(store.manifest.relations, relations, strict=True))
    explicit = [(e, relation) for e, relation in entries if e.role == "explicit"]
    facts.explicit.update({e.predicate: relation for e, relation in explicit if e.rows or not anew})
    derived = {e.predicate: relation for e, relation in entries if e.role == "derived"}
    schemes = {e.predicate: e.scheme for e, _ in entries if e.scheme != "plain"}
    if anew or derived.keys() != facts.derived.keys() or not all(map(facts.can_represent, *_split(schemes))):
        return None
    fresh = facts.derived
    facts.derived = {p: fresh[p] if p in schemes else relation for p, relation in derived.items()}
    facts.connect()
    strata = list(make_live(plan, facts).values())
    kept = [(e.predicate.name, e.predicate.arity, r) for e, r in entries if e.role == "kept"]
    wanted = [(r.name, r.arity) for live in strata for r in live.kept[len(live.relations) :]]
    if [(name, arity) for name, arity, _ in kept] != wanted:
        facts.derived = fresh
        facts.connect()
        return None
    rows = {e.predicate: e.rows for e, _ in entries if e.predicate in schemes}
    for place, (entry, _) in enumerate(entries):
        if entry.predicate in schemes and entry.role == "derived":
            relation, edges = fresh[entry.predicate], relations[place]
            if entry.files and can_close(relation):
                relation.later(partial(_external, facts.engine, edges), entry.rows)
            relations[place] = relation
    found = iter([relation for _, _, relation in kept])
    for live in strata:
        live.restore(found)
    if not all(live.represent(rows) for live in strata):
        facts.forget_derived()
        return None
    return replace(Statistics(), **store.manifest.statistics), strata
