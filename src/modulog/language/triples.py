"""RDF triples as facts: which predicate stores a triple, and how `triple` and `rdf:type` see all of them.

The triple `s p o` is stored as the fact p(s, o), and `s rdf:type C` as the fact C(s). Two predicates, the
*views*, range over all triples: `triple(?s, ?p, ?o)`, and `rdf:type(?s, ?c)` with a variable as class. The
builder replaces an atom of a view whose property or class is a constant by the atom of that predicate
(`specialise_rule`), so a view occurs in a program only where it means all properties or all classes. For
these, `bridges` gives the rules by which a view contains what the program derives for the properties and
classes that it names, and the other way round. A view that no rule uses is not stored: a query reads it from
the relations of all properties and classes, as `TripleViews` says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from modulog.language.model import Atom, Literal, Negation, Predicate, Program, Rule, Term, Variable
from modulog.terms.constant import RDF, Constant, Kind

TRIPLE = Predicate("triple", 3)
TYPE = Predicate(f"<{RDF}type>", 2)
VIEWS = (TRIPLE, TYPE)
VIEWS_BY_NAME = {view.name: view for view in (TRIPLE, Predicate("quad", 4), TYPE)}
"""What sees every triple, every triple of a named graph with the name of the graph, and every class."""

TYPE_TERM = Constant(Kind.IRI, RDF + "type")
_S, _P, _O = Variable("s"), Variable("p"), Variable("o")

Pair = tuple[Atom, Atom]
"""The facts of the first atom are found by reading the facts that match the second."""


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
    """`rdf:type(t, C)` with an IRI as class becomes the atom C(t); every other atom stays as it is."""
    if atom.predicate != TYPE:
        return atom
    instance, of = atom.terms
    if isinstance(of, Variable) or of.kind != Kind.IRI:
        return atom
    return Atom(Predicate(f"<{of.text}>", 1), (instance,), atom.position)


def specialise_atom(atom: Atom) -> Atom:
    """The atom of the property or class if an atom of a view has a constant there; else the atom itself.

    >>> x, c = Variable("x"), Constant(Kind.IRI, "http://e.org/C")
    >>> str(specialise_atom(Atom(TRIPLE, (x, TYPE_TERM, c))).predicate)
    '<http://e.org/C>/1'
    """
    if atom.predicate == TRIPLE:
        return replace(triple_atom(*atom.terms), position=atom.position)
    return class_atom(atom)


def specialise_body(body: Iterable[Literal]) -> tuple[Literal, ...]:
    """A body or a query in which `specialise_atom` has replaced each atom."""
    return tuple(
        replace(literal, atom=specialise_atom(literal.atom))
        if isinstance(literal, Negation)
        else specialise_atom(literal)
        if isinstance(literal, Atom)
        else literal
        for literal in body
    )


def specialise_rule(rule: Rule) -> Rule:
    """A rule in which `specialise_atom` has replaced each atom of head and body."""
    return replace(rule, heads=tuple(map(specialise_atom, rule.heads)), body=specialise_body(rule.body))


def is_property(predicate: Predicate) -> bool:
    """Whether facts of a predicate are triples of a property."""
    return predicate.arity == 2 and predicate.name.startswith("<")


def is_class(predicate: Predicate) -> bool:
    """Whether facts of a predicate are `rdf:type` triples with one class."""
    return predicate.arity == 1 and predicate.name.startswith("<")


def is_rdf(predicate: Predicate) -> bool:
    """Whether facts of a predicate are triples."""
    return is_property(predicate) or is_class(predicate)


def name_of(predicate: Predicate) -> Constant:
    """The IRI that names a predicate."""
    return Constant(Kind.IRI, predicate.name[1:-1])


@dataclass(frozen=True, slots=True)
class TripleViews:
    """How a program uses the views `triple` and `rdf:type`.

    `named` are all predicates of the program, `read` the views that its rules read, `made` those that its
    rules derive.
    """

    named: frozenset[Predicate]
    read: frozenset[Predicate]
    made: frozenset[Predicate]

    @staticmethod
    def of(program: Program) -> TripleViews:
        """How `program` uses the views."""
        read = {a.predicate for rule in program.rules for a in (*rule.atoms, *rule.negations)}
        made = {head.predicate for rule in program.rules for head in rule.heads}
        return TripleViews(
            frozenset(program.predicates()), frozenset(read & {*VIEWS}), frozenset(made & {*VIEWS})
        )

    @property
    def present(self) -> frozenset[Predicate]:
        """The views that store every explicit triple, too, in addition to its property or class."""
        return self.read | self.made

    @property
    def classes_in(self) -> Predicate | None:
        """The view that stores the members of classes that rules derive without naming them; or None."""
        if TYPE in self.present and self.made:
            return TYPE
        return TRIPLE if TRIPLE in self.made else None

    def home(self, predicate: Predicate) -> Pair:
        """How to read the facts of a predicate: from its own relation, or from a view that rules derive.

        >>> from modulog.language.parser import parse_program
        >>> views = TripleViews.of(parse_program("triple(?x, ?p, ?y) :- q(?x, ?p, ?y) ."))
        >>> str(views.home(Predicate("<u:p>", 2))[1].predicate)
        'triple/3'
        """
        own = _any_fact(predicate)
        if predicate in self.named or predicate in VIEWS:
            return own, own
        if is_property(predicate) and TRIPLE in self.made:
            return own, Atom(TRIPLE, (_S, name_of(predicate), _O))
        if is_class(predicate) and self.classes_in:
            return own, class_pattern(self.classes_in, name_of(predicate))
        return own, own

    def pieces(
        self,
        predicate: Predicate,
        known: Collection[Predicate],
        not_iris: Callable[[Predicate], list[Constant]],
    ) -> Iterator[Pair]:
        """The reads whose union gives all facts of a predicate, each fact once; `known` are all predicates.

        Triples whose property or class is not an IRI have no predicate and are stored in the views only:
        `not_iris(view)` lists such properties or classes in a view that rules derive.
        """
        if predicate in self.read or predicate not in VIEWS:
            yield self.home(predicate)
        elif predicate == TYPE:
            for kind in filter(is_class, known):
                yield Atom(TYPE, (_S, name_of(kind))), self.home(kind)[1]
            if self.classes_in:
                for term in not_iris(TYPE):
                    yield Atom(TYPE, (_S, term)), class_pattern(self.classes_in, term)
            elif TYPE in known:
                yield self.home(TYPE)
        else:
            for property_ in filter(is_property, known):
                if property_ != TYPE:
                    yield Atom(TRIPLE, (_S, name_of(property_), _O)), self.home(property_)[1]
            for head, body in self.pieces(TYPE, known, not_iris):
                yield Atom(TRIPLE, (_S, TYPE_TERM, head.terms[1])), body
            if TRIPLE in self.made:
                for term in not_iris(TRIPLE):
                    yield Atom(TRIPLE, (_S, term, _O)), Atom(TRIPLE, (_S, term, _O))
            elif TRIPLE in known:
                yield self.home(TRIPLE)


def class_pattern(view: Predicate, of: Term) -> Atom:
    """The atom that matches the members of a class in one of the views."""
    return Atom(view, (_S, of) if view == TYPE else (_S, TYPE_TERM, of))


def _any_fact(predicate: Predicate) -> Atom:
    """The atom that matches all facts of a predicate."""
    names = {1: (_S,), 2: (_S, _O), 3: (_S, _P, _O)}
    terms = names.get(predicate.arity) or tuple(Variable(f"x{j}") for j in range(predicate.arity))
    return Atom(predicate, terms)


def bridges(program: Program) -> tuple[Rule, ...]:
    """The rules between the views and the properties and classes of a program; none if its rules use no view.

    They are added to the program before it is planned.

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
    pairs = [pair for wanted, view in upwards if wanted for pair in _same_triples(view, views.named)]
    pairs += [
        (own, of_view)
        for wanted, view in downwards
        if wanted
        for of_view, own in _same_triples(view, views.named)
    ]
    return tuple(Rule((head,), (body,)) for head, body in pairs)


def _same_triples(view: Predicate, named: Collection[Predicate]) -> Iterator[Pair]:
    """The atoms of a view and of a named property or class that stand for the same triples, as pairs."""
    if view == TRIPLE:
        for property_ in sorted(filter(is_property, named)):
            yield Atom(TRIPLE, (_S, name_of(property_), _O)), _any_fact(property_)
    for kind in sorted(filter(is_class, named)):
        yield class_pattern(view, name_of(kind)), _any_fact(kind)
