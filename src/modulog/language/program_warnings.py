"""Warnings about what is legal but probably wrong, and `Diagnostic`, the form in which users get them.

A predicate without facts, two that differ only in case, a body that is a Cartesian product, constants that
look like variables.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from modulog.errors import Position, underline
from modulog.language.model import (
    Atom,
    Comparison,
    Directive,
    Literal,
    Negation,
    Predicate,
    Program,
    Rule,
    Variable,
)
from modulog.language.printer import print_atom, print_predicate
from modulog.language.triples import TripleViews
from modulog.terms.constant import Constant, Kind


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

    def __repr__(self) -> str:
        place = "" if self.position is None else f"{self.position}: "
        return f"<Diagnostic: {place}{self.message}>"

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


# ---- Warnings

COMPARED = 20_000
"""With more pairs of names, no near names are looked for; comparing a pair takes some ten microseconds."""


def warnings(
    program: Program, text: str | None = None, *, known: Collection[str] | None = ()
) -> list[Diagnostic]:
    """The warnings about a program, in the order of the text.

    `known` names predicates that have facts from outside the program. None means that it is not known which
    have: then a predicate without facts and rules is taken for an input, and only names that look misspelt
    are warned of.
    """
    text = program.text if text is None else text
    absent = _misspelt(program) if known is None else _without_facts(program, known)
    found = [*absent, *_same_but_case(program), *_products(program), *like_variables(program, text)]
    placed = [Diagnostic(w.code, w.message, w.position, text) for w in found]
    return sorted(placed, key=lambda w: by_position(w.position))


def unmade(program: Program, known: Collection[str] = ()) -> dict[str, Position | None]:
    """The predicates that are read but have no facts, rules or `@import`, each with its first position.

    `known` names predicates that have facts from outside the program.
    """
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
    """The names of predicates with facts, rules or an `@import`."""
    made = {head.predicate.name for rule in program.all_rules for head in rule.heads}
    return made | {fact.predicate.name for fact in program.facts} | {d.predicate for d in program.imports}


def _without_facts(program: Program, known: Collection[str]) -> Iterator[Diagnostic]:
    """Warnings about predicates that are read, but have no facts and no rules.

    If facts of predicates named by IRIs (RDF) are loaded, it is normal that others have none: then an IRI is
    only warned of if it looks misspelt. If a rule derives triples whose property or class is a variable, it
    may derive facts of any IRI, and none is warned of.
    """
    made, absent = _made(program) | set(known), unmade(program, known)
    if TripleViews.of(program).made:
        absent = {name: at for name, at in absent.items() if not name.startswith("<")}
    prefixes = dict(program.prefixes).items()
    if any(name.startswith("<") for name in known):
        near_made = near_names(made)
        absent = {name: at for name, at in absent.items() if not name.startswith("<") or near_made(name)}
    for name, position in absent.items():
        # Comparing many names with many takes long, and among many names a near one means little.
        near = difflib.get_close_matches(name, made, 1) if len(absent) * len(made) < COMPARED else []
        hint = f"; did you mean `{print_predicate(near[0], prefixes)}`?" if near else ""
        shown = print_predicate(name, prefixes)
        yield Diagnostic("no-facts", f"`{shown}` has no facts and no rules{hint}", position)


def _misspelt(program: Program) -> Iterator[Diagnostic]:
    """Warnings about predicates without facts and rules whose names are near to those of others.

    Of two such predicates with near names, the one that occurs later is taken for the misspelt one.
    """
    inputs, prefixes = unmade(program), dict(program.prefixes).items()
    near, near_input = near_names(_made(program)), near_names(inputs)
    for name, position in inputs.items():
        shown = print_predicate(name, prefixes)
        if meant := near(name):
            other = print_predicate(meant, prefixes)
            yield Diagnostic("misspelt", f"`{shown}` has no rules; did you mean `{other}`?", position)
        elif (meant := near_input(name)) and by_position(inputs[meant]) < by_position(position):
            other = print_predicate(meant, prefixes)
            yield Diagnostic("misspelt", f"`{shown}` looks misspelt; did you mean `{other}`?", position)


def _same_but_case(program: Program) -> Iterator[Diagnostic]:
    """Warnings about names that differ from an earlier one only in case."""
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
    """Warnings about rules whose body is a Cartesian product."""
    for rule in program.rules:
        groups = _groups(rule)
        if len(groups) > 1:
            prefixes = dict(program.prefixes).items()
            left, right = print_atom(groups[0][0], prefixes), print_atom(groups[1][0], prefixes)
            message = f"a Cartesian product: `{left}` and `{right}` share no variable"
            yield Diagnostic("product", message, groups[1][0].position)


def _groups(rule: Rule) -> list[list[Atom]]:
    """The positive atoms with variables in groups that share variables; `?x = ?y` connects two atoms, too."""
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


# Warns of constants that look like the variables of Prolog and Soufflé: `path(X, Y) :- edge(X, Y)`.
#
# Variables of Modulog begin with `?`, so such a rule is about the strings "X" and "Y". Strings in quotes are
# not warned of.
_CAPITAL = re.compile(r"[^\W\d_]\w*|_\w+")
_SHORT = re.compile(r"[A-Z]\d*|_\w+")


def like_variables(program: Program, text: str | None) -> Iterator[Diagnostic]:
    """A warning for each rule with such constants; none without the text, which shows what is in quotes.

    A name counts if it occurs twice in a rule, as variables do. In a rule without variables, it must begin
    with a capital letter or `_`; in others it must be a single capital letter (and digits), or begin with
    `_`, so that nothing is said of `ancestor(Ada, ?x) :- parent(Ada, ?x)`.
    """
    if text is None:
        return
    lines = text.split("\n")
    for rule in program.rules:
        if names := [name for name in _names(rule) if _is_bare(rule, name, lines)]:
            place = next(a.position for b in rule.body if (a := atom_of(b)) and _has(a.terms, names))
            yield Diagnostic("like-variable", _said(names), place)


def query_warning(query: Sequence[Literal], text: str) -> Diagnostic | None:
    """A warning if names in a query look like variables: `path(a, X)` asks for facts with the string "X".

    >>> from modulog.language.parser import parse_query
    >>> query_warning(parse_query("path(a, X)"), "path(a, X)").message
    '`X` is a constant here; did you mean `?X`? Quote it if not'
    """
    atoms = [atom for literal in query if (atom := atom_of(literal)) is not None]
    found = [
        t.text
        for atom in atoms
        for t in atom.terms
        if isinstance(t, Constant) and t.kind == Kind.STRING and _SHORT.fullmatch(t.text)
    ]
    if not (names := [name for name in dict.fromkeys(found) if _stands_bare(name, text)]):
        return None
    place = next(atom.position for atom in atoms if _has(atom.terms, names))
    return Diagnostic("like-variable", _said(names), place, text)


def _said(names: Sequence[str]) -> str:
    """The message about constants that look like variables."""
    shown, meant = " and ".join(f"`{n}`" for n in names), " and ".join(f"`?{n}`" for n in names)
    one = len(names) == 1
    are, them = ("is a constant", "it") if one else ("are constants", "them")
    return f"{shown} {are} here; did you mean {meant}? Quote {them} if not"


def _names(rule: Rule) -> list[str]:
    """The names that look like variables and occur twice in a rule, at least once in its body."""
    read = [atom for literal in rule.body if (atom := atom_of(literal)) is not None]
    terms = [term for atom in (*rule.heads, *read) for term in atom.terms]
    has_variables = any(isinstance(term, Variable) and not term.anonymous for term in terms)
    pattern = _SHORT if has_variables else _CAPITAL
    counts = Counter(t.text for t in terms if isinstance(t, Constant) and t.kind == Kind.STRING)
    return [
        name
        for name, count in counts.items()
        if count > 1
        and pattern.fullmatch(name)
        and (name[0] == "_" or name[0].isupper())
        and any(_has(atom.terms, [name]) for atom in read)
    ]


def _has(terms: tuple[object, ...], names: list[str]) -> bool:
    return any(isinstance(t, Constant) and t.kind == Kind.STRING and t.text in names for t in terms)


def _is_bare(rule: Rule, name: str, lines: list[str]) -> bool:
    """Whether a name occurs in the text of a rule without quotes, and not as a part of another word."""
    place = rule.position
    if place is None or place.end_line > len(lines):
        return False
    stretch = lines[place.line - 1 : place.end_line]
    stretch[-1] = stretch[-1][: place.end_column - 1]
    stretch[0] = stretch[0][place.column - 1 :]
    return _stands_bare(name, "\n".join(stretch))


def _stands_bare(name: str, text: str) -> bool:
    """Whether a name occurs in a text without quotes, and not as a part of another word."""
    return re.search(rf"(?<![\w\"'?:/#-]){re.escape(name)}(?![\w\"':/#-])", text) is not None


# Finds the names that misspelt ones were meant to be: one letter is missing, added, changed or moved.
SHORTEST = 4
"""Names with fewer letters are never taken for misspelt ones."""
CHANGED = 6
"""In names with fewer letters, a changed letter does not count as misspelt: `team` and `term` are both words.
"""


def near_names(known: Iterable[str]) -> Callable[[str], str]:
    """A function that returns the known name nearest to a name, or "" if none is near.

    IRIs are near only if they differ in nothing but their last parts.

    >>> near = near_names(["path", "edge2", "container", "<http://a/knows>"])
    >>> near("paht"), near("edge3"), near("pith"), near("contaimer")
    ('path', '', '', 'container')
    >>> near("<http://a/knos>"), near("<http://b/knows>")
    ('<http://a/knows>', '')
    """
    names: dict[tuple[str, str], list[str]] = {}
    for name in sorted(known):
        for key in _keys(name):
            names.setdefault(key, []).append(name)

    def near(name: str) -> str:
        found = (other for key in _keys(name) for other in names.get(key, ()))
        return next((other for other in found if _is_near(name, other)), "")

    return near


def _parts(name: str) -> tuple[str, str]:
    """An IRI up to its last part, and that part; "" and the name for one that is not an IRI."""
    match = re.fullmatch(r"(<.*[/#:])([^/#:]+)>", name)
    return (match[1], match[2]) if match else ("", name)


def _keys(name: str) -> list[tuple[str, str]]:
    """The name, and the name without each of its letters: near names have one of these keys in common."""
    start, last = _parts(name)
    return [(start, last), *((start, last[:i] + last[i + 1 :]) for i in range(len(last)))]


def _is_near(name: str, other: str) -> bool:
    """Whether two names with a common key are taken for the same name, misspelt.

    They are not if they are short, or if they differ only in digits, as `edge2` and `edge3` do.
    """
    one, two = _parts(name)[1], _parts(other)[1]
    if (
        name == other
        or min(len(one), len(two)) < SHORTEST
        or re.sub(r"\d", "", one) == re.sub(r"\d", "", two)
    ):
        return False
    moved_or_lost = len(one) != len(two) or sorted(one) == sorted(two)
    return moved_or_lost or len(one) >= CHANGED
