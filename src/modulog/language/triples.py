"""Triples and the predicates under which they are kept: rules and readings that let either be seen through the other.

The triple `s p o` is the fact p(s, o), and `s rdf:type C` is the fact C(s). Two predicates look across all of them:
`triple(?s, ?p, ?o)`, and `rdf:type(?s, ?c)` where the class is a variable. With constants in these places an atom is written as
the fact (`settle`), so that a program names `triple` or `rdf:type` only where it means all of them. Then `bridges` adds the rules
by which they hold what the program derives, and the properties and classes that it names hold what `triple` and `rdf:type` do. What
rules do not need is looked up when somebody asks: `TripleViews` says where.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from modulog.language.model import Atom, Literal, Negation, Predicate, Program, Rule, Term, Variable
from modulog.terms.canonical import RDF
from modulog.terms.model import Constant, Kind

TRIPLE = Predicate("triple", 3)
TYPE = Predicate(f"<{RDF}type>", 2)
VIEWS = (TRIPLE, TYPE)

TYPE_TERM = Constant(Kind.IRI, RDF + "type")
_S, _P, _O = Variable("s"), Variable("p"), Variable("o")

Pair = tuple[Atom, Atom]
"""Facts of the first atom are read as facts of the second."""


def triple_atom(subject: Term, predicate: Term, object_: Term) -> Atom:
    """The atom that a triple pattern stands for.

    >>> x, c = Variable("x"), Constant(Kind.IRI, "http://e.org/C")
    >>> str(triple_atom(x, TYPE_TERM, c).predicate), str(triple_atom(x, c, x).predicate)
    ('<http://e.org/C>/1', '<http://e.org/C>/2')
    """
    if not isinstance(predicate, Constant) or predicate.kind != Kind.IRI:
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


def settle_atom(atom: Atom) -> Atom:
    """The atom as a fact where property or class is a constant.

    >>> x, c = Variable("x"), Constant(Kind.IRI, "http://e.org/C")
    >>> str(settle_atom(Atom(TRIPLE, (x, TYPE_TERM, c))).predicate)
    '<http://e.org/C>/1'
    """
    if atom.predicate == TRIPLE:
        return replace(triple_atom(*atom.terms), position=atom.position)
    return class_atom(atom)


def settle_body(body: Iterable[Literal]) -> tuple[Literal, ...]:
    """A body, or a query, whose triples and types are read where they are kept."""
    return tuple(
        replace(literal, atom=settle_atom(literal.atom))
        if isinstance(literal, Negation)
        else settle_atom(literal)
        if isinstance(literal, Atom)
        else literal
        for literal in body
    )


def settle_rule(rule: Rule) -> Rule:
    """A rule whose triples and types are written as facts wherever they can be."""
    return replace(rule, heads=tuple(map(settle_atom, rule.heads)), body=settle_body(rule.body))


def is_property(predicate: Predicate) -> bool:
    """Whether facts of a predicate are triples of a property."""
    return predicate.arity == 2 and predicate.name.startswith("<")


def is_class(predicate: Predicate) -> bool:
    """Whether facts of a predicate say that something belongs to a class."""
    return predicate.arity == 1 and predicate.name.startswith("<")


def is_rdf(predicate: Predicate) -> bool:
    """Whether facts of a predicate are triples."""
    return is_property(predicate) or is_class(predicate)


def name_of(predicate: Predicate) -> Constant:
    """The IRI that names a predicate."""
    return Constant(Kind.IRI, predicate.name[1:-1])


@dataclass(frozen=True, slots=True)
class TripleViews:
    """What a program does with `triple` and `rdf:type`: which of them its rules read, and which they derive."""

    named: frozenset[Predicate]
    read: frozenset[Predicate]
    made: frozenset[Predicate]

    @staticmethod
    def of(program: Program) -> TripleViews:
        """The views of a program."""
        read = {a.predicate for rule in program.rules for a in (*rule.atoms, *rule.negations)}
        made = {head.predicate for rule in program.rules for head in rule.heads}
        return TripleViews(
            frozenset(program.predicates()), frozenset(read & {*VIEWS}), frozenset(made & {*VIEWS})
        )

    @property
    def present(self) -> frozenset[Predicate]:
        """Those that hold every explicit triple too, beside its property or class."""
        return self.read | self.made

    @property
    def classes_in(self) -> Predicate | None:
        """What holds the members of classes that rules derive without naming them; None if no rule does."""
        if TYPE in self.present and self.made:
            return TYPE
        return TRIPLE if TRIPLE in self.made else None

    def home(self, predicate: Predicate) -> Pair:
        """How the facts of a property or a class are read: where they are kept, or from the view that rules derive them in.

        >>> from modulog.language.parser import parse_program
        >>> views = TripleViews.of(parse_program("triple(?x, ?p, ?y) :- q(?x, ?p, ?y) ."))
        >>> str(views.home(Predicate("<u:p>", 2))[1].predicate)
        'triple/3'
        """
        own = _whole(predicate)
        if predicate in self.named or predicate in VIEWS:
            return own, own
        if is_property(predicate) and TRIPLE in self.made:
            return own, Atom(TRIPLE, (_S, name_of(predicate), _O))
        if is_class(predicate) and self.classes_in:
            return own, class_pattern(self.classes_in, name_of(predicate))
        return own, own

    def pieces(
        self, predicate: Predicate, known: Collection[Predicate], odd: Callable[[Predicate], list[Constant]]
    ) -> Iterator[Pair]:
        """How all facts of a predicate are read, each from one place; `known` are all predicates.

        Triples whose property, and types whose class, is no IRI are read from the views: `odd` are these terms in a view that rules derive.
        """
        if predicate in self.read or predicate not in VIEWS:
            yield self.home(predicate)
        elif predicate == TYPE:
            for kind in filter(is_class, known):
                yield Atom(TYPE, (_S, name_of(kind))), self.home(kind)[1]
            if self.classes_in:
                for term in odd(TYPE):
                    yield Atom(TYPE, (_S, term)), class_pattern(self.classes_in, term)
            elif TYPE in known:
                yield self.home(TYPE)
        else:
            for property_ in filter(is_property, known):
                if property_ != TYPE:
                    yield Atom(TRIPLE, (_S, name_of(property_), _O)), self.home(property_)[1]
            for head, body in self.pieces(TYPE, known, odd):
                yield Atom(TRIPLE, (_S, TYPE_TERM, head.terms[1])), body
            if TRIPLE in self.made:
                for term in odd(TRIPLE):
                    yield Atom(TRIPLE, (_S, term, _O)), Atom(TRIPLE, (_S, term, _O))
            elif TRIPLE in known:
                yield self.home(TRIPLE)


def class_pattern(view: Predicate, of: Term) -> Atom:
    """The members of a class in one of the views."""
    return Atom(view, (_S, of) if view == TYPE else (_S, TYPE_TERM, of))


def _whole(predicate: Predicate) -> Atom:
    """All facts of a predicate."""
    names = {1: (_S,), 2: (_S, _O), 3: (_S, _P, _O)}
    terms = names.get(predicate.arity) or tuple(Variable(f"x{j}") for j in range(predicate.arity))
    return Atom(predicate, terms)


def bridges(program: Program) -> tuple[Rule, ...]:
    """The rules between `triple` or `rdf:type` and the predicates of a program; none if it uses neither.

    >>> from modulog.language.parser import parse_program
    >>> from modulog.language.printer import print_rule
    >>> program = parse_program("p(?x, ?c) :- triple(?x, ?q, ?c) . <http://e.org/D>(?x) :- p(?x, _) .")
    >>> for rule in bridges(program):
    ...     print(print_rule(rule, [("rdf", RDF)]))
    triple(?s, rdf:type, <http://e.org/D>) :- <http://e.org/D>(?s) .
    """
    views = TripleViews.of(program)
    upwards = [(TRIPLE in views.read, TRIPLE), (TYPE in views.read, TYPE)]
    downwards = [(TRIPLE in views.made, TRIPLE), (TYPE in views.made, TYPE)]
    pairs = [pair for wanted, view in upwards if wanted for pair in _seen(view, views.named)]
    pairs += [(own, seen) for wanted, view in downwards if wanted for seen, own in _seen(view, views.named)]
    return tuple(Rule((head,), (body,)) for head, body in pairs)


def _seen(view: Predicate, named: Collection[Predicate]) -> Iterator[Pair]:
    """The facts of one view that properties and classes stand for."""
    if view == TRIPLE:
        for property_ in sorted(filter(is_property, named)):
            yield Atom(TRIPLE, (_S, name_of(property_), _O)), _whole(property_)
    for kind in sorted(filter(is_class, named)):
        yield class_pattern(view, name_of(kind)), _whole(kind)
