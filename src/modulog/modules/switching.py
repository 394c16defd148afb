"""One recursive clause that is evaluated by the standard plan until a tree is known to pay, and again once a table of the tree has got too many rows.

When a stratum begins, its own predicates have no facts, or a few, and no estimate says anything of what they will have. So the standard plan comes first, and
the question is asked again whenever a predicate has grown markedly. Between two rounds the clause can change sides: a round considers the instances that use a fact of
Δ, whoever evaluates it, and the tables of a tree are filled from `old`. Within a round it can, too, before the clause has handed out any work.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.engines.protocol import ModuleId
from modulog.language.model import Predicate
from modulog.modules.clauses import Context, has_changed, prepare
from modulog.modules.decomposed import EXCESS, DecomposedClause, decide
from modulog.modules.seminaive import SeminaiveModule
from modulog.planning.plan import Clause

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
        self._sizes: list[int] | None = None  # of the clause's own atoms, when a tree was last considered

    def consider(self) -> None:
        """Take a tree if one pays; asked when there is something to evaluate, and again when sizes have changed markedly."""
        if self.tree is not None or (self.mode != "all" and len(self.given_up) >= TRIES):
            return
        sizes = [atom.relation.guess("all") for atom in self.prepared.atoms if atom.own]
        if self.mode != "all" and not (all(sizes) and self._is_new(sizes)):
            return
        self._sizes = sizes
        found = decide(self.clause, self.prepared, self.mode, self.engine, self.number, self.limit)
        if isinstance(found, DecomposedClause) and not self._is_known_to_fail(found):
            self.tree = found

    def _is_new(self, sizes: list[int]) -> bool:
        return self._sizes is None or any(map(has_changed, sizes, self._sizes))

    def _is_known_to_fail(self, found: DecomposedClause) -> bool:
        """Whether a table had far more rows already than its estimate says now; where "all" is asked for nobody looks."""
        seen = {key: rows for tree in self.given_up for key, rows in tree.seen.items()}
        return self.mode != "all" and any(
            seen.get((p.atoms, p.table), 0) > EXCESS * max(p.join, p.rows) for p in found.nodes
        )

    def give_up_exceeded(self) -> None:
        """Go back to the standard plan if a table has got too many rows."""
        if self.tree is not None and self.tree.exceeded:
            self.given_up.append(self.tree)
            self.tree, self._sizes = None, None
            self.limit = None if self.limit is None else 2 * self.limit
