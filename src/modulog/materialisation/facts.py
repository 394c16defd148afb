"""The facts of a program in an engine: what was given, and what holds.

Explicit facts stay under the predicate they were given for. A predicate that nothing derives holds exactly its explicit facts, in one
relation; a derived one has a second relation with everything that holds. A predicate that collapsed into another is read
from its representative.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from modulog.engines.protocol import Engine, Memory, Relation
from modulog.engines.schemes import Viewing, can_view
from modulog.language.model import Predicate
from modulog.modules.clauses import Occurrence, Prepared
from modulog.planning.plan import Link, Plan
from modulog.terms.model import Constant


class Terms(Protocol):
    """Constants and their ids."""

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""

    def name(self, number: int) -> str:
        """The constant of an id, as it is printed."""


class Facts:
    """Relations by predicate; also the context in which clauses are made ready."""

    def __init__(self, engine: Engine, plan: Plan, terms: Terms) -> None:
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
        """Let every constant of the plan have its id."""
        if not self._constants_known:
            for constant in self.plan.constants():
                self.terms.identify(constant)
            self._constants_known = True

    def name(self, number: int) -> str:
        """The constant of an id, as it is printed."""
        return self.terms.name(number)

    def forget_derived(self) -> None:
        """Empty relations for everything that a stratum derives; explicit facts stay."""
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

    def can_represent(self, predicate: Predicate, scheme: str) -> bool:
        """Whether the plan lets a predicate be kept by a scheme."""
        planned = (s.scheme(predicate) for s in self.plan.strata if predicate in s.predicates)
        return next(planned, "plain").removesuffix(" auto").removesuffix(" shared") == scheme

    def connect(self) -> None:
        """Let views know their parts, and the plan how facts are kept."""
        self.viewing = {}
        for stratum in self.plan.strata:
            for predicate in stratum.schemes:
                relation = self.derived[predicate]
                self.plan.storage[predicate] = partial(getattr, relation, "storage")
                if stratum.view and can_view(relation):
                    parts = [(self.relation(p.representative), p.places == (1, 0)) for p in stratum.view]
                    relation.over(parts)
                    self.viewing[predicate] = relation

    def beside(self, predicates: Collection[Predicate]) -> Facts:
        """The same facts, but for empty relations of some predicates: to compute these again without disturbing the old ones."""
        other = copy(self)
        other.derived, other.external = dict(self.derived), dict(self.external)
        for predicate in predicates:
            for relations in (other.derived, other.external):
                if predicate in relations:
                    old = relations[predicate]
                    relations[predicate] = self.engine.relation(old.name, old.arity, old.scheme)
        other.viewing = {p: view for p, view in self.viewing.items() if p not in predicates}
        return other

    def given(self, predicate: Predicate) -> Relation:
        """The relation of a predicate's explicit facts."""
        if predicate not in self.explicit:
            self.explicit[predicate] = self.engine.relation(predicate.name, predicate.arity)
        return self.explicit[predicate]

    def settle(self) -> int:
        """Take in the explicit facts that have been scheduled; returns how many explicit facts there are."""
        for relation in self.explicit.values():
            relation.derive()
        for relation in self.explicit.values():
            relation.merge()
        return sum(relation.size("all") for relation in self.explicit.values())

    def relation(self, predicate: Predicate) -> Relation:
        """The relation of a representative: everything that holds."""
        return self.derived[predicate] if predicate in self.derived else self.given(predicate)

    def link(self, predicate: Predicate) -> Link:
        """How to read any predicate."""
        return self.plan.links.get(predicate) or Link(predicate, tuple(range(predicate.arity)))

    def entering(self, clause: Prepared) -> Prepared:
        """A nonrecursive clause as it is evaluated: where a closure has external facts of its own, it derives those."""
        for predicate, relation in self.derived.items():
            if relation is clause.relation and predicate in self.external:
                return replace(clause, relation=self.external[predicate])
        return clause

    def explicit_copies(self, predicate: Predicate) -> list[Prepared]:
        """The explicit facts of a stratum's predicate and of those that collapsed into it, as clauses that copy them."""
        if predicate in self.plan.views:
            return []
        shown = self.plan.owners.get(predicate, predicate)
        members = [shown, *(m for m, link in self.plan.links.items() if link.representative == shown)]
        return [self._copy(member, predicate) for member in members]

    def _copy(self, member: Predicate, target: Predicate) -> Prepared:
        link = self.link(member)
        names = tuple(f"x{j}" for j in range(member.arity))
        head = tuple(names[link.places.index(j)] for j in range(member.arity))
        body = (Occurrence(self.given(member), names),)
        label = f"{member.name}: explicit facts"
        return Prepared(label, self.derived[target], head, body, (), (), (), self.unit)

    def size(self, predicate: Predicate) -> int:
        """How many facts of a predicate hold."""
        return self.relation(self.link(predicate).representative).size("all")

    def memory(self) -> dict[str, Memory]:
        """What each predicate costs, with its external facts if it is a closure, and its own if it is a view; explicit facts apart."""
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
