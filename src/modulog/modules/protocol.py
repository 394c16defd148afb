"""What a module promises: the modular paper's plug-in functions as work for an engine.

A module handles some recursive clauses of one stratum. It hands expressions to the engine, which evaluates those of all modules over the
same versions and schedules the results. A round of the loop is one step for a module that leaves closing to the loop and reads all of Δ,
and everything at once for one that closes by itself and reads Δ \\ Δ_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from modulog.engines.protocol import ModuleId, Relation, Work
from modulog.modules.clauses import Evaluation


class Module(Protocol):
    """The four functions of a module, the relations of its stratum being in the state that Algorithms 2 and 3 say."""

    number: ModuleId

    def add(self) -> Sequence[Work]:
        """Add (Definition 3): what follows from Δ and is not there; repeated, the smallest J with Π[I ∪ J : Δ ∪ J] ⊆ I ∪ J."""

    def delete(self) -> Sequence[Work]:
        """Del (Definition 6): candidates for over-deletion with the leaving Δ, at least those of the lower bound.

        The loop spares the facts with a nonrecursive derivation and those that are not there, so that the upper bound holds.
        """

    def rederive(self) -> Sequence[Work]:
        """Red (Definition 7): the over-deleted facts that follow from what stayed; with `add` repeated, in any number of steps."""

    def diff(self, sign: int) -> Sequence[Work]:
        """Diff (Definition 5): consequences of the module that changes below the stratum take away (-1) or bring (+1)."""

    def rest(self) -> None:
        """The fixpoint is over: give up what only its rounds need."""

    def begin(self) -> None:
        """An update of the stratum begins."""

    def end(self) -> None:
        """The update was committed or rolled back."""

    def relations(self) -> Sequence[Relation]:
        """What the module keeps for itself, to be committed or rolled back with everything else."""

    def restore(self, relations: Sequence[Relation]) -> None:
        """Take relations with the same meaning in the place of one's own."""

    def evaluations(self) -> Sequence[Evaluation]:
        """How its clauses are evaluated, for the plan to show."""
