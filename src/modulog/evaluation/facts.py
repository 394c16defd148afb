"""The facts of a program in an engine: explicit ones, and all that hold.

Explicit facts stay under the predicate they were given for. A predicate that nothing derives holds exactly
its explicit facts, in one relation; a derived one has a second relation with everything that holds. A
predicate that collapsed into another is read from its representative.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np

from modulog.engines.engine import Engine
from modulog.engines.relation import Memory, Relation, Viewing
from modulog.engines.schemes import PLAIN
from modulog.engines.table import Table
from modulog.language.model import Predicate
from modulog.modules.clause import Occurrence, Prepared
from modulog.planning.plan import Link, Plan
from modulog.terms.constant import Constant

Tables = dict[Predicate, list[Table]]
"""Facts that come or go, by predicate."""


def merge_scheduled(relations: Iterable[Relation]) -> None:
    """Add facts that were scheduled, or remove them, outside the rounds of a fixpoint.

    All relations derive before the first one merges, so that an engine may give terms their ids together.
    """
    relations = list(relations)
    for relation in relations:
        relation.derive()
    for relation in relations:
        relation.merge()


class TermIds(Protocol):
    """Constants and their ids."""

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""

    def find(self, constants: Sequence[Constant]) -> list[int]:
        """The ids of constants; -1 for one that occurs nowhere."""

    def name(self, number: int) -> str:
        """The constant of an id, as it is printed."""


class Facts:
    """Relations by predicate; also the context in which clauses are prepared (`modules/clause.py`)."""

    def __init__(self, engine: Engine, plan: Plan, terms: TermIds) -> None:
        self.engine, self.plan, self.terms = engine, plan, terms
        self.unit = engine.table((), np.empty((0, 1), np.int32))
        self.explicit: dict[Predicate, Relation] = {}
        self.derived: dict[Predicate, Relation] = {}
        self.external: dict[Predicate, Relation] = {}  # the external facts of closures, X_R
        self.viewing: dict[Predicate, Viewing] = {}
        self._constants_known = False
        self.forget_derived()

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""
        return self.terms.identify(constant)

    def identify_constants(self) -> None:
        """Give every constant of the plan an id."""
        if not self._constants_known:
            constants = sorted(self.plan.constants(), key=lambda constant: constant.key)
            self.terms.find(constants)  # on a cluster, this looks up all of them in one job
            for constant in constants:
                self.terms.identify(constant)
            self._constants_known = True

    def name(self, number: int) -> str:
        """The constant of an id, as it is printed."""
        return self.terms.name(number)

    def forget_derived(self) -> None:
        """Replace the relations of everything that a stratum derives by empty ones; explicit facts stay."""
        self.derived = {
            p: self.engine.relation(p.name, p.arity, stratum.scheme(p))
            for stratum in self.plan.strata
            for p in stratum.predicates
        }
        self.external = {
            p: self.engine.relation(f"{p.name}°", p.arity)
            for stratum in self.plan.strata
            if stratum.closure is not None
            for p in stratum.predicates
        }
        self.connect()

    def can_represent(self, predicate: Predicate, kind: str) -> bool:
        """Whether the plan allows a kind of storage scheme for a predicate."""
        planned = (s.scheme(predicate) for s in self.plan.strata if predicate in s.predicates)
        return (scheme := next(planned, PLAIN)).kind == kind and scheme.listing != "always"

    def connect(self) -> None:
        """Connect views with the relations of their parts, and let the plan show how facts are stored."""
        self.viewing = {}
        for stratum in self.plan.strata:
            for predicate in stratum.schemes:
                relation = self.derived[predicate]
                self.plan.storage[predicate] = partial(getattr, relation, "storage")
                if stratum.view and (view := relation.viewing) is not None:
                    view.over([(self.relation(p.representative), p.places == (1, 0)) for p in stratum.view])
                    self.viewing[predicate] = view

    def beside(self, predicates: Collection[Predicate]) -> Facts:
        """The same facts, but empty relations for some predicates, so that these can be computed again."""
        other = copy(self)
        other.derived, other.external = dict(self.derived), dict(self.external)
        for predicate in predicates:
            for relations in (other.derived, other.external):
                if predicate in relations:
                    old = relations[predicate]
                    relations[predicate] = self.engine.relation(old.name, old.arity, old.scheme)
        other.viewing = {p: view for p, view in self.viewing.items() if p not in predicates}
        return other

    def explicit_relation(self, predicate: Predicate) -> Relation:
        """The relation of a predicate's explicit facts."""
        found = self.explicit.get(predicate)
        if found is None:
            found = self.explicit[predicate] = self.engine.relation(predicate.name, predicate.arity)
        return found

    def take_in_scheduled(self) -> int:
        """Add explicit facts that were scheduled; returns how many explicit facts there are now."""
        merge_scheduled(self.explicit.values())
        return sum(relation.size("all") for relation in self.explicit.values())

    def relation(self, predicate: Predicate) -> Relation:
        """The relation of a representative: everything that holds."""
        found = self.derived.get(predicate)
        return self.explicit_relation(predicate) if found is None else found

    def link(self, predicate: Predicate) -> Link:
        """The representative of a predicate, and where the predicate's arguments are in it."""
        return self.plan.links.get(predicate) or Link(predicate, tuple(range(predicate.arity)))

    def explicit_copies(self, predicate: Predicate) -> list[Prepared]:
        """Clauses that copy the explicit facts of a predicate, and of those that collapsed into it."""
        if predicate in self.plan.views:
            return []
        shown = self.plan.owners.get(predicate, predicate)
        members = [shown, *(m for m, link in self.plan.links.items() if link.representative == shown)]
        return [self._copy(member, predicate) for member in members]

    def _copy(self, member: Predicate, target: Predicate) -> Prepared:
        link = self.link(member)
        names = tuple(f"x{j}" for j in range(member.arity))
        head = tuple(names[link.places.index(j)] for j in range(member.arity))
        body = (Occurrence(self.explicit_relation(member), names),)
        label = f"{member.name}: explicit facts"
        return Prepared(label, self.derived[target], head, body, (), (), (), self.unit)

    def size(self, predicate: Predicate) -> int:
        """How many facts of a predicate hold."""
        return self.relation(self.link(predicate).representative).size("all")

    def memory(self) -> dict[str, Memory]:
        """The bytes that each predicate takes; explicit facts have an entry of their own.

        A closure's entry includes its external facts, a view's entry the facts that it has besides its parts.
        """
        found: dict[str, Memory] = {}
        for predicate, relation in self.derived.items():
            name, memory = str(self.plan.owners.get(predicate, predicate)), relation.memory()
            held = memory.bytes + (
                self.external[predicate].memory().bytes if predicate in self.external else 0
            )
            earlier = found.get(name, Memory(0, 0))
            shown = 0 if predicate in self.plan.owners else memory.plain
            found[name] = Memory(earlier.bytes + held, earlier.plain + shown)
        for predicate, relation in self.explicit.items():
            name = f"{predicate} explicit" if str(predicate) in found else str(predicate)
            found[name] = relation.memory()
        return found
