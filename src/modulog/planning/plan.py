"""The plan of a program, which the passes make and the reasoner evaluates; `str` and notebooks print it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Protocol

from modulog.engines.schemes import PLAIN, REPRESENTABLE, Scheme
from modulog.language.model import Atom, Comparison, Expression, Predicate, Rule, Variable
from modulog.language.printer import print_atom, print_rule
from modulog.terms.constant import Constant
from modulog.wording import plural


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule in the form that is evaluated: one head, the literals by kind, and the rule it comes from.

    >>> from modulog import Reasoner
    >>> [print(clause) for clause in Reasoner("p(?x), r(?y) :- q(?x, ?y) .").plan().clauses]
    p(?x) :- q(?x, ?y) .
    r(?y) :- q(?x, ?y) .
    [None, None]
    """

    head: Atom
    atoms: tuple[Atom, ...]
    negations: tuple[Atom, ...]
    comparisons: tuple[Comparison, ...]
    origin: Rule = field(compare=False)

    @property
    def computed(self) -> dict[Variable, Expression]:
        """The variables that are bound only by an equation, with the expression that computes each."""
        bound = {v for atom in self.atoms for v in atom.variables()}
        return {
            c.left: c.right
            for c in self.comparisons
            if c.operator == "=" and isinstance(c.left, Variable) and c.left not in bound
        }

    @property
    def reads(self) -> set[Predicate]:
        """The predicates of the body."""
        return {atom.predicate for atom in (*self.atoms, *self.negations)}

    @property
    def creates(self) -> bool:
        """Whether the head has computed variables, so that the clause may derive facts with new terms."""
        return any(v in self.computed for v in self.head.variables())

    @property
    def rule(self) -> Rule:
        """The clause as a rule, for printing."""
        from modulog.language.model import Negation

        return Rule((self.head,), (*self.atoms, *(Negation(a) for a in self.negations), *self.comparisons))

    def __str__(self) -> str:
        return print_rule(self.rule) if self.rule.body else f"{print_atom(self.head)} ."

    def __repr__(self) -> str:
        return f"<Clause: {self}>"


@dataclass(frozen=True, slots=True)
class Link:
    """How to read a predicate from another: its argument j is argument places[j] of the representative."""

    representative: Predicate
    places: tuple[int, ...]

    def __str__(self) -> str:
        names = [f"?{'xyzuvw'[j] if j < 6 else f'x{j}'}" for j in range(len(self.places))]
        return print_atom(
            Atom(
                self.representative,
                tuple(Variable(names[self.places.index(j)][1:]) for j in range(len(names))),
            )
        )


@dataclass(frozen=True, slots=True)
class ModulePlan:
    """Recursive clauses of one stratum, and the kind of module that evaluates them.

    Kinds: "seminaive"; "hypertree", for clauses of which some may be decomposed; "transitive" and "symmetric"
    (which includes transitive); "left-linear" and "right-linear", closures along the atom `graph`. A closure
    that is the only recursion of its stratum is `exact`. `reflexive` has the positions (0, 1) of the
    arguments for which a clause says that their values are related to themselves.

    >>> from modulog import Reasoner
    >>> [stratum] = Reasoner("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .").plan().strata
    >>> [(module.kind, module.exact) for module in stratum.modules]
    [('transitive', True)]
    """

    kind: str
    clauses: tuple[Clause, ...]
    exact: bool = False
    graph: Atom | None = None
    reflexive: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"<ModulePlan: {self.name}, {plural(len(self.clauses), 'rule')}>"

    @property
    def name(self) -> str:
        """The kind, as it is printed."""
        names = {
            "symmetric": "symmetric-transitive closure",
            "seminaive": "seminaive",
            "hypertree": "seminaive or hypertree decompositions",
        }
        words = names.get(self.kind, f"{self.kind} closure")
        return f"reflexive {words}" if self.reflexive else words


@dataclass(frozen=True, slots=True)
class Stratum:
    """A strongly connected component of the predicate graph, with the clauses that derive its predicates.

    >>> from modulog import Reasoner
    >>> [stratum] = Reasoner("p(?x) :- q(?x, ?y) .").plan().strata
    >>> len(stratum.entry), len(stratum.recursive)
    (1, 0)
    """

    predicates: tuple[Predicate, ...]
    entry: tuple[Clause, ...]  # the nonrecursive clauses
    recursive: tuple[Clause, ...] = ()
    modules: tuple[ModulePlan, ...] = ()
    decompose: str = "off"  # whether bodies are decomposed: where it pays ("auto"), all of them, or none
    table_rows: int | None = None  # the most rows that a table of a decomposed body may have
    schemes: Mapping[Predicate, Scheme] = field(default_factory=dict)  # of predicates with compact storage
    view: tuple[Link, ...] = ()  # the parts, if the predicate is a view

    def __repr__(self) -> str:
        rules = plural(len(self.entry) + len(self.recursive), "rule")
        return f"<Stratum: {', '.join(map(str, self.predicates[:3]))}, {rules}>"

    def scheme(self, predicate: Predicate) -> Scheme:
        """The storage scheme of a predicate."""
        return self.schemes.get(predicate, PLAIN)

    @property
    def name(self) -> str:
        """What people call it: by its first predicates."""
        return ", ".join(p.name for p in self.predicates[:3])

    @property
    def below(self) -> set[Predicate]:
        """The predicates outside the stratum that its clauses read."""
        read = (clause.reads for clause in (*self.entry, *self.recursive))
        return set().union(*read) - set(self.predicates)

    @property
    def closure(self) -> ModulePlan | None:
        """The closure that is the only recursion of the stratum; None if there is none."""
        return self.modules[0] if self.modules and self.modules[0].exact else None

    @property
    def creating(self) -> tuple[Clause, ...]:
        """The recursive clauses that create values, which might never reach a fixpoint."""
        return tuple(clause for clause in self.recursive if clause.creates)


class Tree(Protocol):
    """A decomposition that can be printed; `given_up` says why it is no longer used, "" if it is."""

    @property
    def given_up(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ShownTree:
    """The text of a decomposition that was pickled in another process."""

    text: str
    given_up: str

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Plan:
    """Strata in the order of evaluation with their modules, and what has been learnt from evaluating them.

    `links` are merged predicates with the links to their representatives. `views` are unions and inverses
    with their parts; `owners` maps the hidden predicate of each view to the view. For printing, evaluation
    adds to three dictionaries: `orders` has for each clause, by its identity, functions that return the join
    order last used, one for each position of the delta; `storage` says how the facts of a predicate are
    stored and why; `trees` are the decompositions along which clauses are evaluated, or were until they were
    given up.

    >>> from modulog import Reasoner
    >>> plan = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .").plan()
    >>> [(str(s.predicates[0]), s.modules[0].name) for s in plan.strata]
    [('path/2', 'right-linear closure')]
    """

    clauses: tuple[Clause, ...]
    strata: tuple[Stratum, ...] = ()
    links: dict[Predicate, Link] = field(default_factory=dict)
    predicates: frozenset[Predicate] = frozenset()
    orders: dict[int, list[Callable[[], str]]] = field(default_factory=dict)
    views: dict[Predicate, tuple[Link, ...]] = field(default_factory=dict)
    owners: dict[Predicate, Predicate] = field(default_factory=dict)
    storage: dict[Predicate, Callable[[], str]] = field(default_factory=dict)
    trees: dict[int, Tree] = field(default_factory=dict)
    represents: frozenset[str] = REPRESENTABLE  # the kinds of compact storage that the engine has
    place: str = ""  # where rules are evaluated (driver or workers) and why, if that was decided for a run

    def __getstate__(self) -> dict[str, Any]:
        """The plan for pickling: functions that describe orders and storage, and trees, become texts."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        clauses = {
            id(c): c for s in self.strata for c in (*s.entry, *(c for m in s.modules for c in m.clauses))
        }
        state["orders"] = [(clause, self._orders(clause)) for clause in clauses.values()]
        state["storage"] = {predicate: show() for predicate, show in self.storage.items()}
        trees = ((clauses[key], tree) for key, tree in self.trees.items() if key in clauses)
        state["trees"] = [(clause, str(tree), tree.given_up) for clause, tree in trees]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        orders = {id(clause): [partial(str, line) for line in lines] for clause, lines in state["orders"]}
        storage = {predicate: partial(str, text) for predicate, text in state["storage"].items()}
        trees = {id(clause): ShownTree(text, given_up) for clause, text, given_up in state["trees"]}
        for name, value in {**state, "orders": orders, "storage": storage, "trees": trees}.items():
            setattr(self, name, value)

    def constants(self) -> set[Constant]:
        """All constants in the clauses."""
        found: set[Constant] = set()
        for clause in self.clauses:
            for atom in (clause.head, *clause.atoms, *clause.negations):
                found.update(t for t in atom.terms if isinstance(t, Constant))
            found.update(t for c in clause.comparisons for t in c.terms() if isinstance(t, Constant))
        return found

    def __repr__(self) -> str:
        strata = plural(len(self.strata), "stratum", "strata")
        return f"<Plan: {strata}, {plural(len(self.clauses), 'rule')}>"

    def __str__(self) -> str:
        lines = [self.place] if self.place else []
        for predicate, link in sorted(self.links.items()):
            names = tuple(Variable("xyzuvw"[j] if j < 6 else f"x{j}") for j in range(predicate.arity))
            lines.append(f"view     {print_atom(Atom(predicate, names))} = {link}")
        inputs = sorted(self.predicates - {p for s in self.strata for p in s.predicates} - set(self.links))
        if inputs:
            lines.append(f"facts    {', '.join(map(str, inputs))}")
        for number, stratum in enumerate(self.strata, 1):
            kind = "recursive" if stratum.recursive else "nonrecursive"
            lines.append(f"stratum {number}: {', '.join(map(str, stratum.predicates))} ({kind})")
            lines.extend(f"  storage {text}" for text in self._storage(stratum))
            for clause in stratum.entry:
                lines.extend(self._clause_lines(clause, "once"))
            for module in stratum.modules:
                lines.append(f"  module {module.name}")
                for clause in module.clauses:
                    lines.extend(self._clause_lines(clause, "each round"))
        return "\n".join(lines)

    def _storage(self, stratum: Stratum) -> list[str]:
        return [text for p in stratum.predicates if p in self.storage and (text := self.storage[p]())]

    def _clause_lines(self, clause: Clause, when: str) -> list[str]:
        lines = [f"      {line}" for line in self._tree(clause, when)]
        return [f"    {clause}", *lines, *(f"      {when}: {order}" for order in self._orders(clause))]

    def _tree(self, clause: Clause, when: str) -> list[str]:
        """The lines that show a clause's decomposition, or why it is no longer used; empty if it has none."""
        tree = self.trees.get(id(clause))
        if tree is None:
            return []
        first, *more = str(tree).split("\n")
        if tree.given_up:
            return [f"no longer along a tree of {first}: {tree.given_up}"]
        return [f"{when}, along a tree of {first}", *(f"  {line}" for line in more)]

    def _orders(self, clause: Clause) -> list[str]:
        return [line for show in self.orders.get(id(clause), ()) if (line := show())]

    def _repr_html_(self) -> str:
        import html

        rows = []
        for number, stratum in enumerate(self.strata, 1):
            names = html.escape("; ".join([", ".join(map(str, stratum.predicates)), *self._storage(stratum)]))
            clauses = [(c, "once", "") for c in stratum.entry]
            clauses += [(c, "each round", m.name) for m in stratum.modules for c in m.clauses]
            for clause, when, kind in clauses:
                orders = "<br>".join(html.escape(o) for o in self._orders(clause))
                tree = html.escape("\n".join(self._tree(clause, when)))
                how = f"<code>{orders}</code>" if not tree else f"<pre>{tree}</pre><code>{orders}</code>"
                rows.append(
                    f"<tr><td>{number}</td><td>{names}</td><td>{kind or 'nonrecursive'}</td>"
                    f"<td><code>{html.escape(str(clause))}</code></td><td>{when}<br>{how}</td></tr>"
                )
        views = "".join(
            f"<li><code>{html.escape(str(p))}</code> is read from <code>{html.escape(str(link))}</code></li>"
            for p, link in sorted(self.links.items())
        )
        head = "<tr><th>stratum</th><th>predicates</th><th>module</th><th>rule</th><th>evaluated</th></tr>"
        place = f"<p>{html.escape(self.place)}</p>" if self.place else ""
        return place + f"<table>{head}{''.join(rows)}</table>" + (f"<ul>{views}</ul>" if views else "")
