"""Programs as immutable values: predicates, atoms, literals, rules, directives.

Positions in the text are left out of comparisons: two programs are equal if they have the same statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from modulog.errors import Position
from modulog.terms.constant import Constant
from modulog.wording import plural


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable `?name`. The name `_` is anonymous: each occurrence is a different variable."""

    name: str

    @property
    def anonymous(self) -> bool:
        return self.name == "_"


Term = Constant | Variable


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator applied to expressions: `?a * ?b`, `SKOLEM("f", ?x)`.

    The operators `+ - * /` take two arguments, `-` also one; names of functions are in upper case. All
    functions are listed in `terms/functions.py`.
    """

    function: str
    arguments: tuple[Expression, ...]
    position: Position | None = field(default=None, compare=False, repr=False)


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


def replace_terms(expression: Expression, value: Callable[[Term], Expression]) -> Expression:
    """The expression with every constant and variable `t` replaced by `value(t)`."""
    if isinstance(expression, Call):
        return Call(expression.function, tuple(replace_terms(a, value) for a in expression.arguments))
    return value(expression)


@dataclass(frozen=True, slots=True, order=True)
class Predicate:
    """A name with an arity. A name that is an IRI has its angle brackets: `<http://…>`.

    >>> str(Predicate("edge", 2))
    'edge/2'
    """

    name: str
    arity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms: `edge(?x, b)`.

    >>> from modulog import parse_program
    >>> atom = parse_program("path(?x, b) :- edge(?x, b) .").rules[0].heads[0]
    >>> atom.predicate, [v.name for v in atom.variables()]
    (Predicate(name='path', arity=2), ['x'])
    """

    predicate: Predicate
    terms: tuple[Term, ...]
    position: Position | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        from modulog.language.printer import print_atom

        return print_atom(self)

    def __repr__(self) -> str:
        return f"<Atom: {self}>"

    def variables(self) -> Iterator[Variable]:
        """The variables except anonymous ones, in order, with repetitions."""
        return (t for t in self.terms if isinstance(t, Variable) and not t.anonymous)


@dataclass(frozen=True, slots=True)
class Negation:
    """`~atom`: true if no fact matches the atom; its anonymous variables match any value."""

    atom: Atom
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, one of `= != < <= > >=`; `?x = e` assigns if nothing else binds `?x`."""

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


def assignments(
    comparisons: Iterable[Comparison], bound: set[Variable]
) -> Iterator[tuple[Comparison, Variable, Expression]]:
    """The comparisons that assign, in an order in which they can be evaluated: with variable and expression.

    `?x = e` assigns if ?x is not bound and all variables of e are; `bound` has those of the body's atoms at
    first, and gains ?x.
    """
    waiting = [c for c in comparisons if c.operator == "="]
    while found := next(((c, *pair) for c in waiting if (pair := _assigned(c, bound))), None):
        waiting.remove(found[0])
        bound.add(found[1])
        yield found


def _assigned(equation: Comparison, bound: set[Variable]) -> tuple[Variable, Expression] | None:
    """The unbound variable that is alone on one side, if all of the other side is bound; with that side."""
    for variable, value in ((equation.left, equation.right), (equation.right, equation.left)):
        if isinstance(variable, Variable) and not variable.anonymous and variable not in bound:
            if bound.issuperset(variables_of(value)):
                return variable, value
    return None


@dataclass(frozen=True, slots=True)
class Rule:
    """`heads :- body .` with at least one head atom and at least one literal.

    >>> from modulog import parse_program
    >>> [rule] = parse_program("end(?y) :- edge(?x, ?y), ~edge(?y, _) .").rules
    >>> [a.predicate.name for a in rule.atoms], [a.predicate.name for a in rule.negations]
    (['edge'], ['edge'])
    """

    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]
    position: Position | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        from modulog.language.printer import print_rule

        return print_rule(self)

    def __repr__(self) -> str:
        return f"<Rule: {self}>"

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
        """The comparisons and equations of the body."""
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
    """Rules, facts and directives. Terms and predicates have full IRIs; `prefixes` are for printing.

    >>> from modulog import parse_program
    >>> program = parse_program("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> len(program.rules), len(program.facts), sorted(map(str, program.predicates()))
    (1, 1, ['edge/2', 'path/2'])
    """

    rules: tuple[Rule, ...] = ()
    facts: tuple[Atom, ...] = ()
    imports: tuple[Directive, ...] = ()
    exports: tuple[Directive, ...] = ()
    outputs: tuple[str, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    base: str = ""
    text: str | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Program: {plural(len(self.rules), 'rule')}, {plural(len(self.facts), 'fact')}>"

    def predicates(self) -> set[Predicate]:
        """Every predicate of the rules and facts."""
        return set(self._predicates)

    @cached_property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules, and those that connect `triple` and `rdf:type` with properties and classes."""
        from modulog.language.triples import bridges

        return (*self.rules, *bridges(self))

    @cached_property
    def _predicates(self) -> frozenset[Predicate]:
        """Cached, since every query needs them."""
        found = {f.predicate for f in self.facts}
        for rule in self.rules:
            found.update(a.predicate for a in (*rule.heads, *rule.atoms, *rule.negations))
        return frozenset(found)
