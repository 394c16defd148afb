"""Triples and the predicates under which they are kept: rules that let either be read through the other.

The triple `s p o` is the fact p(s, o), and `s rdf:type C` is the fact C(s). Two predicates look across all of them:
`triple(?s, ?p, ?o)`, and `rdf:type(?s, ?c)` where the class is a variable. Loading triples fills them with what was
loaded; `bridges` adds what a program derives. If a program derives `triple` or `rdf:type`, its facts become facts of the
properties and classes that the program names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from modulog.errors import QueryError
from modulog.language.model import Atom, Literal, Negation, Predicate, Program, Rule, Term, Variable
from modulog.terms.canonical import RDF
from modulog.terms.model import Constant, Kind

TRIPLE = Predicate("triple", 3)
TYPE = Predicate(f"<{RDF}type>", 2)

_S, _P, _O = Variable("s"), Variable("p"), Variable("o")
_TYPE_TERM = Constant(Kind.IRI, RDF + "type")


def triple_atom(subject: Term, predicate: Term, object_: Term) -> Atom:
    """The atom that a triple pattern stands for.

    >>> x, c = Variable("x"), Constant(Kind.IRI, "http://e.org/C")
    >>> str(triple_atom(x, _TYPE_TERM, c).predicate), str(triple_atom(x, c, x).predicate)
    ('<http://e.org/C>/1', '<http://e.org/C>/2')
    """
    if not isinstance(predicate, Constant):
        return Atom(TRIPLE, (subject, predicate, object_))
    return class_atom(Atom(Predicate(f"<{predicate.text}>", 2), (subject, object_)))


def class_atom(atom: Atom) -> Atom:
    """`rdf:type(t, C)` with an IRI as class is the atom C(t); every other atom stays as it is."""
    if atom.predicate != TYPE:
        return atom
    instance, of = atom.terms
    if isinstance(of, Variable) or of.kind != Kind.IRI:
        return atom
    return Atom(Predicate(f"<{of.text}>", 1), (instance,), atom.position)


def settle_query(
    body: Iterable[Literal], known: Collection[Predicate], program: Program
) -> tuple[Literal, ...]:
    """A query whose triples and types are read where they are kept; an error if it asks for all of them and no rule does.

    >>> from modulog.language.parser import parse_query
    >>> query = parse_query("rdf:type(?x, <u:C>)", prefixes=[("rdf", RDF)])
    >>> str(settle_query(query, [Predicate("<u:C>", 1)], Program())[0].predicate)
    '<u:C>/1'
    """
    views = {TRIPLE, TYPE} - program.predicates()
    return tuple(
        replace(literal, atom=_settled(literal.atom, known, views))
        if isinstance(literal, Negation)
        else _settled(literal, known, views)
        if isinstance(literal, Atom)
        else literal
        for literal in body
    )


def _settled(atom: Atom, known: Collection[Predicate], views: set[Predicate]) -> Atom:
    settled = class_atom(atom)
    if atom.predicate == TRIPLE and TRIPLE in views:
        settled = replace(triple_atom(*atom.terms), position=atom.position)
    if settled.predicate in views and any(p.name.startswith("<") for p in known):
        rule = (
            "all(?s, ?p, ?o) :- triple(?s, ?p, ?o) ."
            if atom.predicate == TRIPLE
            else "all(?s, ?c) :- rdf:type(?s, ?c) ."
        )
        what = "triples" if atom.predicate == TRIPLE else "classes"
        raise QueryError(
            f"no rule asks for all {what}, so they are not kept together; add one to the program: {rule}"
        )
    return settled if settled.predicate in known or atom.predicate in views else atom


def bridges(program: Program) -> tuple[Rule, ...]:
    """The rules between `triple` or `rdf:type` and the predicates of a program; none if it uses neither.

    >>> from modulog.language.parser import parse_program
    >>> from modulog.language.printer import print_rule
    >>> program = parse_program("p(?x, ?c) :- triple(?x, ?q, ?c) . <http://e.org/D>(?x) :- p(?x, _) .")
    >>> for rule in bridges(program):
    ...     print(print_rule(rule, [("rdf", RDF)]))
    triple(?s, rdf:type, <http://e.org/D>) :- <http://e.org/D>(?s) .
    """
    named = program.predicates()
    if not {TRIPLE, TYPE} & named:
        return ()
    read = [atom for rule in program.rules for atom in (*rule.atoms, *rule.negations)]
    made = [*program.facts, *(head for rule in program.rules for head in rule.heads)]
    pairs = [*_upwards(read, named, set(program.outputs)), *_downwards(made, named)]
    return tuple(Rule((head,), (body,)) for head, body in pairs)


def _upwards(read: list[Atom], named: set[Predicate], outputs: set[str]) -> Iterator[tuple[Atom, Atom]]:
    """What `triple` and `rdf:type` must hold for those who read them; with constants there, only what these ask for."""
    types = _asked(read, TYPE, 1, outputs)
    loaded = {Predicate(f"<{of.text}>", 1) for of in types if of is not None and of.kind == Kind.IRI}
    for view in _classes(named | loaded, types):
        yield Atom(TYPE, (_S, _iri(view))), Atom(view, (_S,))
    asked = _asked(read, TRIPLE, 1, outputs)
    for property_ in _properties(named, asked):
        yield Atom(TRIPLE, (_S, _iri(property_), _O)), Atom(property_, (_S, _O))
    if {None, _TYPE_TERM} & asked:
        for view in _classes(named, {None}):
            yield Atom(TRIPLE, (_S, _TYPE_TERM, _iri(view))), Atom(view, (_S,))


def _downwards(made: list[Atom], named: set[Predicate]) -> Iterator[tuple[Atom, Atom]]:
    """What the properties and classes of a program hold because `triple` or `rdf:type` does."""
    types = _asked(made, TYPE, 1)
    for view in _classes(named, types):
        yield Atom(view, (_S,)), Atom(TYPE, (_S, _iri(view)))
    asked = _asked(made, TRIPLE, 1)
    for property_ in _properties(named, asked):
        yield Atom(property_, (_S, _O)), Atom(TRIPLE, (_S, _iri(property_), _O))
    if {None, _TYPE_TERM} & asked:
        for view in _classes(named, {None}):
            yield Atom(view, (_S,)), Atom(TRIPLE, (_S, _TYPE_TERM, _iri(view)))


def _asked(
    atoms: Iterable[Atom], predicate: Predicate, place: int, outputs: Iterable[str] = ()
) -> set[Constant | None]:
    """The constants at one place of the atoms of a predicate; None among them if some atom has a variable there."""
    found: set[Constant | None] = {None} if predicate.name in outputs else set()
    for atom in atoms:
        if atom.predicate == predicate:
            term = atom.terms[place]
            found.add(term if isinstance(term, Constant) else None)
    return found


def _classes(named: set[Predicate], asked: set[Constant | None]) -> list[Predicate]:
    return _chosen((p for p in named if p.arity == 1), asked)


def _properties(named: set[Predicate], asked: set[Constant | None]) -> list[Predicate]:
    return _chosen((p for p in named if p.arity == 2), asked)


def _chosen(predicates: Iterable[Predicate], asked: set[Constant | None]) -> list[Predicate]:
    """Those named by IRIs that are asked for, in order."""
    return sorted(p for p in predicates if p.name.startswith("<") and (None in asked or _iri(p) in asked))


def _iri(predicate: Predicate) -> Constant:
    return Constant(Kind.IRI, predicate.name[1:-1])
