"""Warnings: what is legal but likely wrong.

A predicate without facts, two that differ only in case, a Cartesian body, constants that look like variables.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from modulog.errors import Position
from modulog.language.like_variables import like_variables
from modulog.language.model import Atom, Program, Rule
from modulog.language.near_names import near_names
from modulog.language.places import Diagnostic, atom_of, by_position, uses
from modulog.language.printer import print_atom, print_predicate
from modulog.language.triples import TripleViews, bridges

COMPARED = 20_000
"""How many pairs of names are compared, at most, to find near ones; each pair takes some ten microseconds."""


def warnings(
    program: Program, text: str | None = None, *, known: Collection[str] | None = ()
) -> list[Diagnostic]:
    """What is legal but likely wrong, in the order of the text.

    `known` names predicates that have facts from elsewhere. If it is None, nobody knows which have: then those without facts and rules are the inputs, and only
    names that look misspelt are told of.
    """
    text = program.text if text is None else text
    absent = _misspelt(program) if known is None else _without_facts(program, known)
    found = [*absent, *_same_but_case(program), *_products(program), *like_variables(program, text)]
    placed = [Diagnostic(w.code, w.message, w.position, text) for w in found]
    return sorted(placed, key=lambda w: by_position(w.position))


def unmade(program: Program, known: Collection[str] = ()) -> dict[str, Position | None]:
    """The predicates that are read and have no facts, no rules and no `@import`, and where each is first read."""
    made = _made(program) | set(known)
    reads: dict[str, Position | None] = {}
    for rule in program.rules:
        for literal in rule.body:
            if (atom := atom_of(literal)) is not None:
                reads.setdefault(atom.predicate.name, atom.position)
    for directive in program.exports:
        reads.setdefault(directive.predicate, directive.position)
    for name in program.outputs:
        reads.setdefault(name, None)
    return {name: position for name, position in reads.items() if name not in made}


def _made(program: Program) -> set[str]:
    """The names that have facts, rules or an `@import`."""
    rules = (*program.rules, *bridges(program))
    made = {head.predicate.name for rule in rules for head in rule.heads}
    return made | {fact.predicate.name for fact in program.facts} | {d.predicate for d in program.imports}


def _without_facts(program: Program, known: Collection[str]) -> Iterator[Diagnostic]:
    """Where facts of some IRIs were given, it is usual that there are none of others: then only what looks misspelt counts.

    A rule with a variable as property or class may derive facts of anything that is named by an IRI.
    """
    made, absent = _made(program) | set(known), unmade(program, known)
    if TripleViews.of(program).made:
        absent = {name: at for name, at in absent.items() if not name.startswith("<")}
    prefixes = dict(program.prefixes).items()
    if any(name.startswith("<") for name in known):
        nearly = near_names(made)
        absent = {name: at for name, at in absent.items() if not name.startswith("<") or nearly(name)}
    for name, position in absent.items():
        # Many names against many take long, and then a near one says little.
        near = difflib.get_close_matches(name, made, 1) if len(absent) * len(made) < COMPARED else []
        hint = f"; did you mean `{print_predicate(near[0], prefixes)}`?" if near else ""
        shown = print_predicate(name, prefixes)
        yield Diagnostic("no-facts", f"`{shown}` has no facts and no rules{hint}", position)


def _misspelt(program: Program) -> Iterator[Diagnostic]:
    near, prefixes = near_names(_made(program)), dict(program.prefixes).items()
    for name, position in unmade(program).items():
        if meant := near(name):
            shown, other = print_predicate(name, prefixes), print_predicate(meant, prefixes)
            yield Diagnostic("misspelt", f"`{shown}` has no rules; did you mean `{other}`?", position)


def _same_but_case(program: Program) -> Iterator[Diagnostic]:
    first: dict[str, str] = {}
    seen: set[str] = set()
    prefixes = dict(program.prefixes).items()
    for name, _, position in sorted(uses(program), key=lambda use: by_position(use[2])):
        if name in seen:
            continue
        seen.add(name)
        other = first.setdefault(name.casefold(), name)
        if other != name:
            shown, before = print_predicate(name, prefixes), print_predicate(other, prefixes)
            message = f"`{shown}` differs from `{before}` only in case"
            yield Diagnostic("only-case", message, position)


def _products(program: Program) -> Iterator[Diagnostic]:
    for rule in program.rules:
        groups = _groups(rule)
        if len(groups) > 1:
            prefixes = dict(program.prefixes).items()
            left, right = print_atom(groups[0][0], prefixes), print_atom(groups[1][0], prefixes)
            message = f"a Cartesian product: `{left}` and `{right}` share no variable"
            yield Diagnostic("product", message, groups[1][0].position)


def _groups(rule: Rule) -> list[list[Atom]]:
    """The positive atoms with variables, grouped by shared variables; `?x = ?y` connects too."""
    groups: list[tuple[set[str], list[Atom]]] = []
    links: list[tuple[set[str], list[Atom]]] = [({v.name for v in a.variables()}, [a]) for a in rule.atoms]
    links += [({v.name for v in c.variables()}, []) for c in rule.comparisons if c.operator == "="]
    for names, atoms in links:
        if not names:
            continue
        touching = [group for group in groups if group[0] & names]
        merged = (names.union(*(g[0] for g in touching)), [a for g in touching for a in g[1]] + atoms)
        groups = [group for group in groups if group not in touching] + [merged]
    order = {id(atom): i for i, atom in enumerate(rule.atoms)}
    found = [sorted(atoms, key=lambda a: order[id(a)]) for _, atoms in groups if atoms]
    return sorted(found, key=lambda atoms: order[id(atoms[0])])
