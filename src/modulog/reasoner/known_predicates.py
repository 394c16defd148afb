"""The arities of predicates, and which of them have been given facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modulog.errors import DataError
from modulog.language.model import Predicate
from modulog.wording import arguments


@dataclass(frozen=True, slots=True)
class KnownPredicates:
    """The arities that each name has, and the names for which facts were given, even none."""

    arities: dict[str, frozenset[int]]
    supplied: set[str]

    def copy(self) -> KnownPredicates:
        """A copy that can be changed."""
        return KnownPredicates(dict(self.arities), set(self.supplied))

    def know(self, predicates: Iterable[Predicate]) -> None:
        """Note the arities of predicates."""
        for predicate in predicates:
            self.arities[predicate.name] = self.arities.get(predicate.name, frozenset()) | {predicate.arity}

    def expected(self, name: str) -> int | None:
        """The arity that facts of a name must have; None if it is not known, or if there are several."""
        known = self.arities.get(name, frozenset())
        return next(iter(known)) if len(known) == 1 and not name.startswith("<") else None

    def check(self, predicates: Iterable[Predicate], source: str) -> None:
        """Note the arities of facts; a DataError if others are known. An IRI may have arity 1 and 2."""
        for predicate in predicates:
            known = self.arities.get(predicate.name)
            both = (
                predicate.name.startswith("<") and known is not None and {predicate.arity, *known} <= {1, 2}
            )
            if known is not None and predicate.arity not in known and not both:
                has = arguments(sorted(known))
                raise DataError(f"{source}: {predicate.name} has {has}, but the rows have {predicate.arity}")
            self.know([predicate])
