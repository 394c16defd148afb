"""Counters of derivations: how many instances of some clauses derive each fact of a relation.

An instance counts once, wherever its body changed: the evaluations of `clause_changes.py` find it once, and
no projection on the way removes duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modulog.algebra.expressions import Project, Read, Rows
from modulog.engines.engine import Engine, Work
from modulog.engines.relation import Counters, ModuleId, Relation, Version
from modulog.engines.table import Table, columns_of
from modulog.modules.clause import Evaluation, Prepared


def countable(clause: Prepared) -> bool:
    """Whether each change of an instance gives one row: not where a negated atom matches several facts."""
    return not any(atom.projected for atom in clause.negations)


class Counting:
    """The counters that some clauses give to the facts of one relation; built when they are first needed."""

    def __init__(
        self, relation: Relation, clauses: Sequence[Prepared], engine: Engine, source: ModuleId
    ) -> None:
        self.relation, self.engine, self.source = relation, engine, source
        self.clauses = [clause for clause in clauses if clause.relation is relation]
        self.counters: Counters | None = None
        self.changing = False

    def begin(self) -> None:
        """Begin an update; the first one counts every instance that held before it."""
        if self.counters is None:
            self.count()
        assert self.counters is not None
        self.counters.begin()
        self.changing = True

    def count(self, limit: int | None = None) -> int:
        """Count every instance that held before the update; gives how many rows they came in.

        Beyond the limit of these not all are counted.
        """
        counters, rows = self.engine.counters(self.relation.name, self.relation.arity), 0
        for clause in self.clauses:
            everything = clause.whole("before", self.source, counting=True)
            if not everything.empty():
                found = self.engine.collect(everything.chosen(), limit)
                rows += len(found)
                counters.adjust(found)
        self.counters = counters
        return rows

    def items(self) -> Iterator[Table]:
        """The facts that have any instance."""
        assert self.counters is not None
        return self.counters.items()

    def change(self, evaluations: Sequence[Evaluation], sign: int) -> list[Work]:
        """Count instances that came (+1) or went (-1); their heads, as work."""
        assert self.counters is not None
        work = []
        for evaluation in evaluations:
            heads = self.engine.collect(evaluation.chosen())
            if len(heads):
                self.counters.adjust(heads, sign)
                work.append(self._work(heads, evaluation.clause))
        return work

    def _work(self, heads: Table, label: object) -> Work:
        return Work(self.relation, Project(Rows(heads), heads.columns, "keep"), self.source, label)

    def left(self, version: Version) -> list[Work]:
        """The facts of a version that some instance still derives, as work."""
        found = self.positive(version)
        return [self._work(found, self.relation.name)] if len(found) else []

    def positive(self, version: Version) -> Table:
        """The facts of a version that some instance derives."""
        assert self.counters is not None
        names = columns_of(self.relation.arity)
        return self.counters.positive(self.engine.collect(Read(self.relation, names, version)))

    def forget(self) -> None:
        """Drop the counters, because facts were computed without them; the next update counts anew."""
        self.counters, self.changing = None, False

    def commit(self) -> None:
        """Keep the counters as the update has left them."""
        if self.counters is not None and self.changing:
            self.counters.commit()
        self.changing = False

    def rollback(self) -> None:
        """Restore the counters from before the update."""
        if self.counters is not None and self.changing:
            self.counters.rollback()
        self.changing = False
