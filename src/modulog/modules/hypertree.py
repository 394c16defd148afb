"""The hypertree module: recursive clauses evaluated along hypertree decompositions (Zhang, Hu, Nenov, Horrocks 2023, Algorithms 3 to 6).

Add^r and Del^r first change the tables of the nodes (in-node evaluation), then join them, at least one of them restricted to what changed (cross-node
evaluation). The same triangle serves in nodes and across them: the changed atom reads Δ, recursive ones before it `old`, those after it `all`. Red^r asks the tables.
A clause for which a tree does not pay, or whose tables get too many rows, is evaluated by the standard plan (`switching`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from modulog.engines.protocol import ModuleId, Relation, Version, Work
from modulog.language.model import Predicate
from modulog.modules.changes import due
from modulog.modules.clauses import Context, Evaluation
from modulog.modules.counting import Counting
from modulog.modules.decomposed import DecomposedClause, Pool, TreeTables
from modulog.modules.node_tables import NodeTable
from modulog.modules.seminaive import SeminaiveModule
from modulog.modules.switching import SwitchingClause
from modulog.planning.plan import Clause


class HypertreeModule:
    """Recursive clauses of a stratum; `own` are its predicates. `mode` is "auto", which asks for each clause whether a tree pays, or "all".

    `limit` is the most rows that the table of a node may have; without one, "auto" allows what is estimated and some more.
    """

    def __init__(
        self,
        number: ModuleId,
        clauses: Sequence[Clause],
        own: Collection[Predicate],
        context: Context,
        mode: str = "all",
        limit: int | None = None,
    ) -> None:
        self.number, self.engine = number, context.engine
        self.clauses = [SwitchingClause(c, number, tuple(own), context, mode, limit) for c in clauses]
        self._counts = self._updating = False
        self._counted: list[SeminaiveModule] | None = None

    def count_derivations(self) -> None:
        """Keep recursive counters for the clauses that are not decomposed at the next update; from then on none gets a tree."""
        self._counts = True

    # ---- Which clauses are decomposed

    @property
    def trees(self) -> list[DecomposedClause]:
        """The clauses that are decomposed now."""
        return [clause.tree for clause in self.clauses if clause.tree is not None]

    @property
    def given_up(self) -> list[DecomposedClause]:
        """The trees that were given up, the last one of a clause last."""
        return [tree for clause in self.clauses for tree in clause.given_up]

    @property
    def standard(self) -> list[SeminaiveModule]:
        """The other clauses, each as a module."""
        return [clause.standard for clause in self.clauses if clause.tree is None]

    def _consider(self, updating: bool = False) -> None:
        """Let clauses have a tree for which it pays; not while tables are maintained in an update, or derivations are counted."""
        if self._updating or self._counted is not None:
            return
        for clause in self.clauses:
            clause.consider(updating)
        if self._counts:
            self._counted = self.standard
            for module in self._counted:
                module.count_derivations()

    def _without_exceeded(self) -> list[TreeTables]:
        """The tables of all trees, once those with too many rows were given up."""
        for clause in self.clauses:
            clause.give_up_exceeded()
        return self._tables()

    def _tables(self, maintained: bool = False) -> list[TreeTables]:
        """The tables of the decomposed clauses; new ones are empty."""
        pool: Pool = {}
        return [tree.tables or tree.make_tables(maintained, pool) for tree in self.trees]

    def _settled(self) -> tuple[list[TreeTables], list[NodeTable]]:
        """All tables, and those that change with the stratum's facts, each once, once their last Δ has joined or left them."""
        for tables in self._tables():
            tables.fill("after", "old")
        every = self._without_exceeded()
        recursive = list(dict.fromkeys(table for tables in every for table in tables.recursive))
        for table in recursive:
            table.settle()
        return every, recursive

    # ---- The functions of a module

    def add(self) -> list[Work]:
        """Add^r: new rows of the nodes, and what follows from them."""
        self._consider()
        for table in self._settled()[1]:
            table.add()
        every = self._without_exceeded()
        return [*self._across(every, "after", "after"), *(w for m in self.standard for w in m.add())]

    def delete(self) -> list[Work]:
        """Del^r: rows of the nodes that lose their last match, and what followed from them."""
        every, recursive = self._settled()
        for table in recursive:
            table.delete()
        return [*self._across(every, "kept", "either"), *(w for m in self.standard for w in m.delete())]

    def rederive(self) -> list[Work]:
        """Red^r: the over-deleted facts that the tables still give."""
        found = due([tables.rederivation for tables in self._settled()[0]])
        return [*(e.work() for e in found), *(w for m in self.standard for w in m.rederive())]

    def diff(self, sign: int) -> list[Work]:
        """What changes below the stratum take away (-1) or bring (+1): directly, and through the tables they change."""
        for table in self._settled()[1]:
            table.lose() if sign < 0 else table.win()
        every = self._without_exceeded()
        state: Version = "before" if sign < 0 else "after"
        return [
            *(e.work() for tables in every for e in due(tables.lost if sign < 0 else tables.won)),
            *self._across(every, state, state),
            *(w for m in self.standard for w in m.diff(sign)),
        ]

    def _across(self, every: Sequence[TreeTables], below: Version, absent: Version) -> list[Work]:
        """Cross-node evaluation: in turn each table restricted to its Δ."""
        return [e.work() for tables in every for e in due(tables.steps(below, absent))]

    # ---- Its life

    def rest(self) -> None:
        """The fixpoint is over; tables that are not maintained are given up."""
        for tree in self.trees:
            if tree.tables is not None and not tree.tables.maintained:
                tree.forget()
            elif tree.tables is not None:
                tree.tables.rest()

    def begin(self) -> None:
        """An update begins."""
        self._consider(updating=True)
        self._updating = True
        for tables in self._tables(maintained=True):
            tables.begin()
        self._without_exceeded()
        for module in self.standard:
            module.begin()

    def end(self) -> None:
        """Nothing is open."""
        self._updating = False

    def relations(self) -> list[Relation]:
        """Tables follow from facts: a store does not keep them."""
        return []

    def counters(self) -> list[Counting]:
        """The recursive counters of clauses that are not decomposed, if they are kept."""
        self._consider(updating=True)
        return [counting for clause in self.clauses for counting in clause.standard.counters()]

    def restore(self, relations: Sequence[Relation]) -> None:
        """Nothing is kept but facts."""

    def evaluations(self) -> list[Evaluation]:
        """How clauses are evaluated by the standard plan, those included that were before they got a tree."""
        return [e for clause in self.clauses for e in clause.standard.evaluations()]
