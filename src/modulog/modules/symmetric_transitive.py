"""The symmetric-transitive module beside other recursive clauses: Algorithms 7 to 9 of the modular paper.

C_R is a relation of members and components, a component being named by one of its members. A new edge between
two components moves the members of the smaller one; a deleted fact dissolves the component that holds both of
its ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from modulog.algebra.expressions import AntiJoin, Expr, Join, Project, Read, Rows, Union
from modulog.closures.shared_lists import among
from modulog.engines.engine import Work
from modulog.engines.relation import ModuleId, Relation
from modulog.engines.table import Table
from modulog.modules.clause import Context
from modulog.modules.transitive import SharedClosure
from modulog.planning.plan import ModulePlan
from modulog.terms.arrow import unwrap


class SymmetricModule(SharedClosure):
    """One symmetric and transitive predicate of a stratum with other recursion."""

    def __init__(self, number: ModuleId, plan: ModulePlan, context: Context) -> None:
        super().__init__(number, plan, context)
        self.members = self.engine.relation(f"{self.relation.name} members", 2)  # C_R
        self.broken = self.engine.relation(f"{self.relation.name} broken", 2)  # dissolved in this update
        self.updating = False

    def _work(self, pairs: Expr) -> Work:
        return Work(self.relation, Project(pairs, ("x", "y"), "keep"), self.number, self.label)

    def _assign(self, members: Expr, leaving: bool) -> None:
        """Members (x, c) join or leave C_R."""
        if not self.updating:
            self.members.begin()
        self.engine.run([Work(self.members, Project(members, ("x", "c"), "keep"), self.number, self.label)])
        self.members.derive(leaving)
        self.members.merge()
        self.members.rest()
        if not self.updating:
            self.members.commit()

    # ---- Algorithm 7

    def add(self) -> list[Work]:
        """Add (Definition 3): the pairs of the components that new facts make or join."""
        if self._is_idle:
            return []
        return self._close_edges(self._delta())

    def _close_edges(self, edges: Expr) -> list[Work]:
        """CloseEdges: bring C_R up to date with new edges; returns the pairs that moved members are in."""
        ends = self.engine.collect(Project(edges, ("x", "y"), "set"))
        if not len(ends):
            return []
        moved = self._moved(ends)
        if not len(moved):
            return []
        leaving = Join(Rows(moved, ("x", "new")), Read(self.members, ("x", "c"), "all"), ("x", "c"))
        self._assign(Rows(self.engine.collect(leaving)), leaving=True)
        self._assign(Rows(moved), leaving=False)
        together = Join(Rows(moved), Read(self.members, ("y", "c"), "all"), ("x", "y"))
        back = Work(self.relation, Project(together, ("y", "x"), "keep"), self.number, self.label)
        return [self._work(together), back]

    def _moved(self, ends: Table) -> Table:
        """Members (x, c) with a new component, or another one; of those that unite, the largest stays.

        If there are more edges than the engine gathers in one process, all components are named anew.
        """
        if not self.engine.gathers(len(ends)):
            linked = Read(self.members, ("x", "y"), "all")
            named = Rows(self.engine.components(Union((Rows(ends), linked))))
            return self.engine.collect(AntiJoin(named, Read(self.members, ("x", "c"), "all"), ("x", "c")))
        nodes = Union(
            (
                Project(Rows(ends), ("x",), "keep"),
                Rows(self.engine.collect(Project(Rows(ends), ("y",), "keep")), ("x",)),
            )
        )
        known = self.engine.collect(
            Join(Project(nodes, ("x",), "set"), Read(self.members, ("x", "c"), "all"), ("x", "c"))
        )
        keys, names = _labels_of(known)
        edges = [
            np.concatenate([unwrap(b.column(j)) for b in ends.batches()]).astype(np.int64) for j in (0, 1)
        ]
        old = [np.where((found := _look_up(keys, names, e)) >= 0, found, e) for e in edges]
        united = self.engine.components(Rows(self.engine.table(("x", "y"), np.stack(old))))
        reps, roots = _labels_of(united)
        name = self._largest(reps, roots)
        is_old = among(reps, names)
        moving = is_old & (name != reps)
        renamed = self.engine.table(("c", "new"), np.stack([reps[moving], name[moving]]))
        parts = [
            Project(
                Join(Rows(renamed), Read(self.members, ("x", "c"), "all"), ("x", "new")), ("x", "new"), "keep"
            )
        ]
        fresh = self.engine.table(("x", "new"), np.stack([reps[~is_old], name[~is_old]]))
        table = self.engine.collect(Union((*parts, Rows(fresh))))
        return self.engine.collect(Rows(table, ("x", "c")))

    def _largest(self, reps: Any, roots: Any) -> Any:
        """For each component the largest of those that have the same root."""
        order = np.lexsort((-self._sizes(reps), roots))
        first = np.concatenate([[True], roots[order][1:] != roots[order][:-1]])
        name = np.empty(len(reps), np.int64)
        name[order] = reps[order][first][np.cumsum(first) - 1]
        return name

    def _sizes(self, reps: Any) -> Any:
        """How many members each of the components has; a new node counts none."""
        wanted = self.engine.table(("c",), reps[np.newaxis])
        counted = self.engine.collect(
            Project(Join(Rows(wanted), Read(self.members, (None, "c"), "all"), ("c",)), ("c",), "sum")
        )
        if not len(counted):
            return np.zeros(len(reps), np.int64)
        keys, counts = _labels_of(counted)
        return np.maximum(_look_up(keys, counts, reps), 0)

    # ---- Algorithm 8

    def begin(self) -> None:
        """An update begins: no component is broken."""
        self.broken = self.engine.relation(f"{self.relation.name} broken", 2)
        self.updating = True

    def end(self) -> None:
        self.updating = False

    def delete(self) -> list[Work]:
        """Del (Definition 6): all pairs of the components that hold both ends of a deleted fact."""
        if self._is_idle:
            return []
        inside = Join(
            Join(self._delta(), Read(self.members, ("x", "c"), "all"), ("y", "c")),
            Read(self.members, ("y", "c"), "all"),
            ("c",),
        )
        members = Join(Project(inside, ("c",), "set"), Read(self.members, ("x", "c"), "all"), ("x", "c"))
        table = self.engine.collect(members)
        if not len(table):
            return []
        self.broken.schedule(table, self.number)
        self.broken.derive()
        self.broken.merge()
        self._assign(Rows(table), leaving=True)
        return [self._work(Join(Rows(table), Rows(table, ("y", "c")), ("x", "y")))]

    # ---- Algorithm 9

    def rederive(self) -> list[Work]:
        """Red (Definition 7): close the facts that stayed inside broken components (Y_R)."""
        if not self.broken.size("all"):
            return []
        inside = Join(
            Read(self.broken, ("x", "c"), "all"), Read(self.relation, ("x", "y"), "old"), ("x", "y", "c")
        )
        stayed = Join(inside, Read(self.broken, ("y", "c"), "all"), ("x", "y"))
        return self._close_edges(stayed)

    def relations(self) -> list[Relation]:
        return [self.members]

    def restore(self, relations: Sequence[Relation]) -> None:
        """Take the members that were kept."""
        (self.members,) = relations


def _labels_of(table: Table) -> tuple[Any, Any]:
    """Nodes in ascending order, and the component of each."""
    columns = [
        np.concatenate([unwrap(b.column(j)) for b in table.batches()] or [np.empty(0, np.int64)])
        for j in (0, 1)
    ]
    order = np.argsort(columns[0], kind="stable")
    return columns[0][order].astype(np.int64), columns[1][order].astype(np.int64)


def _look_up(keys: Any, values: Any, wanted: Any) -> Any:
    """The value of each wanted key, or -1; keys are sorted."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    where = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[where] == wanted, values[where], -1)
