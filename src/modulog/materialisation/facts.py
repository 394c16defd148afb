"""The facts of a program in an engine: what was given, and what holds.

Explicit facts stay under the predicate they were given for. A predicate that nothing derives holds exactly its explicit facts, in one
relation; a derived one has a second relation with everything that holds. A predicate that collapsed into another is read
from its representative.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from modulog.engines.protocol import EXPLICIT, Engine, Project, Read, Relation, Work
from modulog.language.model import Predicate
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
        self.forget_derived()

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""
        return self.terms.identify(constant)

    def name(self, number: int) -> str:
        """The constant of an id, as it is printed."""
        return self.terms.name(number)

    def forget_derived(self) -> None:
        """Empty relations for everything that a stratum derives; explicit facts stay."""
        self.derived = {
            p: self.engine.relation(p.name, p.arity)
            for stratum in self.plan.strata
            for p in stratum.predicates
        }

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

    def entering(self, predicate: Predicate) -> list[Work]:
        """The explicit facts of a stratum's predicate and of those that collapsed into it, as work."""
        members = [predicate, *(m for m, link in self.plan.links.items() if link.representative == predicate)]
        return [self._enter(member) for member in members if member in self.explicit]

    def _enter(self, member: Predicate) -> Work:
        link = self.link(member)
        names = tuple(f"x{j}" for j in range(member.arity))
        head = tuple(names[link.places.index(j)] for j in range(member.arity))
        read = Read(self.given(member), names, "old")
        return Work(
            self.derived[link.representative],
            Project(read, head, "keep"),
            EXPLICIT,
            f"{member.name}: explicit facts",
        )

    def size(self, predicate: Predicate) -> int:
        """How many facts of a predicate hold."""
        return self.relation(self.link(predicate).representative).size("all")

    def memory(self) -> int:
        """The bytes of all relations."""
        return sum(relation.memory().bytes for relation in (*self.explicit.values(), *self.derived.values()))
