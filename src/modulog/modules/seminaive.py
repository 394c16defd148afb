"""The seminaive module: the clauses no other module takes, by delta joins.

For a clause whose body has k atoms of the stratum there are k evaluations. In the i-th, atom i reads Δ, the atoms before it I, the atoms
after it I ∪ Δ; so every instance that uses a fact of Δ is considered once, at the first of its atoms that is in Δ.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from modulog.engines.protocol import ModuleId, Relation, Version, Work
from modulog.language.model import Predicate
from modulog.modules.clauses import Context, Evaluation, evaluation
from modulog.planning.plan import Clause


class SeminaiveModule:
    """Any recursive clauses of a stratum; `own` are its predicates."""

    def __init__(
        self, number: ModuleId, clauses: Sequence[Clause], own: Collection[Predicate], context: Context
    ) -> None:
        self.number, self.clauses = number, clauses
        self.evaluations: list[tuple[Relation, Evaluation]] = []
        for clause in clauses:
            recursive = [i for i, atom in enumerate(clause.atoms) if atom.predicate in own]
            for i in recursive:
                versions = [_version(i, j, j in recursive) for j in range(len(clause.atoms))]
                relation = context.relation(clause.atoms[i].predicate)
                self.evaluations.append((relation, evaluation(clause, versions, context, number)))

    def add(self) -> list[Work]:
        """Π[I ∪ Δ : Δ] in one step (Definition 3); a clause without a fact for each of its atoms is not touched."""
        return [e.work() for relation, e in self.evaluations if relation.size("delta") and not e.empty()]


def _version(delta: int, atom: int, recursive: bool) -> Version:
    if not recursive:
        return "old"
    return "delta" if atom == delta else "old" if atom < delta else "all"
