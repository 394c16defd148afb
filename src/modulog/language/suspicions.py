"""Warnings: what is legal but likely wrong.

A predicate without facts, two that differ only in case, a Cartesian body.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from modulog.errors import Position
from modulog.language.model import Atom, Program, Rule
from modulog.language.places import Diagnostic, atom_of, by_position, uses
from modulog.language.printer import print_atom, print_predicate
from modulog.language.triples import TripleViews, bridges


def warnings(program: Program, text: str | None = None, *, known: Collection[str] = ()) -> list[Diagnostic]:
    """What is legal but likely wrong, in the order of the text."""
    text = program.text if text is None else text
    found = [*_without_facts(program, known), *_same_but_case(program), *_products(program)]
    placed = [Diagnostic(w.code, w.message, w.position, text) for w in found]
    return sorted(placed, key=lambda w: by_position(w.position))


def _without_facts(program: Program, known: Collection[str]) -> Iterator[Diagnostic]:
    made = (
        {fact.predicate.name for fact in program.facts} | {d.predicate for d in program.imports} | set(known)
    )
    made |= {head.predicate.name for rule in (*program.rules, *bridges(program)) for head in rule.heads}
    # A rule with a variable as property or class may derive facts of anything that is named by an IRI.
    derives_any = bool(TripleViews.of(program).made)
    reads: dict[str, Position | None] = {}
    for rule in program.rules:
        for literal in rule.body:
            if (atom := atom_of(literal)) is not None:
                reads.setdefault(atom.predicate.name, atom.position)
    for directive in program.exports:
        reads.setdefault(directive.predicate, directive.position)
    for name in program.outputs:
        reads.setdefault(name, None)
    prefixes = dict(program.prefixes).items()
    for name, position in reads.items():
        if name not in made and not (derives_any and name.startswith("<")):
            near = difflib.get_close_matches(name, made, 1)
            hint = f"; did you mean `{print_predicate(near[0], prefixes)}`?" if near else ""
            yield Diagnostic(
                "no-facts", f"`{print_predicate(name, prefixes)}` has no facts and no rules{hint}", position
            )


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
