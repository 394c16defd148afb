"""What a module is: a way to evaluate some recursive clauses of one stratum (modular paper, section 4).

To write a module of your own, derive from `Module`, write `add`, `delete` and `rederive`, and `diff` if your
clauses read predicates below the stratum. Recognise its clauses in `planning/assign_modules.py`
(`RECOGNISERS`), name the class in `make_module.py` (`MAKERS`), and test that it equals the seminaive module
(`tests/contracts/test_modules.py`).

A module computes nothing into relations of the stratum by itself. It answers with `Work`: expressions over
relations, which the engine evaluates together with those of the other modules, over the same versions. The
loop then takes away what is there already, and lets the result be the next Δ. The loops call a module in this
order:

    materialisation    add, add, … until a round brings nothing; rest
    an update          begin; diff(-1); delete, delete, …; rederive, diff(1); add, add, …; rest; end

A round is one step for a module that leaves closing to the loop and reads all of Δ (`seminaive.py`); one that
closes by itself answers with everything at once, and reads Δ without its own facts (`Read(…,
except_from=self.number)`). `seminaive.py` and `transitive.py` are examples of both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from modulog.engines.engine import Work
from modulog.engines.relation import ModuleId, Relation
from modulog.modules.clause import Evaluation

if TYPE_CHECKING:
    from modulog.modules.decomposed_clause import DecomposedClause
    from modulog.modules.derivation_counts import Counting


class Module(ABC):
    """The four functions of the paper, and what else a module may override; most modules inherit the rest.

    `number` names the module as the source of the facts that it derives; no other module of the plan has it.
    """

    number: ModuleId

    # ---- The functions of the paper

    @abstractmethod
    def add(self) -> Sequence[Work]:
        """Add (Definition 3): facts that follow by the module's clauses and use a fact of Δ.

        Relations of the stratum hold I as `old`, Δ as `delta` and both as `all`; those below it are read as
        `after`. Called once for each round: rounds must lead to the smallest J with Π[I ∪ J : Δ ∪ J] ⊆ I ∪ J.
        """

    @abstractmethod
    def delete(self) -> Sequence[Work]:
        """Del (Definition 6): facts that may have to go because a fact of Δ goes.

        While Δ leaves, `all` still has it and `old` has not; below the stratum, `kept` is what did not
        change. The module must name at least the facts of the lower bound. It may name more: the loop itself
        keeps those that have a nonrecursive derivation left, and those that are not there, so that the upper
        bound holds.
        """

    @abstractmethod
    def rederive(self) -> Sequence[Work]:
        """Red (Definition 7): deleted facts (`gone`) that follow from what stayed (`old`).

        What follows in several steps may be left to `add`, which comes next.
        """

    def diff(self, sign: int) -> Sequence[Work]:
        """Diff (Definition 5): facts that changes below the stratum take away (-1) or bring (+1).

        None, for modules whose clauses read nothing below their stratum.
        """
        return ()

    # ---- Rounds and updates begin and end

    def rest(self) -> None:
        """The rounds are over: drop what only rounds need."""

    def begin(self) -> None:
        """An update of the stratum begins, which may be rolled back."""

    def end(self) -> None:
        """The update was committed or rolled back."""

    # ---- What the module keeps from update to update

    def relations(self) -> Sequence[Relation]:
        """The module's own relations: committed, rolled back and stored with those of the stratum."""
        return ()

    def restore(self, relations: Sequence[Relation]) -> None:
        """Use relations that were read from a store in place of `relations()`, in the same order."""

    def count_derivations(self) -> None:
        """Count recursive derivations of each fact from the next update on (`maintenance="dredc"`)."""

    def counters(self) -> Sequence[Counting]:
        """The counters of derivations that the module keeps."""
        return ()

    # ---- For plans and statistics

    def evaluations(self) -> Sequence[Evaluation]:
        """How the module's clauses are evaluated, for the plan to show the order of their joins."""
        return ()

    @property
    def trees(self) -> Sequence[DecomposedClause]:
        """The clauses that are evaluated along a tree now."""
        return ()

    @property
    def given_up(self) -> Sequence[DecomposedClause]:
        """The trees that clauses had before they went back to the standard plan, the oldest first."""
        return ()


class ExactModule(Module):
    """A module that is all the recursion of its stratum and finds the exact change of its facts.

    It needs no over-deletion. The explicit facts, and what the nonrecursive rules of the stratum derive, are
    the *external* facts: a relation of their own, which updates bring up to date as those of a nonrecursive
    stratum. Then `maintain` is called.
    """

    label: object  # what statistics call its evaluation
    relation: Relation  # everything that holds
    external: Relation  # what `relation` follows from

    @property
    @abstractmethod
    def changed(self) -> bool:
        """Whether the update changed anything that the module's facts follow from."""

    @abstractmethod
    def estimate(self) -> tuple[float, float]:
        """How many facts `maintain` would read: for what the change can affect, and for everything."""

    @abstractmethod
    def maintain(self, everything: bool = False) -> None:
        """Change `relation` to what follows from what holds now; the net change is exact.

        With `everything` all of it is computed and compared, not only what the change can affect.
        """

    @abstractmethod
    def represent_later(self, rows: int) -> bool:
        """Let `relation` represent `rows` facts, computed at their first use; False if it cannot."""

    @abstractmethod
    def inputs(self) -> Sequence[Relation]:
        """The relations that it reads besides those that its clauses name."""

    def delete(self) -> Sequence[Work]:
        """Nothing is over-deleted: see `maintain`."""
        return ()

    def rederive(self) -> Sequence[Work]:
        """Nothing was over-deleted."""
        return ()
