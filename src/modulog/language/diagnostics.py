"""What the checks of a program share: diagnostics, the positions of predicates, the order of positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from modulog.errors import Position, underline
from modulog.language.model import Atom, Comparison, Directive, Literal, Negation, Predicate, Program


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A warning; `str` of it has the position, the message and the line of the text that it is about.

    >>> from modulog import Reasoner
    >>> [warning.code for warning in Reasoner("p(?x, ?y) :- q(?x), r(?y) . q(1) . r(1) .").warnings]
    ['product']
    """

    code: str
    message: str
    position: Position | None = None
    text: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.show("warning: ")

    def show(self, label: str = "") -> str:
        """The position, a label, the message and the line of the text that it is about."""
        if self.position is None:
            return f"{label}{self.message}"
        shown = "" if self.text is None else "\n" + underline(self.text, self.position)
        return f"{self.position}: {label}{self.message}{shown}"


def by_position(position: Position | None) -> tuple[bool, int, int]:
    """A sort key for the order of the text; what has no position comes last."""
    return (False, position.line, position.column) if position else (True, 0, 0)


def atom_of(literal: Literal) -> Atom | None:
    """The atom of a literal, negated or not; None for a comparison."""
    if isinstance(literal, Comparison):
        return None
    return literal.atom if isinstance(literal, Negation) else literal


def uses(program: Program) -> Iterator[tuple[str, int, Position | None]]:
    """Name, arity and first position of each predicate in rules, and in facts; then those of directives."""
    seen: set[Predicate] = set()
    for atom in _atoms(program):
        if atom.predicate not in seen:
            seen.add(atom.predicate)
            yield atom.predicate.name, atom.predicate.arity, atom.position
    facts: set[Predicate] = set()
    for fact in program.facts:
        if fact.predicate not in facts:
            facts.add(fact.predicate)
            yield fact.predicate.name, fact.predicate.arity, fact.position
    for directive in (*program.imports, *program.exports):
        arity = directive_arity(directive)
        if arity is not None:
            yield directive.predicate, arity, directive.position


def _atoms(program: Program) -> Iterator[Atom]:
    for rule in program.rules:
        yield from rule.heads
        yield from (part for b in rule.body if (part := atom_of(b)) is not None)


def directive_arity(directive: Directive) -> int | None:
    """The number of columns that the option `format` names, without those it skips; None if it is absent."""
    columns = dict(directive.options).get("format")
    if columns is None:
        return None
    names = columns if isinstance(columns, tuple) else (columns,)
    return sum(1 for name in names if name != "skip")
