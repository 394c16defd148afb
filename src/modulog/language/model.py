"""Programs as immutable values: predicates, atoms, literals, rules, directives.

Positions never take part in comparisons: two programs are equal when they say the same, wherever they say it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from modulog.errors import Position
from modulog.terms.model import Constant


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable `?name`; the name `_` is anonymous: each occurrence is a variable of its own."""

    name: str

    @property
    def anonymous(self) -> bool:
        return self.name == "_"


Term = Constant | Variable


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator applied to expressions: `?a * ?b`, `SKOLEM("f", ?x)`.

    The operators `+ - * /` take two arguments, `-` also one; names of functions are in upper case. What there is: `terms/functions.py`.
    """

    function: str
    arguments: tuple[Expression, ...]


Expression = Constant | Variable | Call


def terms_of(expression: Expression) -> Iterator[Term]:
    """The constants and variables of an expression, from left to right, with repetitions.

    >>> [t.name for t in terms_of(Call("+", (Variable("x"), Call("-", (Variable("y"),)))))]
    ['x', 'y']
    """
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from terms_of(argument)
    else:
        yield expression


def variables_of(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression, with repetitions."""
    return (t for t in terms_of(expression) if isinstance(t, Variable))


@dataclass(frozen=True, slots=True, order=True)
class Predicate:
    """A name with an arity. A plain name stands as it is, an IRI in angle brackets: `<http://…>`."""

    name: str
    arity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms: `edge(?x, b)`."""

    predicate: Predicate
    terms: tuple[Term, ...]
    position: Position | None = field(default=None, compare=False, repr=False)

    def variables(self) -> Iterator[Variable]:
        """The named variables, in order, with repetitions."""
        return (t for t in self.terms if isinstance(t, Variable) and not t.anonymous)


@dataclass(frozen=True, slots=True)
class Negation:
    """`~atom`: no fact matches the atom; an anonymous variable in it means "for no value"."""

    atom: Atom
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, the operator being one of `= != < <= > >=`; `?x = e` assigns if nothing else binds `?x`."""

    operator: str
    left: Expression
    right: Expression
    position: Position | None = field(default=None, compare=False, repr=False)

    def terms(self) -> Iterator[Term]:
        """The constants and variables of both sides, with repetitions."""
        yield from terms_of(self.left)
        yield from terms_of(self.right)

    def variables(self) -> Iterator[Variable]:
        """The variables of both sides, with repetitions."""
        return (t for t in self.terms() if isinstance(t, Variable))


Literal = Atom | Negation | Comparison


@dataclass(frozen=True, slots=True)
class Rule:
    """`heads :- body .` with at least one head atom and at least one literal."""

    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]
    position: Position | None = field(default=None, compare=False, repr=False)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The positive body atoms, b⁺(r)."""
        return tuple(b for b in self.body if isinstance(b, Atom))

    @property
    def negations(self) -> tuple[Atom, ...]:
        """The negated body atoms, b⁻(r)."""
        return tuple(b.atom for b in self.body if isinstance(b, Negation))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(b for b in self.body if isinstance(b, Comparison))


@dataclass(frozen=True, slots=True)
class Directive:
    """`@import p :- csv{resource="f.csv"} .`, `@export p :- csv{} .`; options keep their order."""

    predicate: str
    format: str
    options: tuple[tuple[str, object], ...] = ()
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """Rules, facts and directives. `prefixes` only shortens what is printed: terms and predicates are already expanded."""

    rules: tuple[Rule, ...] = ()
    facts: tuple[Atom, ...] = ()
    imports: tuple[Directive, ...] = ()
    exports: tuple[Directive, ...] = ()
    outputs: tuple[str, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    base: str = ""
    text: str | None = field(default=None, compare=False, repr=False)

    def predicates(self) -> set[Predicate]:
        """Every predicate of the rules and facts."""
        return set(self._predicates)

    @cached_property
    def _predicates(self) -> frozenset[Predicate]:
        """The same, found once: every query asks for them."""
        found = {f.predicate for f in self.facts}
        for rule in self.rules:
            found.update(a.predicate for a in (*rule.heads, *rule.atoms, *rule.negations))
        return frozenset(found)
