"""What updates changed in each relation since a store was written, so that only that need be written next."""

from __future__ import annotations

from collections.abc import Iterable

from modulog.engines.engine import Engine
from modulog.engines.relation import Relation
from modulog.maintenance.update_progress import Step, step_of

SHARE = 2  # a relation that has changed by half is better written as a whole


class Journal:
    """The steps of every relation that changed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._steps: dict[
            int, list[Step] | None
        ] = {}  # by the identity of relations, which live as long as the session

    def look(self, relations: Iterable[Relation]) -> list[tuple[Relation, Step | None]]:
        """Before an update is committed: what it changed."""
        changed = [r for r in relations if r.has("gone") or r.has("come")]
        return [(r, step_of(self._engine, r)) for r in changed]

    def record(self, seen: Iterable[tuple[Relation, Step | None]]) -> None:
        """Once the update is committed: keep what was seen."""
        for relation, step in seen:
            steps = self._steps.setdefault(id(relation), [])
            if steps is None:
                continue
            if step is not None:
                steps.append(step)
            if step is None or SHARE * sum(len(t) for s in steps for t in s) > relation.size("all"):
                self._steps[id(relation)] = None

    def has_changed(self, relation: Relation) -> bool:
        """Whether an update changed the relation."""
        return id(relation) in self._steps

    def steps(self, relation: Relation) -> list[Step] | None:
        """What changed in the relation, in order; None if it is to be written as a whole."""
        return self._steps.get(id(relation), [])

    def clear(self) -> None:
        """A state was written: from here on anew."""
        self._steps = {}
