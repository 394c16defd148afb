"""One recursive clause that is evaluated by the standard plan until a tree is known to pay, and again once a table of the tree has got too many rows.

When a stratum begins, its own predicates often have no facts, and then no estimate says anything of what they will have. The standard plan comes first, and
a tree is looked for once that has cost something, from the sizes that there are then. Where all of the body's predicates have facts at the first round, a tree is looked for at once. Between two rounds the clause can change sides: a round considers the instances that use a fact of
Δ, whoever evaluates it, and the tables of a tree are filled from `old`. Within a round it can, too, before the clause has handed out any work.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.engines.protocol import ModuleId
from modulog.language.model import Predicate
from modulog.modules.changes import due
from modulog.modules.clauses import Context, prepare
from modulog.modules.decomposed import EXCESS, DecomposedClause, decide, expected_rows
from modulog.modules.seminaive import SeminaiveModule
from modulog.planning.plan import Clause
from modulog.planning.worth import CHEAP

AGAIN = 8.0  # how many times as much rounds must have cost before a tree is considered again
TRIES = 3  # how many trees a clause of "auto" may give up before it stays with the standard plan


class SwitchingClause:
    """A clause, its standard evaluation as a module of its own, and its tree while it has one.

    `limit` is the most rows of a table. With "all" it doubles when a tree was given up, and the next round begins with a tree again.
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
        self.tree: DecomposedClause | None = None
        self.given_up: list[DecomposedClause] = []
        self._began = False  # whether a round or an update has begun
        self._cost = self._asked = (
            0.0  # what rounds of the standard plan are estimated to have cost: so far, and when a tree was last considered
        )

    def consider(self, updating: bool = False) -> None:
        """Take a tree if one pays: asked at the first round if all predicates have facts by then, else once rounds have cost more than a search for a tree;
        and again each time that they have cost `AGAIN` times as much.

        An update, which a tree may serve better than the rounds did, asks if nobody has asked before.
        """
        if self.tree is None and (self.mode == "all" or self._is_due(updating)):
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
        """Whether a table had far more rows already than its estimate says now; where "all" is asked for nobody looks."""
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
