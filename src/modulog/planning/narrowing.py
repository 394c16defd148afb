"""What the table of a node holds: of χ(p), the variables that a neighbour in the tree, the head or a filter after the join asks for.

A variable that only the atoms of one node have may go once they are joined: whether there is a value is all that matters to others. The variables of a
recursive atom stay in one node, though. While facts are over-deleted, each instance that a fact takes part in must be seen to go, also where another
instance with the same head is left: that one may hang on the head itself. In a node that keeps the atom's variables, every row that used the fact goes with it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from modulog.planning.hypergraph import Hypergraph, as_set
from modulog.planning.hypertree import Decomposition, HypertreeNode
from modulog.planning.node_sizes import NodeSizes

FEWER = 2.0  # a variable goes where that leaves so many times fewer rows: they have to be counted then


def narrowed(
    tree: Decomposition, graph: Hypergraph, sizes: NodeSizes, whole: Collection[int] = ()
) -> Decomposition:
    """The same tree, with tables over fewer variables where that makes them much smaller."""
    homes = {i: next(id(p) for p in tree.nodes() if i in p.atoms and _holds(p, graph, i)) for i in whole}

    def own(p: HypertreeNode) -> set[str]:
        return {v for i, home in homes.items() if home == id(p) for v in graph.names(graph.edges[i])}

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
