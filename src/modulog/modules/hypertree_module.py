"""The hypertree module: recursive clauses by hypertree decompositions (hypertree paper, Algorithms 3 to 6).

Add^r and Del^r first change the tables of the nodes (in-node evaluation), then join them, at least one of
them restricted to what changed (cross-node evaluation). In nodes and across them, the changed atom reads Δ,
recursive atoms before it read `old`, and those after it `all`. Red^r queries the tables. A clause for which a
tree is estimated not to pay, or whose tables get too many rows, is evaluated by the standard plan, that is by
joins in the best order (`SwitchingClause`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from modulog.engines.engine import Work
from modulog.engines.relation import ModuleId, Version
from modulog.joins.decomposition_cost import CHEAP
from modulog.joins.hypergraph import may_be_decomposed
from modulog.language.model import Predicate
from modulog.modules.clause import Context, Evaluation, prepare
from modulog.modules.clause_changes import due
from modulog.modules.decomposed_clause import EXCESS, DecomposedClause, decide, expected_rows
from modulog.modules.derivation_counts import Counting
from modulog.modules.module import Module
from modulog.modules.node_table import NodeTable, Pool, TreeTables
from modulog.modules.seminaive import SeminaiveModule
from modulog.planning.plan import Clause

AGAIN = 8.0  # how many times as much rounds must have cost before a tree is considered again
TRIES = 3  # how many trees a clause of "auto" may give up before it stays with the standard plan


class HypertreeModule(Module):
    """Recursive clauses of a stratum; `own` are its predicates.

    With `mode` "auto" a clause gets a tree if that is estimated to be cheaper, with "all" whenever it can.
    `limit` is the most rows that the table of a node may have; without one, "auto" allows somewhat more than
    is estimated.
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
        self.number, self.engine, self._own, self._context = number, context.engine, tuple(own), context
        self.clauses = [SwitchingClause(c, number, tuple(own), context, mode, limit) for c in clauses]
        self._counts = self._updating = False
        self._counted: SeminaiveModule | None = None
        self._counted_clauses: list[Clause] = []

    def count_derivations(self) -> None:
        """Count derivations of the clauses without a tree from the next update on; no trees are made then."""
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
        """The modules of the clauses without a tree: one for each, in the order of the program.

        Those whose derivations are counted share one module.
        """
        counted = [] if self._counted is None else [self._counted]
        apart = [c for c in self.clauses if c.tree is None and c.clause not in self._counted_clauses]
        return [*counted, *(clause.standard for clause in apart)]

    def _consider(self, updating: bool = False) -> None:
        """Give trees to the clauses for which they pay.

        Not inside an update, whose tables are maintained, and not once derivations are counted.
        """
        if self._updating or self._counted is not None:
            return
        for clause in self.clauses:
            clause.consider(updating)
        if self._counts:
            self._counted_clauses = [clause.clause for clause in self.clauses if clause.tree is None]
            self._counted = SeminaiveModule(self.number, self._counted_clauses, self._own, self._context)
            self._counted.count_derivations()

    def _without_exceeded(self) -> list[TreeTables]:
        """The tables of all trees, once those with too many rows were given up."""
        for clause in self.clauses:
            clause.give_up_exceeded()
        return self._tables()

    def _tables(self, maintained: bool = False) -> list[TreeTables]:
        """The tables of the decomposed clauses; new ones are empty."""
        pool: Pool = {}
        return [tree.tables or tree.make_tables(maintained, pool) for tree in self.trees]

    def _merged(self) -> tuple[list[TreeTables], list[NodeTable]]:
        """All tables, and those that change with the stratum's facts, each once.

        Their last Δ has joined or left them.
        """
        for tables in self._tables():
            tables.fill("after", "old")
        every = self._without_exceeded()
        recursive = list(dict.fromkeys(table for tables in every for table in tables.recursive))
        for table in recursive:
            table.merge()
        return every, recursive

    # ---- The functions of a module

    def add(self) -> list[Work]:
        """Add^r: new rows of the nodes, and what follows from them."""
        self._consider()
        for table in self._merged()[1]:
            table.add()
        every = self._without_exceeded()
        return [*self._across(every, "after", "after"), *(w for m in self.standard for w in m.add())]

    def delete(self) -> list[Work]:
        """Del^r: rows of the nodes that lose their last match, and what followed from them."""
        every, recursive = self._merged()
        for table in recursive:
            table.delete()
        return [*self._across(every, "kept", "either"), *(w for m in self.standard for w in m.delete())]

    def rederive(self) -> list[Work]:
        """Red^r: the over-deleted facts that the tables still give."""
        found = due([tables.rederivation for tables in self._merged()[0]])
        return [*(e.work() for e in found), *(w for m in self.standard for w in m.rederive())]

    def diff(self, sign: int) -> list[Work]:
        """What changes below the stratum take away (-1) or bring (+1), directly or through tables."""
        for table in self._merged()[1]:
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

    # ---- Rounds and updates begin and end

    def rest(self) -> None:
        """The fixpoint is over; tables that are not maintained are given up."""
        for tree in self.trees:
            if tree.tables is not None and not tree.tables.maintained:
                tree.forget()
            elif tree.tables is not None:
                tree.tables.rest()

    def begin(self) -> None:
        self._consider(updating=True)
        self._updating = True
        for tables in self._tables(maintained=True):
            tables.begin()
        self._without_exceeded()
        for module in self.standard:
            module.begin()

    def end(self) -> None:
        self._updating = False

    def counters(self) -> list[Counting]:
        """The recursive counters of clauses that are not decomposed, if they are kept."""
        self._consider(updating=True)
        return [] if self._counted is None else self._counted.counters()

    def evaluations(self) -> list[Evaluation]:
        """How clauses are evaluated by the standard plan, those included that were before they got a tree."""
        counted = [] if self._counted is None else self._counted.evaluations()
        return [*counted, *(e for clause in self.clauses for e in clause.standard.evaluations())]


class SwitchingClause:
    """A clause, its standard evaluation as a module of its own, and its tree while it has one.

    When a stratum begins, its own predicates often have no facts, and nothing is known of how many they will
    have. So the standard plan is used first, and once that has cost something a tree is looked for, with the
    sizes that the predicates have by then; if all predicates of the body have facts at the first round, a
    tree is looked for at once. The clause can switch between two rounds, because either way a round considers
    the instances that use a fact of Δ, and the tables of a tree are filled from `old`. It can switch within a
    round, too, as long as it has not returned any work.

    `limit` is the most rows of a table. With "all" it doubles when a tree was given up, and the next round
    begins with a tree again.
    """

    def __init__(
        self,
        clause: Clause,
        number: ModuleId,
        own: Sequence[Predicate],
        context: Context,
        mode: str,
        limit: int | None,
    ) -> None:
        self.clause, self.number, self.engine = clause, number, context.engine
        self.mode, self.limit = mode, limit
        self.prepared = prepare(clause, context, own)
        self.standard = SeminaiveModule(number, [clause], own, context)
        self._may_have_one = may_be_decomposed(clause, mode)
        self.tree: DecomposedClause | None = None
        self.given_up: list[DecomposedClause] = []
        self._began = False  # whether a round or an update has begun
        # The estimated cost of the standard plan's rounds: so far, and when a tree was last considered.
        self._cost = self._asked = 0.0

    def consider(self, updating: bool = False) -> None:
        """Take a tree if one is estimated to be cheaper.

        That is computed at the first round if all predicates have facts by then, else once rounds have cost
        more than a search for a tree; and again each time that they have cost `AGAIN` times as much. The
        first update computes it if no round did: a tree may be better for updates than for rounds.
        """
        if not self._may_have_one or self.tree is not None:
            return
        if self.mode == "all" or self._is_due(updating):
            found = decide(self.clause, self.prepared, self.mode, self.engine, self.number, self.limit)
            if isinstance(found, DecomposedClause) and not self._is_known_to_fail(found):
                self.tree = found

    def _is_due(self, updating: bool) -> bool:
        first, self._began = not self._began, True
        if len(self.given_up) >= TRIES or not all(
            a.relation.has("all") for a in self.prepared.atoms if a.own
        ):
            return False
        if first or updating:
            return not self._asked
        self._cost += sum(e.estimate() for e in due(self.standard.adding))
        if self._cost < max(CHEAP, AGAIN * self._asked):
            return False
        self._asked = self._cost
        return True

    def _is_known_to_fail(self, found: DecomposedClause) -> bool:
        """Whether a table had far more rows before than is estimated now; with "all" that does not matter."""
        seen = {key: rows for tree in self.given_up for key, rows in tree.seen.items()}
        return self.mode != "all" and any(
            seen.get((p.atoms, p.table), 0) > EXCESS * expected_rows(p, found.projects(p))
            for p in found.nodes
        )

    def give_up_exceeded(self) -> None:
        """Go back to the standard plan if a table has got too many rows."""
        if self.tree is not None and self.tree.exceeded:
            self.given_up.append(self.tree)
            self.tree = None
            self.limit = None if self.limit is None else 2 * self.limit
