"""The hypertree module: recursive clauses evaluated along hypertree decompositions (Zhang, Hu, Nenov, Horrocks 2023, Algorithms 3 to 6).

Add^r and Del^r first change the tables of the nodes (in-node evaluation), then join them, at least one of them restricted to what changed (cross-node
evaluation). The same triangle serves in nodes and across them: the changed atom reads Δ, recursive ones before it `old`, those after it `all`. Red^r asks the tables.
A clause for which a tree does not pay is left to a seminaive module inside this one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from modulog.engines.protocol import ModuleId, Relation, Version, Work
from modulog.language.model import Predicate
from modulog.modules.changes import due
from modulog.modules.clauses import Context, Evaluation, prepare
from modulog.modules.counting import Counting
from modulog.modules.decomposed import DecomposedClause, Pool, TreeTables, decide
from modulog.modules.node_tables import NodeTable
from modulog.modules.seminaive import SeminaiveModule
from modulog.planning.plan import Clause


class HypertreeModule:
    """Recursive clauses of a stratum; `own` are its predicates. `mode` is "auto", which asks for each clause whether a tree pays, or "all"."""

    def __init__(
        self,
        number: ModuleId,
        clauses: Sequence[Clause],
        own: Collection[Predicate],
        context: Context,
        mode: str = "all",
    ) -> None:
        self.number, self.engine, self.context, self.mode = number, context.engine, context, mode
        self.clauses, self.own = clauses, tuple(own)
        self.prepared = [prepare(clause, context, self.own) for clause in clauses]
        self._counts = False

    def count_derivations(self) -> None:
        """Keep recursive counters for the clauses that are not decomposed."""
        self._counts = True
        if "_parts" in self.__dict__:
            self.standard.count_derivations()

    # ---- Which clauses are decomposed; decided when they first run

    @cached_property
    def _parts(self) -> tuple[list[DecomposedClause], SeminaiveModule]:
        trees, rest = [], []
        for clause, prepared in zip(self.clauses, self.prepared, strict=True):
            found = decide(clause, prepared, self.mode, self.engine, self.number)
            if isinstance(found, DecomposedClause):
                trees.append(found)
            else:
                rest.append(clause)
        standard = SeminaiveModule(self.number, rest, self.own, self.context)
        if self._counts:
            standard.count_derivations()
        return trees, standard

    @property
    def trees(self) -> list[DecomposedClause]:
        """The decomposed clauses."""
        return self._parts[0]

    @property
    def decomposed(self) -> list[DecomposedClause]:
        """The decomposed clauses, if that was decided already."""
        return self.trees if "_parts" in self.__dict__ else []

    @property
    def standard(self) -> SeminaiveModule:
        """The other ones."""
        return self._parts[1]

    def _tables(self, maintained: bool = False) -> list[TreeTables]:
        """The tables of the decomposed clauses; new ones are empty."""
        pool: Pool = {}
        return [tree.tables or tree.make_tables(maintained, pool) for tree in self.trees]

    def _settled(self) -> tuple[list[TreeTables], list[NodeTable]]:
        """All tables, and those that change with the stratum's facts, each once, once their last Δ has joined or left them."""
        every = self._tables()
        for tables in every:
            tables.fill("after", "old")
        recursive = list(dict.fromkeys(table for tables in every for table in tables.recursive))
        for table in recursive:
            table.settle()
        return every, recursive

    # ---- The functions of a module

    def add(self) -> list[Work]:
        """Add^r: new rows of the nodes, and what follows from them."""
        every, recursive = self._settled()
        for table in recursive:
            table.add()
        return [*self._across(every, "after", "after"), *self.standard.add()]

    def delete(self) -> list[Work]:
        """Del^r: rows of the nodes that lose their last match, and what followed from them."""
        every, recursive = self._settled()
        for table in recursive:
            table.delete()
        return [*self._across(every, "kept", "either"), *self.standard.delete()]

    def rederive(self) -> list[Work]:
        """Red^r: the over-deleted facts that the tables still give."""
        found = due([tables.rederivation for tables in self._settled()[0]])
        return [*(e.work() for e in found), *self.standard.rederive()]

    def diff(self, sign: int) -> list[Work]:
        """What changes below the stratum take away (-1) or bring (+1): directly, and through the tables they change."""
        every, recursive = self._settled()
        for table in recursive:
            table.lose() if sign < 0 else table.win()
        state: Version = "before" if sign < 0 else "after"
        return [
            *(e.work() for tables in every for e in due(tables.lost if sign < 0 else tables.won)),
            *self._across(every, state, state),
            *self.standard.diff(sign),
        ]

    def _across(self, every: Sequence[TreeTables], below: Version, absent: Version) -> list[Work]:
        """Cross-node evaluation: in turn each table restricted to its Δ."""
        return [e.work() for tables in every for e in due(tables.steps(below, absent))]

    # ---- Its life

    def rest(self) -> None:
        """The fixpoint is over; tables that are not maintained are given up."""
        for tree in self.decomposed:
            if tree.tables is not None and not tree.tables.maintained:
                tree.forget()
            elif tree.tables is not None:
                tree.tables.rest()

    def begin(self) -> None:
        """An update begins."""
        for tables in self._tables(maintained=True):
            tables.begin()
        self.standard.begin()

    def end(self) -> None:
        """Nothing is open."""

    def relations(self) -> list[Relation]:
        """Tables follow from facts: a store does not keep them."""
        return []

    def counters(self) -> list[Counting]:
        """The recursive counters of clauses that are not decomposed, if they are kept."""
        return self.standard.counters()

    def restore(self, relations: Sequence[Relation]) -> None:
        """Nothing is kept but facts."""

    def evaluations(self) -> list[Evaluation]:
        return self.standard.evaluations() if "_parts" in self.__dict__ else []
