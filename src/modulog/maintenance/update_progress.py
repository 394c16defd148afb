"""How far an update has come, so that another process can go on: what each stratum has lost and won.

The change of a stratum that was finished is applied to its relations as it is. Of one that was not, the loops
begin with what had left and what had come: over-deleting more than necessary is correct because rederivation
restores it, and what had come follows from what holds now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from modulog.algebra.expressions import Project, Read, Rows
from modulog.engines.backend import Backend
from modulog.engines.engine import Engine, Work
from modulog.engines.relation import ModuleId, Relation
from modulog.engines.table import Table, columns_of
from modulog.engines.values import Failures


class RelationChange(NamedTuple):
    """The net change of a relation."""

    gone: Table
    come: Table


def step_of(engine: Engine, relation: Relation) -> RelationChange | None:
    """What the update has changed in a relation so far; None if nothing, or if its facts are not listed."""
    if not relation.listed or not (relation.has("gone") or relation.has("come")):
        return None
    names = columns_of(relation.arity)
    gone, come = (engine.snapshot(Read(relation, names, version)) for version in ("gone", "come"))
    return RelationChange(gone, come)


def all_of(engine: Engine, relation: Relation) -> RelationChange | None:
    """All facts of a relation that was empty at first, as facts that have come."""
    if not relation.listed:
        return None
    nothing, everything = (
        engine.snapshot(Read(relation, columns_of(relation.arity), v)) for v in ("gone", "all")
    )
    return RelationChange(nothing, everything)


def arrival(relation: Relation, rows: Table, source: ModuleId) -> Work:
    """Work that schedules rows for a relation, to come or to leave."""
    names = columns_of(relation.arity)
    return Work(relation, Project(Rows(rows), names, "keep"), source)


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a stratum has come: the change of each of its relations.

    `is_done` says that this is the whole change, `is_anew` that the stratum was being computed from scratch.
    """

    steps: Sequence[RelationChange | None]
    is_done: bool = False
    is_anew: bool = False

    def work(self, relations: Sequence[Relation], leaving: bool, source: ModuleId) -> Iterator[Work]:
        """What had left, or had come, as facts of relations."""
        for relation, step in zip(relations, self.steps, strict=False):  # what modules keep comes last
            if step is None or not relation.takes_facts:
                continue
            if len(rows := step.gone if leaving else step.come):
                yield arrival(relation, rows, source)


@runtime_checkable
class UpdateCheckpoints(Protocol):
    """Saves how far an update has come."""

    @property
    def failures(self) -> Failures:
        """What an earlier process had counted."""

    def begin(self, backend: Backend) -> None:
        """Give a backend, which knows only the terms of the store, those that were saved."""

    def found(self, stratum: int) -> Reached | None:
        """How far an earlier process had come with a stratum."""

    def reached(self, stratum: int, relations: Sequence[Relation], *, is_done: bool = False) -> None:
        """A round, or all of a stratum (`is_done`), is over: save the change of relations, if it is time."""

    def reached_anew(self, stratum: int, relations: Sequence[Relation]) -> None:
        """A round of computing a stratum from scratch is over: perhaps keep the facts of these relations.

        They were empty when it began.
        """


class Unkept:
    """Update checkpoints that keep nothing, so that an update which is stopped begins anew."""

    failures = Failures()

    def begin(self, backend: Backend) -> None:
        pass

    def found(self, stratum: int) -> Reached | None:
        return None

    def reached(self, stratum: int, relations: Sequence[Relation], *, is_done: bool = False) -> None:
        pass

    def reached_anew(self, stratum: int, relations: Sequence[Relation]) -> None:
        pass


UNKEPT: UpdateCheckpoints = Unkept()


def replay(relations: Sequence[Relation], reached: Reached, engine: Engine, source: ModuleId) -> None:
    """Change the relations as an earlier process did when it brought the stratum up to date."""
    for leaving in (True, False):
        engine.run(list(reached.work(relations, leaving, source)))
        changed = [r for r, step in zip(relations, reached.steps, strict=True) if step is not None]
        _take(changed, leaving)


def _take(relations: Iterable[Relation], leaving: bool) -> None:
    relations = list(relations)
    for relation in relations:
        relation.derive(leaving)
    for relation in relations:
        relation.merge()
        relation.rest()
