"""The hypergraph of a body: the variables are its vertices, and the set of variables of an atom is an edge.

Sets of variables and sets of atoms are integers with a bit for each member, numbered in the order of the
body. The search for a decomposition computes a hundred thousand unions and differences, which are fast in
this form.

`may_be_decomposed` needs nothing but the hypergraph. `NodeSizes` estimates what a node of a decomposition
costs: the rows that joining its atoms produces, and those of its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import or_

from modulog.joins.estimates import Sizes
from modulog.language.model import Atom, Comparison
from modulog.planning.plan import Clause


def members(chosen: int) -> Iterator[int]:
    """The members of a set, in ascending order.

    >>> list(members(0b1101))
    [0, 2, 3]
    """
    while chosen:
        lowest = chosen & -chosen
        yield lowest.bit_length() - 1
        chosen ^= lowest


def as_set(numbers: Iterable[int]) -> int:
    """The set with the given members."""
    return reduce(or_, (1 << n for n in numbers), 0)


@dataclass(frozen=True, slots=True)
class Hypergraph:
    """`vertices` are the names of the variables; `edges[i]` is the set of variables of atom i."""

    vertices: tuple[str, ...]
    edges: tuple[int, ...]

    @staticmethod
    def of(atoms: Iterable[Atom]) -> Hypergraph:
        """The hypergraph of a body; constants and anonymous variables connect nothing.

        >>> from modulog.language.parser import parse_program
        >>> rule = parse_program("h(?x) :- r(?x, ?y), s(?y, ?z, a), t(?z, ?x) .").rules[0]
        >>> Hypergraph.of(rule.atoms).is_acyclic()
        False
        """
        variables = [[v.name for v in atom.variables()] for atom in atoms]
        vertices = tuple(dict.fromkeys(name for names in variables for name in names))
        number = {name: n for n, name in enumerate(vertices)}
        return Hypergraph(vertices, tuple(as_set(number[v] for v in names) for names in variables))

    @property
    def everything(self) -> int:
        """The set of all atoms."""
        return (1 << len(self.edges)) - 1

    def names(self, variables: int) -> tuple[str, ...]:
        """The names of a set of variables."""
        return tuple(self.vertices[v] for v in members(variables))

    def numbers(self, names: Iterable[str]) -> int:
        """The set of the named variables; names that are not in the body are ignored."""
        wanted = set(names)
        return as_set(n for n, name in enumerate(self.vertices) if name in wanted)

    def variables(self, atoms: int) -> int:
        """var(atoms): the variables of a set of atoms."""
        return reduce(or_, (self.edges[i] for i in members(atoms)), 0)

    def within(self, atoms: int, variables: int) -> int:
        """Those of the given atoms whose variables are all among the given variables."""
        return as_set(i for i in members(atoms) if not self.edges[i] & ~variables)

    def components(self, atoms: int, separator: int) -> list[int]:
        """The atoms in groups connected by variables not in `separator`, in the order of the body."""
        groups: list[tuple[int, int]] = []
        for i in members(atoms):
            group, free = 1 << i, self.edges[i] & ~separator
            apart = []
            for other, theirs in groups:
                if theirs & free:
                    group, free = group | other, free | theirs
                else:
                    apart.append((other, theirs))
            groups = [*apart, (group, free)]
        return sorted((group for group, _ in groups), key=lambda group: group & -group)

    def is_acyclic(self) -> bool:
        """Whether the body has a join tree, by the reduction of Graham, Yu and Özsoyoğlu.

        Vertices that are in one edge only, and edges contained in others, are removed until nothing changes;
        at most one edge remains if and only if the hypergraph is acyclic.
        """
        edges = list(dict.fromkeys(self.edges))
        while len(edges) > 1:
            shared = seen = 0
            for edge in edges:
                shared, seen = shared | seen & edge, seen | edge
            reduced = list(dict.fromkeys(edge & shared for edge in edges))
            reduced = [e for e in reduced if not any(e != f and not e & ~f for f in reduced)]
            if reduced == edges:
                return False
            edges = reduced
        return True


# ---- Which clauses may be decomposed

SIMPLE_LIMIT = 4  # the most atoms of a simple acyclic body


def refusal(clause: Clause) -> str:
    """Why a clause cannot be decomposed; "" if it can. Variables computed after the join do no harm."""
    if len(clause.atoms) < 2:
        return "fewer than two atoms"
    bound = {v.name for atom in clause.atoms for v in atom.variables()}
    bound |= {v.name for v in clause.computed}
    others: tuple[Atom | Comparison, ...] = (clause.head, *clause.negations, *clause.comparisons)
    free = sorted({v.name for part in others for v in part.variables()} - bound)
    return f"no atom binds {', '.join('?' + v for v in free)}" if free else ""


def is_simple(clause: Clause) -> bool:
    """Whether a rule gets the standard plan without comparing costs.

    >>> from modulog.language.parser import parse_program
    >>> from modulog.planning.normalise import normalise
    >>> program = parse_program("a(?x) :- r(?x, ?y), s(?y, ?z) . b(?x) :- r(?x, ?y), s(?y, ?z), t(?z, ?x) .")
    >>> [is_simple(clause) for clause in normalise(program.rules)]
    [True, False]
    """
    return len(clause.atoms) <= SIMPLE_LIMIT and Hypergraph.of(clause.atoms).is_acyclic()


def may_be_decomposed(clause: Clause, mode: str) -> bool:
    """Whether a clause is to be decomposed ("all"), or its costs are to be compared ("auto")."""
    if mode == "off" or refusal(clause):
        return False
    return mode == "all" or not is_simple(clause)


# ---- Estimates for sets of atoms

STARTS = 3  # how many atoms, the smallest ones, are tried as the first of a join of many


class NodeSizes:
    """Estimates for sets of atoms of one body; the estimate for each set is cached."""

    def __init__(self, graph: Hypergraph, sizes: Sequence[Sizes]) -> None:
        self.graph = graph
        self.rows = [rows for rows, _ in sizes]
        self.values = [{graph.vertices.index(v): n for v, n in distinct.items()} for _, distinct in sizes]
        self._joins: dict[int, tuple[float, float, dict[int, float]]] = {}

    def size(self, cover: int, atoms: int, chi: int) -> tuple[float, float]:
        """The rows that joining the atoms goes through, and the distinct rows over χ.

        If the atoms of the cover are not connected, the cost is at least the size of their product.
        """
        cost, rows, values = self._join(atoms)
        if cover & (cover - 1) and len(self.graph.components(cover, 0)) > 1:
            cost = max(cost, self._join(cover)[1])
        space = 1.0
        for v in members(chi):
            space *= values[v]
        return cost, min(rows, space)

    def _join(self, atoms: int) -> tuple[float, float, dict[int, float]]:
        """Cost, rows and values of each variable of the cheapest join that `_one_by_one` finds."""
        found = self._joins.get(atoms)
        if found is None:
            chosen = list(members(atoms))
            starts = sorted(chosen, key=self.rows.__getitem__)[: STARTS if len(chosen) > STARTS + 1 else None]
            found = min((self._one_by_one(s, chosen) for s in starts), key=lambda found: found[0])
            self._joins[atoms] = found
        return found

    def _one_by_one(self, start: int, chosen: list[int]) -> tuple[float, float, dict[int, float]]:
        """A greedy join order, always with the fewest rows next: cost, rows, and values of each variable.

        The cost counts, for each join, the rows that are looked up and the rows that result.
        """
        rows, values = self.rows[start], dict(self.values[start])
        remaining = [i for i in chosen if i != start]
        cost = rows
        while remaining:
            factor, i = min([(self._factor(i, values), i) for i in remaining])
            remaining.remove(i)
            looked_up, rows = rows, max(rows * factor, 1.0)
            for v, count in self.values[i].items():
                values[v] = min(count, values.get(v, inf))
            cost += looked_up + rows
        return cost, rows, values

    def _factor(self, i: int, values: dict[int, float]) -> float:
        """The factor by which joining atom i changes the number of rows; `values` is for bound variables."""
        factor = self.rows[i]
        for v, count in self.values[i].items():
            known = values.get(v)
            if known is not None:
                factor /= known if known > count else count
        return factor
