"""The plan: what the passes make of a program, and how it shows itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from modulog.engines.protocol import REPRESENTABLE
from modulog.language.model import Atom, Comparison, Expression, Predicate, Rule, Variable
from modulog.language.printer import print_atom, print_rule
from modulog.terms.model import Constant


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule with one head atom, as evaluation wants it, and the rule of the program that it comes from."""

    head: Atom
    atoms: tuple[Atom, ...]
    negations: tuple[Atom, ...]
    comparisons: tuple[Comparison, ...]
    origin: Rule = field(compare=False)

    @property
    def computed(self) -> dict[Variable, Expression]:
        """The variables that only an equation binds, and what computes them."""
        bound = {v for atom in self.atoms for v in atom.variables()}
        return {
            c.left: c.right
            for c in self.comparisons
            if c.operator == "=" and isinstance(c.left, Variable) and c.left not in bound
        }

    @property
    def creates(self) -> bool:
        """Whether the head may hold new terms."""
        return any(v in self.computed for v in self.head.variables())

    @property
    def rule(self) -> Rule:
        """The clause as a rule, for printing."""
        from modulog.language.model import Negation

        return Rule((self.head,), (*self.atoms, *(Negation(a) for a in self.negations), *self.comparisons))

    def __str__(self) -> str:
        return print_rule(self.rule) if self.rule.body else f"{print_atom(self.head)} ."


@dataclass(frozen=True, slots=True)
class Link:
    """How a predicate reads its representative: argument j of the predicate is argument places[j] of the representative."""

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
    """Recursive clauses of one stratum that one kind of module handles.

    Kinds: "seminaive"; "hypertree", clauses that may be decomposed; "transitive" and "symmetric" (with transitive); "left-linear" and "right-linear", closures along the atom `graph`. A
    closure that is all the recursion of its stratum is `exact`; `reflexive` says at which ends (0, 1) of a fact its nodes are related
    to themselves.
    """

    kind: str
    clauses: tuple[Clause, ...]
    exact: bool = False
    graph: Atom | None = None
    reflexive: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """The kind in words, for people."""
        names = {
            "symmetric": "symmetric-transitive closure",
            "seminaive": "seminaive",
            "hypertree": "hypertree decompositions",
        }
        words = names.get(self.kind, f"{self.kind} closure")
        return f"reflexive {words}" if self.reflexive else words


@dataclass(frozen=True, slots=True)
class Stratum:
    """A strongly connected component of the predicate graph, with the clauses that derive its predicates."""

    predicates: tuple[Predicate, ...]
    entry: tuple[Clause, ...]  # the nonrecursive clauses
    recursive: tuple[Clause, ...] = ()
    modules: tuple[ModulePlan, ...] = ()
    decompose: str = "off"  # whether bodies are decomposed: where it pays ("auto"), all of them, or none
    table_rows: int | None = None  # the most rows that a table of a decomposed body may have
    schemes: Mapping[Predicate, str] = field(default_factory=dict)  # of facts that may be represented
    view: tuple[Link, ...] = ()  # what it shows, if it is a view

    def scheme(self, predicate: Predicate) -> str:
        """How the engine is asked to keep the facts of a predicate."""
        return self.schemes.get(predicate, "plain")

    @property
    def closure(self) -> ModulePlan | None:
        """The closure that is all the recursion of the stratum."""
        return self.modules[0] if self.modules and self.modules[0].exact else None

    @property
    def creating(self) -> tuple[Clause, ...]:
        """The recursive clauses that create values: without a limit they might go on for ever."""
        return tuple(clause for clause in self.recursive if clause.creates)


class Tree(Protocol):
    """A decomposition that shows itself as text; `given_up` says why it is no longer used, if it is not."""

    @property
    def given_up(self) -> str: ...


@dataclass(slots=True)
class Plan:
    """Strata in the order of evaluation, with their modules; predicates that are views of others.

    `orders` says how each clause, by identity, was last evaluated: a line for each position of the delta. `views` are unions and inverses with their
    parts; the own facts of a view, explicit or by other clauses, are those of a hidden predicate, whose view `owners` knows. `storage` says how facts are kept, and why.
    `trees` are the decompositions of clauses that are evaluated along one, or were until it was given up.
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
    represents: frozenset[str] = REPRESENTABLE  # by the engine

    def constants(self) -> set[Constant]:
        """Every constant of the clauses."""
        found: set[Constant] = set()
        for clause in self.clauses:
            for atom in (clause.head, *clause.atoms, *clause.negations):
                found.update(t for t in atom.terms if isinstance(t, Constant))
            found.update(t for c in clause.comparisons for t in c.terms() if isinstance(t, Constant))
        return found

    def __str__(self) -> str:
        lines = []
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
        """The tree that a clause is evaluated along, or why that is over."""
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
        return f"<table>{head}{''.join(rows)}</table>" + (f"<ul>{views}</ul>" if views else "")
