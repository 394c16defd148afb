"""The checks of a program before it runs.

`verify` raises an error for the first mistake in the text: an unsafe rule, a predicate with two arities, a
cycle through negation. `check` does the same, and returns the warnings of `suspicions`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from modulog.errors import ArityError, Position, ProgramError, StratificationError, UnsafeRuleError, underline
from modulog.language.dependency_graph import components, dependencies, shortest_path
from modulog.language.function_calls import refuse_functions
from modulog.language.model import (
    Atom,
    Call,
    Comparison,
    Literal,
    Negation,
    Predicate,
    Program,
    Rule,
    Variable,
    assignments,
    variables_of,
)
from modulog.language.printer import print_predicate
from modulog.language.program_warnings import Diagnostic, by_position, uses, warnings
from modulog.wording import plural

__all__ = ["Diagnostic", "bound_variables", "check", "verify", "verify_query", "warnings"]


class Mistake(NamedTuple):
    """An error that has not been raised yet."""

    kind: type[ProgramError]
    message: str
    position: Position | None
    hint: str


def check(
    program: Program,
    text: str | None = None,
    source: str | None = None,
    *,
    known: Collection[str] | None = (),
) -> list[Diagnostic]:
    """Raise an error for the first mistake of a program; return its warnings if it has none.

    `known` names predicates that get facts from outside the program; None means that any predicate may.

    >>> from modulog.language.parser import parse_program
    >>> [w.code for w in check(parse_program("p(?x) :- q(?x) ."))]
    ['no-facts']
    """
    verify(program, text)
    refuse_functions(program, program.text if text is None else text, known)
    found = warnings(program, text, known=known)
    if source is None:
        return found
    return [Diagnostic(w.code, w.message, w.position or Position(source, 1, 1, 1, 1), w.text) for w in found]


def verify(program: Program, text: str | None = None) -> None:
    """Raise an error for the first mistake in the order of the text; the message counts the others."""
    text = program.text if text is None else text
    _raise_first(_mistakes(program, text), text)


def errors_of(program: Program) -> list[ProgramError]:
    """All mistakes of a program as errors that are not raised, in the order of the text.

    >>> from modulog.language.parser import parse_program
    >>> program = parse_program("p(?x) :- q(?y) . r(?z) :- q(a) .", check=False)
    >>> [error.message.split(" ")[0] for error in errors_of(program)]
    ['`?x`', '`?z`']
    """
    return [m.kind(m.message, m.position, program.text, m.hint) for m in _mistakes(program, program.text)]


def verify_query(body: tuple[Literal, ...], text: str | None = None) -> None:
    """Raise an error for the first mistake of a query: an unbound variable, a predicate with two arities."""
    rule = Rule((), body)
    _raise_first(_ordered([*_unsafe_rule(rule, text), *_arities(Program(rules=(rule,)), text)]), text)


def _mistakes(program: Program, text: str | None) -> list[Mistake]:
    return _ordered([*_unsafe(program, text), *_arities(program, text), *_cycles(program)])


def _ordered(mistakes: list[Mistake]) -> list[Mistake]:
    """The mistakes in the order of the text, once each: a statement with `||` becomes several rules."""
    return sorted(dict.fromkeys(mistakes), key=lambda m: by_position(m.position))


def _raise_first(mistakes: list[Mistake], text: str | None) -> None:
    if not mistakes:
        return
    first, *others = mistakes
    more = f" (and {plural(len(others), 'more mistake')})" if others else ""
    raise first.kind(first.message + more, first.position, text, first.hint)


def bound_variables(body: Iterable[Literal]) -> set[str]:
    """The names of the variables that a body binds: in positive atoms, or by `?x = e` with all of `e` bound.

    >>> from modulog.language.parser import parse_query
    >>> sorted(bound_variables(parse_query("p(?x), ?y = ?x, ?z = 1")))
    ['x', 'y', 'z']
    """
    body = tuple(body)
    bound = {v for literal in body if isinstance(literal, Atom) for v in literal.variables()}
    for _ in assignments([b for b in body if isinstance(b, Comparison)], bound):
        pass
    return {v.name for v in bound}


def _unsafe(program: Program, text: str | None) -> Iterator[Mistake]:
    """Facts with variables, and variables in rules that nothing binds."""
    for fact in program.facts:
        if variables := [term for term in fact.terms if isinstance(term, Variable)]:
            shown = "_" if variables[0].anonymous else f"?{variables[0].name}"
            place = _variable_place(fact.position, variables[0].name, text)
            yield Mistake(
                UnsafeRuleError, f"a fact has no variables, this one has `{shown}`", place, _FACT_HINT
            )
    for rule in program.rules:
        yield from _unsafe_rule(rule, text)


_FACT_HINT = "write a constant, or give the rule a body with `:-`"


def _unsafe_rule(rule: Rule, text: str | None) -> Iterator[Mistake]:
    """The variables of heads, negated atoms and comparisons that the body does not bind, each once."""
    bound = bound_variables(rule.body)
    reported: set[str] = set()
    parts: list[Atom | Negation | Comparison] = [
        *rule.heads,
        *(b for b in rule.body if not isinstance(b, Atom)),
    ]
    for part in parts:
        terms = part.terms() if isinstance(part, Comparison) else _atom(part).terms
        for name in dict.fromkeys(term.name for term in terms if isinstance(term, Variable)):
            if name == "_":
                if isinstance(part, Negation):
                    continue
            elif name in bound or name in reported or _fails_with_others(rule, name, bound):
                continue
            reported.add(name)
            message, hint = _unbound(rule, part, name)
            yield Mistake(UnsafeRuleError, message, _variable_place(part.position, name, text), hint)


def _unbound(rule: Rule, part: Atom | Negation | Comparison, name: str) -> tuple[str, str]:
    """Message and hint for an unbound variable in a head, a negated atom or a comparison."""
    if name == "_":
        where = "a comparison" if isinstance(part, Comparison) else "a head"
        return f"`_` in {where} has no value", "name the variable and bind it by a positive atom of the body"
    bind = f"use `?{name}` in a positive atom of the body"
    if cycle := _assignment_cycle(rule, name):
        shown = " and ".join(f"`?{v}`" for v in cycle)
        return f"{shown} {'are assigned from each other' if cycle[1:] else 'is assigned from itself'}", bind
    if isinstance(part, Comparison):
        used = "computed with" if isinstance(part.left, Call) or isinstance(part.right, Call) else "compared"
        return f"`?{name}` is {used}, but nothing gives it a value", bind
    if isinstance(part, Atom):
        return f"`?{name}` of the head is bound by no positive atom of the body", bind
    times = sum(1 for other in (*rule.heads, *rule.body) for v in _variables(other) if v.name == name)
    message = f"`?{name}` of a negated atom is bound by no positive atom of the body"
    if times == 1:
        return message, f'write `_` in place of `?{name}` to say "for no value", or {bind}'
    return message, f"{bind}; for a pattern inside the negation define a predicate of its own and negate that"


def _fails_with_others(rule: Rule, name: str, bound: set[str]) -> bool:
    """Whether a variable is unbound only because an expression assigned to it has unbound variables.

    Then these are reported, and this one is not.
    """
    for equation in (c for c in rule.comparisons if c.operator == "="):
        for variable, value in ((equation.left, equation.right), (equation.right, equation.left)):
            if variable == Variable(name) and isinstance(value, Call):
                return not _assignment_cycle(rule, name) and any(
                    v.name not in bound for v in variables_of(value)
                )
    return False


def _assignment_cycle(rule: Rule, name: str) -> list[str]:
    """A shortest cycle of variables from `name` on, each assigned from the next; empty if there is none."""
    bound = bound_variables(rule.body)
    needs: dict[str, list[str]] = {}
    for equation in (c for c in rule.comparisons if c.operator == "="):
        for variable, value in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(variable, Variable) and variable.name not in bound and isinstance(value, Call):
                found = needs.setdefault(variable.name, [])
                found.extend(v.name for v in variables_of(value) if v.name not in bound)
    ways = [shortest_path(n, name, needs, set(needs)) for n in needs.get(name, ())]
    way = min((w for w in ways if w), key=len, default=[])
    return [name, *way[:-1]] if way else []


def _atom(part: Atom | Negation) -> Atom:
    return part.atom if isinstance(part, Negation) else part


def _variables(literal: Literal) -> Iterator[Variable]:
    return (literal.atom if isinstance(literal, Negation) else literal).variables()


def _variable_place(position: Position | None, name: str, text: str | None) -> Position | None:
    """The position of the first occurrence of a variable between the ends of `position`."""
    if position is None or text is None:
        return position
    pattern = re.compile(r"(?<![\w:?])_(?![\w:])" if name == "_" else rf"\?{re.escape(name)}(?!\w)")
    lines = text.split("\n")[position.line - 1 : position.end_line]
    for i, line in enumerate(lines):
        number = position.line + i
        start = position.column - 1 if i == 0 else 0
        end = position.end_column - 1 if number == position.end_line else len(line)
        if match := pattern.search(line, start, end):
            return Position(position.source, number, match.start() + 1, number, match.end() + 1)
    return position


def _arities(program: Program, text: str | None) -> Iterator[Mistake]:
    """A mistake for each further arity of a predicate; an IRI may have both 1 (class) and 2 (property)."""
    found: dict[str, dict[int, Position | None]] = {}
    for name, arity, position in uses(program):
        places = found.setdefault(name, {})
        if arity not in places or by_position(position) < by_position(places[arity]):
            places[arity] = position
    for name, places in found.items():
        if len(places) == 1:
            continue
        first, *others = sorted(places, key=lambda arity: by_position(places[arity]))
        for arity in others:
            if name.startswith("<") and {first, arity} == {1, 2}:
                continue
            shown = print_predicate(name, dict(program.prefixes).items())
            start = places[first]
            other = f"at {start}" if start else "elsewhere"
            message = f"`{shown}` has {plural(arity, 'argument')} here, but {first} {other}"
            hint = "a predicate has one number of arguments"
            if start and text is not None:
                hint += f"; the other place is\n{underline(text, start)}"
            yield Mistake(ArityError, message, places[arity], hint)


def _cycles(program: Program) -> Iterator[Mistake]:
    """One mistake for each strongly connected component of predicates with a negation between two of them."""
    graph = dependencies(program.all_rules)
    owner = {node: i for i, group in enumerate(components(graph, graph)) for node in group}
    broken: set[int] = set()
    for rule in program.all_rules:
        for negation in (b for b in rule.body if isinstance(b, Negation)):
            negated = negation.atom.predicate
            head = next((h.predicate for h in rule.heads if owner[h.predicate] == owner[negated]), None)
            if head is None or owner[negated] in broken:
                continue
            broken.add(owner[negated])
            within = {node for node, group in owner.items() if group == owner[negated]}
            yield _cycle(program, rule, negation, [head, *shortest_path(negated, head, graph, within)])


def _cycle(program: Program, rule: Rule, negation: Negation, path: list[Predicate]) -> Mistake:
    """The mistake for a cycle `path`, whose first step is the negation; it names a rule for each step."""
    prefixes = dict(program.prefixes).items()
    steps = [print_predicate(path[0].name, prefixes), f"~{print_predicate(path[1].name, prefixes)}"]
    places = [rule.position]
    for needs, needed in itertools.pairwise(path[1:]):
        rule, sign = _rule_between(program, needs, needed)
        steps.append(sign + print_predicate(needed.name, prefixes))
        places.append(rule.position)
    rules = ", ".join(dict.fromkeys(str(place) for place in places if place))
    message = f"a predicate depends on its own negation: {' -> '.join(steps)}"
    where = f" (rules at {rules})" if rules else ""
    hint = "negate only predicates that do not depend on the head"
    return Mistake(StratificationError, message + where, negation.position, hint)


def _rule_between(program: Program, needs: Predicate, needed: Predicate) -> tuple[Rule, str]:
    """A rule that derives `needs` and reads `needed`, and "" if it reads it positively, "~" if negated."""
    deriving = [rule for rule in program.all_rules if any(head.predicate == needs for head in rule.heads)]
    for rule in deriving:
        if any(atom.predicate == needed for atom in rule.atoms):
            return rule, ""
    return next(rule for rule in deriving if any(atom.predicate == needed for atom in rule.negations)), "~"
