"""What the builder makes of expressions and conditions: calls, comparisons, formulas, and rules without either in their heads.

While a text is read, an expression is the token of a term or a `Placed` call. An expression in a head becomes a fresh variable that the body
assigns; a condition with `||` becomes several rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from modulog.errors import ParseError, Position
from modulog.language.expressions import make_call
from modulog.language.formulas import And, Formula, Not, Or, bodies
from modulog.language.model import Atom, Call, Comparison, Expression, Literal, Negation, Rule, Term, Variable
from modulog.language.reading import BadTerm, Terms

if TYPE_CHECKING:
    from lark import Token


@dataclass(frozen=True, slots=True)
class Placed:
    """An expression that is more than a term, and where it stands."""

    expression: Expression
    position: Position


class Expressions:
    """Builder methods for expressions: one for each rule of the grammar."""

    text: str
    source: str
    terms: Terms
    calling: list[Atom]  # atoms with calls among their arguments, until their statement is complete

    def operand(self, children: list[Any]) -> Any:
        return children[0]

    def operation(self, children: list[Any]) -> Placed:
        left, operator, right = children
        return Placed(Call(str(operator), (self._value(left), self._value(right))), self._across(left, right))

    def negative(self, children: list[Any]) -> Placed:
        sign, operand = children
        return Placed(Call("-", (self._value(operand),)), self._across(sign, operand))

    def grouped(self, children: list[Any]) -> Any:
        opening, inner, closing = children
        if isinstance(inner, And | Or | Not | Comparison):
            return inner
        return Placed(self._value(inner), self._across(opening, closing))

    def spaced_call(self, children: list[Any]) -> Placed:
        arguments = [self._value(item) for item in children[2:-1:2]]
        return self._call(children[0], children[0], arguments, self._across(children[0], children[-1]))

    def _call(self, name: str, token: Token, arguments: list[Expression], position: Position) -> Placed:
        try:
            return Placed(make_call(str(name), arguments), position)
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

    def disjunction(self, children: list[Any]) -> Or:
        return Or((children[0], children[2]))

    def conjunction_(self, children: list[Any]) -> And:
        return And((children[0], children[2]))

    def opposite(self, children: list[Any]) -> Not:
        return Not(children[1])

    # ---- Statements

    def _rules(
        self, heads: list[Atom], body: list[Literal | Formula], position: Position | None
    ) -> list[Rule]:
        """The rules that a statement stands for."""
        assigned: list[Literal] = []
        if self.calling:
            self._refuse_calls(body)
            names = (Variable(f"_{n}") for n in count(1))
            taken = {v for part in (*heads, *body) for v in _variables(part)}
            fresh = (v for v in names if v not in taken)
            heads = [self._without_calls(head, fresh, assigned) for head in heads]
            self.calling.clear()
        return [Rule(tuple(heads), (*literals, *assigned), position) for literals in bodies(body)]

    def _without_calls(self, head: Atom, fresh: Any, assigned: list[Literal]) -> Atom:
        """The head with a fresh variable for each call; what they are is added to `assigned`."""
        terms: list[Term] = []
        for term in head.terms:
            if isinstance(term, Call):
                terms.append(next(fresh))
                assigned.append(Comparison("=", terms[-1], term, head.position))
            else:
                terms.append(term)
        return replace(head, terms=tuple(terms))

    def _refuse_calls(self, body: list[Any]) -> None:
        for literal in body:
            atom = literal.atom if isinstance(literal, Negation) else literal
            if isinstance(atom, Atom) and any(isinstance(t, Call) for t in atom.terms):
                hint = "give the value a name first: `?y = ?x + 1, p(?y)`"
                raise self._error("an atom of a body has no expressions", self._place(atom), hint)

    # ---- Values and places

    def _value(self, item: Any) -> Expression:
        if isinstance(item, Placed):
            return item.expression
        try:
            return self.terms[str(item)]
        except BadTerm as problem:
            raise self._error(problem.message, self._at(item), problem.hint) from None

    def _place(self, item: Any) -> Position:
        position: Position = item.position if hasattr(item, "position") else self._at(item)
        return position

    def _at(self, token: Token) -> Position:
        line, column = token.line or 1, token.column or 1
        return Position(self.source, line, column, token.end_line or line, token.end_column or column)

    def _across(self, first: Any, last: Any) -> Position:
        start, end = self._place(first), self._place(last)
        return Position(self.source, start.line, start.column, end.end_line, end.end_column)

    def _error(self, message: str, position: Position, hint: str | None = None) -> ParseError:
        return ParseError(message, position, self.text, hint)


def _variables(part: Any) -> list[Variable]:
    """The variables of a head, a literal or a formula, those inside calls included."""
    if isinstance(part, And | Or):
        return [v for inner in part.parts for v in _variables(inner)]
    if isinstance(part, Not):
        return _variables(part.part)
    if isinstance(part, Comparison):
        return list(part.variables())
    atom = part.atom if isinstance(part, Negation) else part
    whole = Comparison("=", Call("", atom.terms), Variable("_"))
    return list(whole.variables())
