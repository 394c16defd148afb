"""The part of the tree builder that reads expressions and conditions, and turns a statement into plain rules.

While a text is read, an expression is either the token of a term or a `Call`. In the rules that are returned,
an expression in a head has become a fresh variable that the body assigns, and a condition with `||` has
become several rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from modulog.errors import ParseError, Position
from modulog.language.function_calls import make_call
from modulog.language.model import Atom, Call, Comparison, Expression, Literal, Negation, Rule, Term, Variable
from modulog.language.term_parser import BadTerm, ParsedTerms

if TYPE_CHECKING:
    from lark import Token


# Turns conditions with `&&`, `||` and `!` into comparisons, the only conditions that rule bodies have.
#
# A comparison of values that cannot be compared is false, and so is the opposite comparison. So `!` can be
# moved inwards to the comparisons (negation normal form), and a disjunction becomes several rules
# (disjunctive normal form).
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction: true if all parts are."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """A disjunction: true if some part is."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Opposite:
    """A negation: true if the part is false."""

    part: Formula


Formula = Comparison | Conjunction | Disjunction | Opposite


def conjunctions(formula: Formula) -> list[tuple[Comparison, ...]]:
    """The disjunctive normal form: the formula holds if all comparisons of one of the returned tuples hold.

    >>> from modulog.language.model import Variable
    >>> x, y = Variable("x"), Variable("y")
    >>> formula = Opposite(Conjunction((Comparison("<", x, y), Comparison("=", x, y))))
    >>> [[comparison.operator for comparison in part] for part in conjunctions(formula)]
    [['>='], ['!=']]
    """
    return list(dict.fromkeys(_normal(formula, True)))


def _normal(formula: Formula, positive: bool) -> list[tuple[Comparison, ...]]:
    """The disjunctive normal form of a formula, or of its negation if not `positive`."""
    if isinstance(formula, Opposite):
        return _normal(formula.part, not positive)
    if isinstance(formula, Comparison):
        operator = formula.operator if positive else OPPOSITE[formula.operator]
        return [(Comparison(operator, formula.left, formula.right, formula.position),)]
    parts = [_normal(part, positive) for part in formula.parts]
    if isinstance(formula, Disjunction) == positive:
        return [conjunction for part in parts for conjunction in part]
    return [tuple(itertools.chain(*choice)) for choice in itertools.product(*parts)]


def bodies(body: Sequence[Literal | Conjunction | Disjunction | Opposite]) -> list[tuple[Literal, ...]]:
    """The bodies without `&&`, `||` and `!` whose union is a body with formulas; one body if it has no `||`.

    >>> from modulog.language.model import Variable
    >>> test = Comparison("<", Variable("x"), Variable("y"))
    >>> len(bodies([Disjunction((test, Opposite(test))), test]))
    2
    """
    choices: list[list[tuple[Literal, ...]]] = [
        list(conjunctions(part)) if isinstance(part, Conjunction | Disjunction | Opposite) else [(part,)]
        for part in body
    ]
    return [tuple(itertools.chain(*choice)) for choice in itertools.product(*choices)]


class Expressions:
    """Builder methods for expressions and conditions; each is called for the grammar rule of its name."""

    text: str
    source: str
    terms: ParsedTerms
    atoms_with_calls: list[Atom]  # those of the current statement that have calls among their arguments

    def operand(self, children: list[Any]) -> Any:
        return children[0]

    def operation(self, children: list[Any]) -> Call:
        left, operator, right = children
        return Call(str(operator), (self._value(left), self._value(right)), self._across(left, right))

    def negative(self, children: list[Any]) -> Call:
        sign, operand = children
        return Call("-", (self._value(operand),), self._across(sign, operand))

    def grouped(self, children: list[Any]) -> Any:
        opening, inner, closing = children
        return replace(inner, position=self._across(opening, closing)) if isinstance(inner, Call) else inner

    def spaced_call(self, children: list[Any]) -> Call:
        arguments = [self._value(item) for item in children[2:-1:2]]
        return self._call(children[0], children[0], arguments, self._across(children[0], children[-1]))

    def _call(self, name: str, token: Token, arguments: list[Expression], position: Position) -> Call:
        try:
            return replace(make_call(str(name), arguments), position=position)
        except BadTerm as problem:
            start = self._at(token)
            end = start.column + len(name)
            at = Position(self.source, start.line, start.column, start.line, end)
            raise self._error(problem.message, at, problem.hint) from None

    def comparison(self, children: list[Any]) -> Comparison:
        left, operator, right = children
        return Comparison(str(operator), self._value(left), self._value(right), self._across(left, right))

    def filter_(self, children: list[Any]) -> Formula:
        condition: Formula = children[2]
        return condition

    def bind(self, children: list[Any]) -> Comparison:
        keyword, _, expression, _, name, close = children
        variable = self._value(name)
        if not isinstance(variable, Variable):
            raise self._error("BIND gives a variable its value", self._at(name), "write `BIND(?x + 1 AS ?y)`")
        return Comparison("=", variable, self._value(expression), self._across(keyword, close))

    def disjunction(self, children: list[Any]) -> Disjunction:
        return Disjunction((children[0], children[2]))

    def conjunction_(self, children: list[Any]) -> Conjunction:
        return Conjunction((children[0], children[2]))

    def opposite(self, children: list[Any]) -> Opposite:
        return Opposite(children[1])

    # ---- Statements

    def _rules(
        self, heads: list[Atom], body: list[Literal | Formula], position: Position | None
    ) -> list[Rule]:
        """The rules of a statement: several if its body has `||`; their heads have no calls."""
        assigned: list[Literal] = []
        if self.atoms_with_calls:
            self._refuse_calls(body)
            names = (Variable(f"_{n}") for n in count(1))
            taken = {v for part in (*heads, *body) for v in _variables(part)}
            fresh = (v for v in names if v not in taken)
            heads = [self._without_calls(head, fresh, assigned) for head in heads]
            self.atoms_with_calls.clear()
        return [Rule(tuple(heads), (*literals, *assigned), position) for literals in bodies(body)]

    def _without_calls(self, head: Atom, fresh: Any, assigned: list[Literal]) -> Atom:
        """The head with variables from `fresh` for its calls; adds `?variable = call` to `assigned`."""
        terms: list[Term] = []
        for term in head.terms:
            if isinstance(term, Call):
                terms.append(next(fresh))
                assigned.append(Comparison("=", terms[-1], term, head.position))
            else:
                terms.append(term)
        return replace(head, terms=tuple(terms))

    def _refuse_calls(self, body: list[Any]) -> None:
        """Raise an error for the first body atom with an expression among its arguments."""
        for literal in body:
            atom = literal.atom if isinstance(literal, Negation) else literal
            if isinstance(atom, Atom) and any(isinstance(t, Call) for t in atom.terms):
                hint = "give the value a name first: `?y = ?x + 1, p(?y)`"
                raise self._error("an atom of a body has no expressions", self._place(atom), hint)

    # ---- Values and positions

    def _value(self, item: Any) -> Expression:
        """The expression of a child: a call as it is, or the term of a token."""
        if isinstance(item, Call):
            return item
        try:
            return self.terms[str(item)]
        except BadTerm as problem:
            raise self._error(problem.message, self._at(item), problem.hint) from None

    def _place(self, item: Any) -> Position:
        """The position of a child, which is a token or has a `position`."""
        position: Position = item.position if hasattr(item, "position") else self._at(item)
        return position

    def _at(self, token: Token) -> Position:
        line, column = token.line or 1, token.column or 1
        return Position(self.source, line, column, token.end_line or line, token.end_column or column)

    def _across(self, first: Any, last: Any) -> Position:
        """The position from the start of one child to the end of another."""
        start, end = self._place(first), self._place(last)
        return Position(self.source, start.line, start.column, end.end_line, end.end_column)

    def _error(self, message: str, position: Position, hint: str | None = None) -> ParseError:
        return ParseError(message, position, self.text, hint)


def _variables(part: Any) -> list[Variable]:
    """The variables of a head, a literal or a formula, those inside calls included."""
    if isinstance(part, Conjunction | Disjunction):
        return [v for inner in part.parts for v in _variables(inner)]
    if isinstance(part, Opposite):
        return _variables(part.part)
    if isinstance(part, Comparison):
        return list(part.variables())
    atom = part.atom if isinstance(part, Negation) else part
    whole = Comparison("=", Call("", atom.terms), Variable("_"))
    return list(whole.variables())
