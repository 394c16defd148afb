"""Hypothesis strategies: small programs with facts, conjunctive queries, sequences of updates.

A `Case` is plain data in the oracle's form, so that a failure prints as something one can read; `text` renders it in the
rule language. Programs mix rules drawn freely with the shapes that planners treat specially: closures written in every
way, mutual recursion, triangles, copies and inverses between predicates. Levels make every program stratified by
construction: a rule negates only predicates of lower levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from support.values import Row, Value, turtle

CONSTANTS: list[Value] = [
    ("string", "a"),
    ("string", "b"),
    ("integer", 1),
    ("integer", 2),
    ("decimal", Decimal("1.0")),
    ("string", "1"),
    ("integer", -10),
    ("string", 'Zürich, "Hbf"'),
    ("decimal", Decimal("1.5")),
    ("string", ""),
]
VARIABLES = ["?x", "?y", "?z", "?w"]
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]

Facts = dict[str, set[Row]]
Draw = Any


@dataclass(frozen=True)
class Predicates:
    """The predicates of a program: the arity and the level of each, and the constants that facts use."""

    arity: dict[str, int]
    level: dict[str, int]
    universe: tuple[Value, ...]

    def upto(self, level: int, arity: int | None = None) -> list[str]:
        """The predicates of a level or below, perhaps of one arity only."""
        return [p for p, n in self.level.items() if n <= level and arity in (None, self.arity[p])]

    def at(self, level: int, arity: int | None = None) -> list[str]:
        """The predicates of exactly one level."""
        return [p for p in self.upto(level, arity) if self.level[p] == level]


@dataclass(frozen=True)
class Case:
    """A program with facts: rules in the oracle's form, explicit facts by predicate, arities."""

    rules: list[Any]
    facts: Facts
    arity: dict[str, int] = field(repr=False)
    universe: tuple[Value, ...] = field(repr=False)

    def __str__(self) -> str:
        return text(self.rules, self.facts)


def argument(term: Any) -> str:
    """A term of a rule as text: plain strings that are names stand without quotes."""
    if isinstance(term, str):
        return term
    if term[0] == "()":
        return expression_text(term[1], [argument(a) for a in term[2]])
    if term[0] == "double":
        return f"{term[1]}E0"
    bare = term[0] == "string" and term[1].isascii() and term[1].isalpha()
    return str(term[1]) if bare else turtle(term)


def expression_text(function: str, arguments: list[str]) -> str:
    """A call as text, operators in parentheses."""
    if function.isalpha():
        return f"{function}({', '.join(arguments)})"
    return (
        f"({function.join(f' {a} ' for a in arguments)})"
        if len(arguments) > 1
        else f"({function}({arguments[0]}))"
    )


def condition_text(test: Any) -> str:
    """A filter as text."""
    if test[0] == "!":
        return f"!({condition_text(test[1])})"
    if test[0] in ("&&", "||"):
        return f"({condition_text(test[1])}) {test[0]} ({condition_text(test[2])})"
    return f"{argument(test[1])} {test[0]} {argument(test[2])}"


def atom(predicate: str, arguments: Sequence[Any]) -> str:
    """An atom as text."""
    return f"{predicate}({', '.join(map(argument, arguments))})"


def body_text(body: Sequence[Any]) -> str:
    """A rule body, or a query, as text."""
    signs = {"+": "", "-": "~"}
    return ", ".join(
        signs[b[0]] + atom(b[1], b[2])
        if b[0] in signs
        else f"FILTER({condition_text(b[1])})"
        if b[0] == "filter"
        else condition_text(b)
        for b in body
    )


def text(rules: Sequence[Any], facts: Facts | None = None) -> str:
    """A program as text, facts first."""
    lines = [f"{atom(p, row)} ." for p in sorted(facts or {}) for row in sorted((facts or {})[p], key=repr)]
    lines += [f"{', '.join(atom(*h) for h in heads)} :- {body_text(body)} ." for heads, body in rules]
    return "\n".join(lines) + "\n"


@st.composite
def predicates(draw: Draw) -> Predicates:
    """Two to four predicates for data and up to three levels of derived ones, each level with a binary pair."""
    arity, level = {}, {}
    levels = draw(st.sampled_from([3, 1, 2]))
    sizes = [draw(st.integers(1, 3)), *(draw(st.integers(0, 2)) for _ in range(levels))]
    for n, extra in enumerate(sizes):
        names = [f"{'edge' if n == 0 else 'r'}{n}", f"s{n}"][: 1 if n == 0 else 2]
        for name in names:
            arity[name], level[name] = 2, n
        for i in range(extra):
            name = f"{'p' if n else 'e'}{n}{i}"
            arity[name], level[name] = draw(st.sampled_from([2, 1, 3, 0, 4])), n
    size = draw(st.integers(2, 5))
    start = draw(st.integers(0, len(CONSTANTS) - size))
    return Predicates(arity, level, tuple(CONSTANTS[start : start + size]))


def positive(draw: Draw, known: Predicates, names: list[str], variables: list[str]) -> tuple[Any, ...]:
    """A positive atom: mostly variables, sometimes a constant or an anonymous one."""
    name = draw(st.sampled_from(names))
    terms = st.sampled_from([*variables * 3, *known.universe[:1], "_"])
    return ("+", name, tuple(draw(terms) for _ in range(known.arity[name])))


def negative(draw: Draw, known: Predicates, names: list[str], bound: list[str]) -> tuple[Any, ...]:
    """A negated atom over variables that are bound already."""
    name = draw(st.sampled_from(names))
    terms = st.sampled_from([*bound, *bound, *known.universe[:2], "_"])
    return ("-", name, tuple(draw(terms) for _ in range(known.arity[name])))


def comparison(draw: Draw, known: Predicates, bound: list[str]) -> tuple[Any, ...]:
    """A comparison of a bound variable with another one or a constant, which may be on either side."""
    pair = [draw(st.sampled_from(bound)), draw(st.sampled_from([*bound, *known.universe]))]
    return (draw(st.sampled_from(OPERATORS)), *(pair if draw(st.booleans()) else reversed(pair)))


def bound_in(body: Sequence[Any]) -> list[str]:
    """The variables that the positive atoms bind, in order of appearance."""
    return list(
        dict.fromkeys(t for b in body if b[0] == "+" for t in b[2] if isinstance(t, str) and t != "_")
    )


def bodies(draw: Draw, known: Predicates, level: int, fewest: int = 0) -> list[Any]:
    """A body that reads predicates up to a level and negates those below it."""
    count = max(fewest, draw(st.sampled_from([1, 2, 2, 3, 0])))
    variables = VARIABLES if count < 3 else VARIABLES[:3]
    lower = known.upto(level - 1)
    body = [positive(draw, known, lower * 2 + known.at(level), variables) for _ in range(count)]
    bound = bound_in(body)
    if lower:
        body += [
            negative(draw, known, lower + known.at(level - 1) * 3, bound)
            for _ in range(max(draw(st.sampled_from([0, 1, 0, 2])), not count))
        ]
    if bound:
        body += [comparison(draw, known, bound) for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2])))]
    return body


def free_rule(draw: Draw, known: Predicates, head: str) -> list[Any]:
    """One rule drawn freely, sometimes with two heads, constants in heads and an assigned variable."""
    level = known.level[head]
    body = bodies(draw, known, level, fewest=0 if level else 1)
    terms = [*bound_in(body) * 3, *known.universe[:2]]
    if draw(st.integers(0, 7)) == 7:
        source = draw(st.sampled_from(terms))
        body.append(draw(st.sampled_from([("=", "?new", source), ("=", source, "?new")])))
        terms += ["?new"] * 3
    names = [head, *draw(st.sampled_from([[], [], []] + [[p] for p in known.at(level)]))]
    return [([(p, tuple(draw(st.sampled_from(terms)) for _ in range(known.arity[p]))) for p in names], body)]


def rule(head: tuple[Any, ...], *body: tuple[Any, ...]) -> Any:
    """A rule with one head and positive atoms only, for the shapes below: `rule((p, "?x"), (q, "?x"))`."""
    return ([(head[0], head[1:])], [("+", b[0], b[1:]) for b in body])


def shape(draw: Draw, known: Predicates, head: str) -> list[Any]:
    """Rules of a shape that means something to a planner, over binary predicates."""
    level = known.level[head]
    if known.arity[head] != 2 or not level:
        return free_rule(draw, known, head)
    r, s = head, draw(st.sampled_from(known.at(level, 2)))
    e, f = (draw(st.sampled_from(known.upto(level - 1, 2) * 2 + known.at(level, 2))) for _ in "ef")
    x, y, z, w = VARIABLES
    base = [rule((r, x, y), (e, x, y))]
    shapes = [
        [*base, rule((r, x, z), (r, x, y), (r, y, z))],
        [*base, rule((r, x, z), (r, x, y), (e, y, z))],
        [*base, rule((r, x, z), (f, x, y), (r, y, z))],
        [*base, rule((r, x, z), (r, x, y), (r, y, z)), rule((r, y, x), (r, x, y))],
        [*base, rule((r, x, x), (e, x, "_")), rule((r, x, z), (r, x, y), (r, y, z))],
        [rule((r, x, y), (e, w, x), (e, w, y)), rule((r, x, y), (e, z, x), (r, z, w), (f, w, y))],
        [*base, rule((r, x, z), (s, x, y), (e, y, z)), rule((s, x, z), (r, x, y), (f, y, z))],
        [rule((r, x, z), (e, x, y), (f, y, z), (e, z, x))],
        [rule((r, x, z), (e, x, y), (f, w, z))],
    ]
    found: list[Any] = draw(st.sampled_from(shapes))
    return found


def equivalence(draw: Draw, known: Predicates, head: str) -> list[Any]:
    """Copies and permutations along a chain of predicates of one arity, mostly closed to a cycle."""
    level, arity = known.level[head], known.arity[head]
    others = [p for p in known.at(level, arity) if p != head]
    chain = [head, *(draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others else [])]
    ends = [*chain[1:], *([head] if draw(st.integers(0, 3)) else [])]
    rules = []
    for source, target in zip(chain, ends, strict=False):
        variables = VARIABLES[:arity]
        rules.append(rule((target, *draw(st.permutations(variables))), (source, *variables)))
    return rules


@st.composite
def cases(draw: Draw) -> Case:
    """A program of up to about a dozen rules, with facts for data and for derived predicates."""
    known = draw(predicates())
    rules: list[Any] = []
    for head, level in known.level.items():
        kinds = (
            [[free_rule], [shape], [equivalence, shape], [shape, free_rule], []]
            if level
            else [[], [], [equivalence], [free_rule]]
        )
        for kind in draw(st.sampled_from(kinds)):
            rules += kind(draw, known, head)
    facts = {p: draw(facts_of(known.arity[p], known.universe, derived=n > 0)) for p, n in known.level.items()}
    return Case(
        draw(st.permutations(rules)), {p: set(f) for p, f in facts.items() if f}, known.arity, known.universe
    )


def facts_of(arity: int, universe: Sequence[Value], derived: bool) -> st.SearchStrategy[set[Row]]:
    """Explicit facts: data is seldom empty, a derived predicate mostly is."""
    some = rows(arity, universe, 12 if arity > 1 else 3, fewest=min(3, arity))
    return st.one_of(st.just(set()), st.just(set()), rows(arity, universe, 2)) if derived else some


def rows(arity: int, universe: Sequence[Value], most: int, fewest: int = 0) -> st.SearchStrategy[set[Row]]:
    """A set of rows of one arity."""
    return st.sets(st.tuples(*[st.sampled_from(universe)] * arity), min_size=fewest, max_size=most)


def queries(case: Case) -> st.SearchStrategy[list[Any]]:
    """A conjunctive query over all predicates of a case, with negation and comparisons, in any order."""
    known = Predicates(case.arity, dict.fromkeys(case.arity, 0) | {"": -1}, case.universe)

    @st.composite
    def query(draw: Draw) -> list[Any]:
        names = list(case.arity)
        body = [positive(draw, known, names, VARIABLES) for _ in range(draw(st.integers(1, 3)))]
        bound = bound_in(body)
        body += [negative(draw, known, names, bound) for _ in range(draw(st.integers(0, 1)))]
        if bound:
            body += [comparison(draw, known, bound) for _ in range(draw(st.integers(0, 1)))]
        return draw(st.permutations(body))  # type: ignore[no-any-return]

    return query()


@dataclass(frozen=True)
class Update:
    """Explicit facts to add and to delete at once."""

    add: Facts
    delete: Facts


def updates(case: Case, most: int = 4) -> st.SearchStrategy[list[Update]]:
    """A sequence of updates of explicit facts, also of derived predicates; deletions favour what was there."""

    @st.composite
    def sequence(draw: Draw) -> list[Update]:
        present = {p: set(case.facts.get(p, ())) for p in case.arity}
        found = []
        for _ in range(draw(st.integers(1, most))):
            add: Facts = {}
            delete: Facts = {}
            for p in draw(st.lists(st.sampled_from(sorted(case.arity)), unique=True, min_size=1, max_size=4)):
                add[p] = draw(rows(case.arity[p], case.universe, 2))
                delete[p] = draw(rows(case.arity[p], case.universe, 1))
                if present[p]:
                    delete[p] |= draw(st.sets(st.sampled_from(sorted(present[p], key=repr)), max_size=3))
                present[p] = (present[p] - delete[p]) | add[p]
            found.append(Update({p: f for p, f in add.items() if f}, {p: f for p, f in delete.items() if f}))
        return found

    return sequence()


def renamed(case: Case) -> Case:
    """The same program with other names for predicates and variables."""

    def name(p: str) -> str:
        return f"other_{p[::-1]}"

    def term(t: Any) -> Any:
        return t if t == "_" or not isinstance(t, str) else f"?Long_{t[1:]}2"

    def literal(b: Any) -> Any:
        return (b[0], name(b[1]), tuple(map(term, b[2]))) if b[0] in "+-" else (b[0], term(b[1]), term(b[2]))

    rules = [
        ([(name(p), tuple(map(term, args))) for p, args in heads], [literal(b) for b in body])
        for heads, body in case.rules
    ]
    facts = {name(p): set(rows) for p, rows in case.facts.items()}
    return Case(rules, facts, {name(p): n for p, n in case.arity.items()}, case.universe)
