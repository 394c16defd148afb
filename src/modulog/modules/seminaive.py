"""The seminaive module: the clauses no other module takes, by delta joins.

For a clause whose body has k atoms of the stratum there are k evaluations. In the i-th, atom i reads Δ, the
atoms before it I, the atoms after it I ∪ Δ; so every instance that uses a fact of Δ is considered once, at
the first of its atoms that is in Δ. Over-deletion reads the same three versions while Δ leaves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from modulog.engines.engine import Work
from modulog.engines.relation import ModuleId, Version
from modulog.language.model import Predicate
from modulog.modules.clause import Context, Evaluation, Prepared, prepare
from modulog.modules.clause_changes import due, lost, rederivation, won
from modulog.modules.derivation_counts import Counting, countable
from modulog.modules.module import Module
from modulog.planning.plan import Clause


class SeminaiveModule(Module):
    """Any recursive clauses of a stratum; `own` are its predicates.

    With `count_derivations` (DRed^c) it keeps C_r, the number of instances of its clauses that derive each
    fact: an over-deleted fact is rederived when some are left. Otherwise it is rederived by a query.
    """

    def __init__(
        self, number: ModuleId, clauses: Sequence[Clause], own: Collection[Predicate], context: Context
    ) -> None:
        self.number, self.engine = number, context.engine
        self.prepared = [prepare(clause, context, tuple(own)) for clause in clauses]
        self.counting: dict[int, Counting] = {}
        self.adding = self._steps("after", "after", False)

    def count_derivations(self) -> None:
        """Keep recursive counters from the next update on, if every clause can be counted."""
        if not all(map(countable, self.prepared)):
            return
        for relation in {id(c.relation): c.relation for c in self.prepared}.values():
            self.counting[id(relation)] = Counting(relation, self.prepared, self.engine, self.number)
        self.adding = self._steps("after", "after", True)

    def _steps(self, below: Version, absent: Version, counting: bool) -> list[Evaluation]:
        return [e for clause in self.prepared for e in steps(clause, self.number, below, absent, counting)]

    @cached_property
    def _deleting(self) -> list[Evaluation]:
        # Instances with a changed atom below are left to Diff: here, atoms below read what stayed, and
        # negated ones what was there neither before nor after.
        return self._steps("kept", "either", bool(self.counting))

    @cached_property
    def _diff(self) -> dict[int, list[Evaluation]]:
        counting = bool(self.counting)
        return {
            -1: [e for clause in self.prepared for e in lost(clause, self.number, counting)],
            1: [e for clause in self.prepared for e in won(clause, self.number, counting)],
        }

    @cached_property
    def _rederiving(self) -> list[Evaluation]:
        return [rederivation(clause, self.number) for clause in self.prepared]

    def _consequences(self, evaluations: Sequence[Evaluation], sign: int) -> list[Work]:
        if not self.counting:
            return [e.work() for e in due(evaluations)]
        return [w for e in due(evaluations) for w in self.counting[id(e.relation)].change([e], sign)]

    def add(self) -> list[Work]:
        """Π[I ∪ Δ : Δ] in one step (Definition 3); a clause with an atom without facts is left out."""
        return self._consequences(self.adding, 1)

    def delete(self) -> list[Work]:
        """Π[I^p, I^n : Δ] in one step (Definition 6)."""
        return self._consequences(self._deleting, -1)

    def rederive(self) -> list[Work]:
        """Over-deleted facts that follow in one step from what stayed (Definition 7); `add` goes on."""
        if not self.counting:
            return [e.work() for e in due(self._rederiving)]
        return [w for counting in self.counting.values() for w in counting.left("gone")]

    def diff(self, sign: int) -> list[Work]:
        """Π[I : Δ^p, Δ^n] for changes below the stratum (Definition 5)."""
        return self._consequences(self._diff[sign], sign)

    def begin(self) -> None:
        for counting in self.counting.values():
            counting.begin()

    def counters(self) -> list[Counting]:
        """The recursive counters, if they are kept."""
        return list(self.counting.values())

    def evaluations(self) -> list[Evaluation]:
        return self.adding


def steps(
    clause: Prepared, source: ModuleId, below: Version, absent: Version, counting: bool = False
) -> list[Evaluation]:
    """For each occurrence of a predicate of the stratum, the evaluation in which it reads Δ."""
    found = []
    for i, atom in enumerate(clause.atoms):
        if atom.own:
            versions = [_version(i, j, below, other.own) for j, other in enumerate(clause.atoms)]
            negated = [absent] * len(clause.negations)
            found.append(clause.evaluation(versions, source, negated, counting=counting))
    return found


def _version(delta: int, atom: int, below: Version, own: bool) -> Version:
    if not own:
        return below
    return "delta" if atom == delta else "old" if atom < delta else "all"
