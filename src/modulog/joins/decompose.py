"""Finds the hypertree decomposition of a body that has the least estimated cost.

This follows weighted hypertree decompositions (Scarcello, Greco, Leone: Weighted hypertree decompositions and
optimal query plans, 2007). A subproblem is a component of the body with its connector, the variables that it
shares with the node above; each is solved once. Its node has a cover, a set of atoms, and as χ those
variables of the cover that the component has (the normal form). χ must contain the connector, and the
components that remain below must be smaller. An atom is done when it is in the λ of a node whose χ contains
its variables, not as soon as some χ happens to contain them.

The cost is that of the paper (Zhang et al., section 5.1): the joins inside the nodes, and 2·(|p| + |q|) for
every edge. Two things differ. A node costs all the rows that joining its atoms one by one produces, not only
those of the last join: otherwise a single node with the whole body would always win. And a predicate without
facts counts as large. The width is the least possible, or one more if that is cheaper; acyclic bodies keep
width 1.

Bodies of more than `EXACT_LIMIT` atoms get a heuristic: a subproblem only tries each of its atoms together
with the atoms that a greedy cover of the connector adds, and of these nodes only the cheapest. If a single
node with the whole body costs less than the tree found, it is taken: there is no better tree for a clique.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf

from modulog.algebra.expressions import Argument
from modulog.engines.relation import Estimate
from modulog.joins.decomposition import Decomposition, HypertreeNode
from modulog.joins.estimates import Sizes, read_sizes
from modulog.joins.hypergraph import Hypergraph, NodeSizes, as_set, members, refusal
from modulog.language.model import Atom, Comparison, Term, Variable
from modulog.planning.plan import Clause

EXACT_LIMIT = 12  # the most atoms of a body for which every cover is tried
BEAM = 3  # the nodes that each subproblem of a larger body tries
LARGE = Estimate(1e6, (1e5,))  # the size of a predicate if no atom of the body has facts yet

Estimator = Callable[[Atom], Estimate]
Covers = Callable[[int, int], Iterator[tuple[int, int]]]
"""For a component and a connector, the covers to try: sets of atoms, at least one of them of the component,
whose variables include the connector; each with its variables.
"""


def decompose(
    clause: Clause, estimate: Estimator, whole: Collection[int] = ()
) -> tuple[Decomposition | None, str]:
    """The cheapest complete decomposition of least width or one above, and ""; or None and why there is none.

    `whole` are the positions of atoms for which some node must keep all their variables; see `narrowing`.

    >>> from modulog.language.parser import parse_program
    >>> from modulog.planning.normalise import normalise
    >>> text = "pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y), ?a != ?b ."
    >>> rules = parse_program(text).rules
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
    return narrow_tables(_with_filters(clause, *root), graph, sizes, whole), ""


def body_sizes(atoms: Sequence[Atom], estimate: Estimator) -> list[Sizes]:
    """The estimated sizes of each atom.

    A predicate without facts is taken to be as large as the largest of the others, and to have as many values
    for a variable as the others have.
    """
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
    """The argument that a term becomes in a read; any constant will do for an estimate."""
    if isinstance(term, Variable):
        return None if term.anonymous else term.name
    return 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The best node for a subproblem: cost of its subtree, cover, λ, χ, and the components below."""

    cost: float
    cover: int
    atoms: int
    chi: int
    parts: tuple[int, ...]


class Search:
    """The search for the cheapest tree with covers from `covers`; a subproblem tries `beam` nodes at most.

    Sets of atoms and sets of variables are integers; see `hypergraph`.
    """

    def __init__(
        self, graph: Hypergraph, sizes: NodeSizes, head: int, covers: Covers, beam: float = inf
    ) -> None:
        self.graph, self.sizes, self.head, self.covers, self.beam = graph, sizes, head, covers, beam
        self._best: dict[tuple[int, int], Choice | None] = {}

    def cheapest_tree(self) -> tuple[HypertreeNode, float] | None:
        """The cheapest tree for the whole body and its cost; None if the covers allow none."""
        choice = self.best(self.graph.everything, 0, root=True)
        return None if choice is None else (self.tree(choice), choice.cost)

    def best(self, component: int, connector: int, root: bool = False) -> Choice | None:
        """The cheapest node for a component below a node that shares the connector; None if there is none."""
        key = component, connector
        if key not in self._best:
            self._best[key] = self._choose(component, connector, root)
        return self._best[key]

    def _choose(self, component: int, connector: int, root: bool) -> Choice | None:
        """Try the nodes for a subproblem, with the best subtrees below each, and choose the cheapest."""
        best: Choice | None = None
        least = (inf, 0)
        for tried, (own_cost, cover, atoms, chi, parts) in enumerate(self._nodes(component, connector, root)):
            if own_cost > least[0] or (tried >= self.beam and best):
                break
            cost = own_cost
            for part in parts:
                below = self.best(part, self.graph.variables(part) & chi)
                cost = cost + below.cost if below else inf
                if cost > least[0]:
                    break
            # Among equally cheap roots, the one with most variables of the head, since every value of the
            # head is carried up to the root.
            rank = cost, (self.head & ~chi).bit_count() if root else 0
            if cost < inf and rank < least:
                best, least = Choice(cost, cover, atoms, chi, parts), rank
        return best

    def _nodes(
        self, component: int, connector: int, root: bool
    ) -> list[tuple[float, int, int, int, tuple[int, ...]]]:
        """All nodes to try, cheapest first: own cost, cover, atoms (λ), χ and the components below."""
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
                    continue  # a smaller cover has the same χ
                join, rows = self.sizes.size(cover, cover | within, chi)
                found.append((join + 2 * rows * edges, cover, cover | within, chi, parts))
        return sorted(found, key=lambda node: (node[0], node[1]))

    def tree(self, choice: Choice) -> HypertreeNode:
        """The node that was chosen, with its subtree."""
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
    """All covers of at most `width` atoms."""
    numbers = range(len(graph.edges))
    chosen = [as_set(c) for k in range(1, width + 1) for c in combinations(numbers, k)]
    known = [(cover, graph.variables(cover)) for cover in chosen]

    def covers(component: int, connector: int) -> Iterator[tuple[int, int]]:
        return (found for found in known if found[0] & component and not connector & ~found[1])

    return covers


def greedy_covers(graph: Hypergraph, sizes: NodeSizes) -> Covers:
    """One cover for each atom of the component: the atom and a greedy cover of the rest of the connector."""

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
    """The cheapest tree of least width or one above; a node with the whole body is always a tree."""
    width, found = 1, None
    while found is None:
        found = Search(graph, sizes, head, narrow_covers(graph, width)).cheapest_tree()
        width += 1
    if width > 2:
        found = Search(graph, sizes, head, narrow_covers(graph, width)).cheapest_tree()
    assert found is not None
    return found


def _heuristic(graph: Hypergraph, sizes: NodeSizes, head: int) -> tuple[HypertreeNode, float]:
    """A cheap tree for a large body: by greedy covers, or a single node if that costs less."""
    covers = narrow_covers(graph, 1) if graph.is_acyclic() else greedy_covers(graph, sizes)
    found = Search(graph, sizes, head, covers, BEAM).cheapest_tree()
    assert found is not None
    one = _one_node(graph, sizes)
    return one if one[1] < found[1] else found


def _one_node(graph: Hypergraph, sizes: NodeSizes) -> tuple[HypertreeNode, float]:
    """The tree of one node with the whole body, covered greedily, and its cost."""
    cover, held, wanted = 0, 0, graph.variables(graph.everything)
    while held != wanted:
        i = max(range(len(graph.edges)), key=lambda i: (graph.edges[i] & ~held).bit_count())
        cover, held = cover | 1 << i, held | graph.edges[i]
    join, rows = sizes.size(graph.everything, graph.everything, wanted)
    atoms = tuple(members(graph.everything))
    return HypertreeNode(atoms, tuple(members(cover)), graph.names(wanted), join, rows), join


def _with_filters(clause: Clause, root: HypertreeNode, cost: float) -> Decomposition:
    """Put negated atoms and comparisons at the largest node with their variables in χ, or after the join.

    A negated atom with an anonymous argument stands for several facts, so the matches that one change of it
    adds or removes cannot be counted: it always comes after the join.
    """
    nodes = list(root.subtree())

    def places_of(literals: Sequence[Atom | Comparison]) -> dict[int, tuple[int, ...]]:
        """The positions of the literals at each node, by its identity; by that of None: after the join."""
        found: dict[int, tuple[int, ...]] = {}
        for i, literal in enumerate(literals):
            names = {v.name for v in literal.variables()}
            if isinstance(literal, Atom) and Variable("_") in literal.terms:
                names.add("_")
            node = max((p for p in nodes if names <= {*p.variables}), key=lambda p: p.rows, default=None)
            found[id(node)] = (*found.get(id(node), ()), i)
        return found

    negations, comparisons = places_of(clause.negations), places_of(clause.comparisons)

    def filtered(p: HypertreeNode) -> HypertreeNode:
        return replace(
            p,
            children=tuple(map(filtered, p.children)),
            negations=negations.get(id(p), ()),
            comparisons=comparisons.get(id(p), ()),
        )

    last = id(None)
    return Decomposition(clause, filtered(root), cost, negations.get(last, ()), comparisons.get(last, ()))


# Removes variables from the tables of a decomposition's nodes where that makes the tables much smaller.
#
# Of χ(p), a table needs the variables that a neighbour in the tree, the head or a filter after the join
# reads. A variable that only the atoms of one node have may be dropped once they are joined: others only need
# to know whether there is a value. The variables of a recursive atom are kept together in one node, though.
# During over-deletion, every instance that used a deleted fact must be found, even if another instance with
# the same head is left, because that one may depend on the head itself. In a node that keeps all variables of
# the atom, each row that used the fact is deleted with it.
FEWER = 2.0  # how many times smaller a table must get, since its rows must then be counted


def narrow_tables(
    tree: Decomposition, graph: Hypergraph, sizes: NodeSizes, whole: Collection[int] = ()
) -> Decomposition:
    """The same tree, with `kept` set in the nodes whose tables get much smaller by it.

    `whole` are the positions of recursive atoms, all of whose variables one node must keep.
    """
    keepers = {i: next(id(p) for p in tree.nodes() if i in p.atoms and _holds(p, graph, i)) for i in whole}

    def own(p: HypertreeNode) -> set[str]:
        return {v for i, keeper in keepers.items() if keeper == id(p) for v in graph.names(graph.edges[i])}

    def narrow(p: HypertreeNode, above: Sequence[str]) -> HypertreeNode:
        children = tuple(narrow(child, p.variables) for child in p.children)
        asked = tree.needed.union(above, own(p), *(child.variables for child in p.children))
        kept = tuple(v for v in p.variables if v in asked)
        rows = sizes.size(as_set(p.cover), as_set(p.atoms), graph.numbers(kept))[1]
        if len(kept) == len(p.variables) or rows * FEWER > p.rows:
            return replace(p, children=children)
        return replace(p, children=children, kept=kept, kept_rows=rows)

    return replace(tree, root=narrow(tree.root, ()))


def _holds(p: HypertreeNode, graph: Hypergraph, atom: int) -> bool:
    return set(graph.names(graph.edges[atom])) <= set(p.variables)
