"""The hypertree decomposition of a body, chosen by cost.

Weighted hypertree decompositions (Scarcello, Greco, Leone: Weighted hypertree decompositions and optimal query plans, 2007): every pair of a component
of the body and the connector that ties it to the node above is one subproblem, solved once. Its node has as χ what its cover λ has of the component's
variables (the normal form), must hold the connector, and leaves smaller components behind. An atom is done when it is in the λ of a node that
holds its variables, not when some χ happens to cover it.

The cost is that of the paper (Zhang et al., section 5.1): the joins inside the nodes, and 2·(|p| + |q|) for every edge. Two things differ. A node
costs all the rows that joining its atoms one by one goes through, not only the last: otherwise one node with the whole body wins. And a predicate that
has no facts yet counts as large. The width is the least there is, or one more where that is cheaper; acyclic bodies keep width 1.

Bodies of more than `EXACT_LIMIT` atoms get a heuristic: a subproblem tries only its atoms one by one, each with the fewest further atoms
that a greedy cover of the connector takes, and of these nodes the cheapest few. If one node with everything costs less, it is taken: cliques have no better tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf

from modulog.engines.protocol import Argument, Estimate
from modulog.language.model import Atom, Comparison, Term, Variable
from modulog.planning.estimating import Sizes, read_sizes
from modulog.planning.hypergraph import Hypergraph, as_set, members
from modulog.planning.hypertree import Decomposition, HypertreeNode
from modulog.planning.narrowing import narrowed
from modulog.planning.node_sizes import NodeSizes
from modulog.planning.plan import Clause

EXACT_LIMIT = 12  # atoms up to which every cover is considered
BEAM = 3  # beyond, how many nodes a subproblem tries
LARGE = Estimate(1e6, (1e5,))  # what nothing is known about

Estimator = Callable[[Atom], Estimate]
Covers = Callable[[int, int], Iterator[tuple[int, int]]]
"""For a component and a connector: sets of atoms, at least one of the component, whose variables hold the connector; with these variables."""


def decompose(
    clause: Clause, estimate: Estimator, whole: Collection[int] = ()
) -> tuple[Decomposition | None, str]:
    """The complete decomposition of least cost, of least width or one above; or None and the reason why there is none.

    The atoms `whole` are recursive: a node keeps all their variables.

    >>> from modulog.language.parser import parse_program
    >>> from modulog.planning.normalise import normalise
    >>> rules = parse_program("pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y), ?a != ?b .").rules
    >>> tree, _ = decompose(normalise(rules)[0], lambda atom: Estimate(1000, (100, 100)))
    >>> print(tree)
    width 2, estimated cost 64,000
    {?x, ?a, ?y} cw(?x, ?a), pc(?a, ?y)  ~10,000 rows
    └─ {?x, ?b, ?y} ca(?x, ?b), pc(?b, ?y)  ~10,000 rows
    after the join: ?a != ?b
    """
    reason = refusal(clause)
    if reason:
        return None, reason
    graph = Hypergraph.of(clause.atoms)
    sizes = NodeSizes(graph, body_sizes(clause.atoms, estimate))
    head = graph.numbers(v.name for v in clause.head.variables())
    root = _exact(graph, sizes, head) if len(graph.edges) <= EXACT_LIMIT else _heuristic(graph, sizes, head)
    return narrowed(_with_filters(clause, *root), graph, sizes, whole), ""


def refusal(clause: Clause) -> str:
    """Why a clause cannot be decomposed; empty if it can. What is computed comes after the join."""
    if len(clause.atoms) < 2:
        return "fewer than two atoms"
    bound = {v.name for atom in clause.atoms for v in atom.variables()}
    bound |= {v.name for v in clause.computed}
    others: tuple[Atom | Comparison, ...] = (clause.head, *clause.negations, *clause.comparisons)
    free = sorted({v.name for part in others for v in part.variables()} - bound)
    return f"no atom binds {', '.join('?' + v for v in free)}" if free else ""


def body_sizes(atoms: Sequence[Atom], estimate: Estimator) -> list[Sizes]:
    """Estimates for each atom; one whose predicate has no facts yet is as large as the largest, with the values that others have."""
    estimates = [(atom, estimate(atom)) for atom in atoms]
    known = [(a, e) for a, e in estimates if e.rows]
    rows = max((e.rows for _, e in known), default=LARGE.rows)
    most = max((d for _, e in known for d in e.distinct), default=LARGE.distinct[0])
    values: dict[Term, float] = {}
    for a, e in known:
        for term, count in zip(a.terms, e.distinct, strict=True):
            values[term] = max(count, values.get(term, 0.0))
    guess = {a: Estimate(rows, tuple(values.get(t, most) for t in a.terms)) for a in atoms}
    return [read_sizes([_argument(t) for t in a.terms], e if e.rows else guess[a]) for a, e in estimates]


def _argument(term: Term) -> Argument:
    if isinstance(term, Variable):
        return None if term.anonymous else term.name
    return 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The best node found for a subproblem, and the subproblems it leaves behind."""

    cost: float
    cover: int
    atoms: int
    chi: int
    parts: tuple[int, ...]


class Search:
    """One search over the covers that are proposed to it; a subproblem tries at most `beam` nodes."""

    def __init__(
        self, graph: Hypergraph, sizes: NodeSizes, head: int, covers: Covers, beam: float = inf
    ) -> None:
        self.graph, self.sizes, self.head, self.covers, self.beam = graph, sizes, head, covers, beam
        self._best: dict[tuple[int, int], Choice | None] = {}

    def whole(self) -> tuple[HypertreeNode, float] | None:
        """The cheapest tree for the whole body, and its cost."""
        choice = self.best(self.graph.everything, 0, root=True)
        return None if choice is None else (self.tree(choice), choice.cost)

    def best(self, component: int, connector: int, root: bool = False) -> Choice | None:
        """The cheapest decomposition of a component below a node that shares the connector with it."""
        key = component, connector
        if key not in self._best:
            self._best[key] = self._choose(component, connector, root)
        return self._best[key]

    def _choose(self, component: int, connector: int, root: bool) -> Choice | None:
        best: Choice | None = None
        least = (inf, 0)
        for tried, (node, cover, atoms, chi, parts) in enumerate(self._nodes(component, connector, root)):
            if node > least[0] or (tried >= self.beam and best):
                break
            cost = node
            for part in parts:
                below = self.best(part, self.graph.variables(part) & chi)
                cost = cost + below.cost if below else inf
                if cost > least[0]:
                    break
            # Of equally good roots the one that has most of the head: its rows need not be carried far.
            rank = cost, (self.head & ~chi).bit_count() if root else 0
            if cost < inf and rank < least:
                best, least = Choice(cost, cover, atoms, chi, parts), rank
        return best

    def _nodes(
        self, component: int, connector: int, root: bool
    ) -> list[tuple[float, int, int, int, tuple[int, ...]]]:
        """Every node to try, the cheapest first: its own cost, its cover, its atoms, χ, and the components below it."""
        variables = self.graph.variables(component)
        by_chi: dict[int, set[int]] = {}
        for cover, held in self.covers(component, connector):
            by_chi.setdefault(held & variables, set()).add(cover)
        found = []
        for chi, covers in by_chi.items():
            within = self.graph.within(component, chi)
            parts = tuple(self.graph.components(component & ~within, chi))
            edges = len(parts) + (not root)
            for cover in covers:
                if cover & (cover - 1) and any(cover & ~(1 << i) in covers for i in members(cover)):
                    continue  # an atom too many
                join, rows = self.sizes.size(cover, cover | within, chi)
                found.append((join + 2 * rows * edges, cover, cover | within, chi, parts))
        return sorted(found, key=lambda node: (node[0], node[1]))

    def tree(self, choice: Choice) -> HypertreeNode:
        """The node that was chosen, with everything below it."""
        join, rows = self.sizes.size(choice.cover, choice.atoms, choice.chi)
        below = [self.best(part, self.graph.variables(part) & choice.chi) for part in choice.parts]
        return HypertreeNode(
            tuple(members(choice.atoms)),
            tuple(members(choice.cover)),
            self.graph.names(choice.chi),
            join,
            rows,
            tuple(self.tree(child) for child in below if child is not None),
        )


def narrow_covers(graph: Hypergraph, width: int) -> Covers:
    """Every cover of at most `width` atoms."""
    numbers = range(len(graph.edges))
    chosen = [as_set(c) for k in range(1, width + 1) for c in combinations(numbers, k)]
    known = [(cover, graph.variables(cover)) for cover in chosen]

    def covers(component: int, connector: int) -> Iterator[tuple[int, int]]:
        return (found for found in known if found[0] & component and not connector & ~found[1])

    return covers


def greedy_covers(graph: Hypergraph, sizes: NodeSizes) -> Covers:
    """Each atom of the component, with a greedy cover of what it lacks of the connector."""

    def covers(component: int, connector: int) -> Iterator[tuple[int, int]]:
        variables = graph.variables(component)

        def gain(i: int) -> tuple[int, int, int, float]:
            edge, own = graph.edges[i], component >> i & 1
            return (edge & lacking).bit_count(), own, (edge & variables).bit_count(), -sizes.rows[i]

        for start in members(component):
            cover, lacking = 1 << start, connector & ~graph.edges[start]
            while lacking:
                i = max(range(len(graph.edges)), key=gain)
                cover, lacking = cover | 1 << i, lacking & ~graph.edges[i]
            yield cover, graph.variables(cover)

    return covers


def _exact(graph: Hypergraph, sizes: NodeSizes, head: int) -> tuple[HypertreeNode, float]:
    """The cheapest tree of least width or one above; there always is one node with everything."""
    width, found = 1, None
    while found is None:
        found = Search(graph, sizes, head, narrow_covers(graph, width)).whole()
        width += 1
    if width > 2:
        found = Search(graph, sizes, head, narrow_covers(graph, width)).whole()
    assert found is not None
    return found


def _heuristic(graph: Hypergraph, sizes: NodeSizes, head: int) -> tuple[HypertreeNode, float]:
    covers = narrow_covers(graph, 1) if graph.is_acyclic() else greedy_covers(graph, sizes)
    found = Search(graph, sizes, head, covers, BEAM).whole()
    assert found is not None
    one = _one_node(graph, sizes)
    return one if one[1] < found[1] else found


def _one_node(graph: Hypergraph, sizes: NodeSizes) -> tuple[HypertreeNode, float]:
    """Everything in one node, covered greedily, and its cost."""
    cover, held, wanted = 0, 0, graph.variables(graph.everything)
    while held != wanted:
        i = max(range(len(graph.edges)), key=lambda i: (graph.edges[i] & ~held).bit_count())
        cover, held = cover | 1 << i, held | graph.edges[i]
    join, rows = sizes.size(graph.everything, graph.everything, wanted)
    atoms = tuple(members(graph.everything))
    return HypertreeNode(atoms, tuple(members(cover)), graph.names(wanted), join, rows), join


def _with_filters(clause: Clause, root: HypertreeNode, cost: float) -> Decomposition:
    """Give each negated atom and comparison to the largest node whose χ holds its variables, else to the end.

    A negated atom with an anonymous argument stands for several facts, so that its changes cannot be counted: it goes to the end.
    """
    nodes = list(root.subtree())

    def homes(literals: Sequence[Atom | Comparison]) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        for i, literal in enumerate(literals):
            names = {v.name for v in literal.variables()}
            if isinstance(literal, Atom) and Variable("_") in literal.terms:
                names.add("_")
            home = max((p for p in nodes if names <= {*p.variables}), key=lambda p: p.rows, default=None)
            found[id(home)] = (*found.get(id(home), ()), i)
        return found

    negations, comparisons = homes(clause.negations), homes(clause.comparisons)

    def filtered(p: HypertreeNode) -> HypertreeNode:
        return replace(
            p,
            children=tuple(map(filtered, p.children)),
            negations=negations.get(id(p), ()),
            comparisons=comparisons.get(id(p), ()),
        )

    last = id(None)
    return Decomposition(clause, filtered(root), cost, negations.get(last, ()), comparisons.get(last, ()))
