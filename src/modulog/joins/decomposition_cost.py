"""Decides whether evaluating a clause along its decomposition costs less than its standard join order.

Both costs are estimated in the same unit, the lookup of one row in an index. Simple rules are not decomposed:
for an acyclic body of few atoms, joining from left to right and dropping variables as soon as nothing needs
them is about as good as a tree, and needs no tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from modulog.engines.table import Table
from modulog.joins.decomposition import Decomposition, HypertreeNode
from modulog.joins.hypergraph import as_set, is_simple
from modulog.joins.order import (
    BUSHY_LIMIT,
    DEDUPLICATE,
    EXHAUSTIVE_LIMIT,
    PROBE,
    PRODUCE,
    Body,
    Ordering,
)

FEW_VARIABLES = 3  # the fewest variables of a node that is not a single atom
ORDER_STEP = 100.0  # the cost of one step in the search for a join order, in lookups
CHEAP = 200_000.0  # lookups in a few hundredths of a second, which is what the search for a tree takes
DOUBT = 2.0
"""The factor by which the standard plan of more than `BUSHY_LIMIT` atoms is taken to be underestimated.

It counts once for each variable that the body has more than a node of the tree: such a plan is one chain of
joins, in which errors multiply from join to join (Ioannidis, Christodoulakis 1991), and with skewed degrees
all of them are underestimates.
"""


@dataclass(frozen=True, slots=True)
class CostComparison:
    """The estimated costs of both ways to evaluate a clause in a round; 0 where they did not matter.

    `reason` says why the tree is not used; "" if it is.
    """

    standard: float
    decomposed: float
    reason: str

    @property
    def pays(self) -> bool:
        return not self.reason


def is_cheap(body: Body, standard: Callable[[], float]) -> bool:
    """Whether the standard plan costs less than the search for a tree would.

    It does if some relation is empty, since then nothing follows; but a recursive predicate without facts
    (read in the version `all`) may still grow. `standard` computes the cost of the standard plan.
    """
    empty = [read for read in body.reads if not read.relation.size(read.version)]
    if any(read.version != "all" for read in empty):
        return True
    if empty or (body.once and not _is_ordered_soon(len(body.reads))):
        return False
    return max(_doubt(body), 1.0) * standard() < CHEAP


def order_cost(atoms: int) -> float:
    """The cost of finding a join order for so many atoms."""
    if atoms > EXHAUSTIVE_LIMIT:
        return ORDER_STEP * atoms**2
    return ORDER_STEP * (atoms * float(2**atoms) + (float(3**atoms) if atoms <= BUSHY_LIMIT else 0.0))


def _is_ordered_soon(atoms: int) -> bool:
    """Whether a join order is found so quickly that it is found before any tree."""
    return order_cost(atoms) <= order_cost(BUSHY_LIMIT)


def weigh(tree: Decomposition, body: Body, standard: Callable[[], float], unit: Table) -> CostComparison:
    """Compare the costs of a tree and of the standard plan, which `standard` computes.

    `body` has a read for each atom of the tree's clause. For a long body, finding the join order may cost
    more than evaluating the tree, so that counts too; not in a recursive clause (one not evaluated `once`),
    which begins with the standard plan, so its order has been found before.
    """
    if is_simple(tree.clause):
        return CostComparison(0.0, 0.0, "a simple rule")
    if not tree.root.children:
        return CostComparison(0.0, 0.0, "one node holds the whole body")
    is_long = body.once and not _is_ordered_soon(len(body.reads))
    cost = order_cost(len(body.reads)) if is_long else 0.0
    decomposed = sum(_in_node(p, body, unit) for p in tree.nodes())
    decomposed += _across(tree, Ordering(replace(body, once=False), unit))
    largest = max(len(p.variables) for p in tree.nodes())
    if decomposed < cost or decomposed < (cost := cost + _doubt(body, largest) * standard()):
        return CostComparison(cost, decomposed, "")
    return CostComparison(cost, decomposed, "the standard plan is estimated to cost less")


def _doubt(body: Body, node: int = FEW_VARIABLES) -> float:
    """The factor for the cost of a standard plan; `node` is the number of variables of the largest node.

    The plan of a short body may be as bushy as a tree, so a tree must cost less than half of it. That of a
    recursive body begins with the changes, and is made again as predicates grow: its estimate is as good as
    that of a tree.
    """
    if len(body.reads) <= BUSHY_LIMIT:
        return 0.5
    if not body.once:
        return 1.0
    variables = {v for read in body.reads for v in read.variables}
    return float(DOUBT ** max(len(variables) - node, 0))


def _in_node(p: HypertreeNode, body: Body, unit: Table) -> float:
    """The cost of joining λ(p) in the best order, and of counting the rows over χ(p)."""
    cost = p.join * (PROBE + PRODUCE)
    if len(p.atoms) > 2:
        reads = tuple(body.reads[i] for i in p.atoms)
        best = Ordering(Body(reads, needed=p.variables, once=body.once), unit).best()
        cost = min(cost, best.cost - best.sorting)
    return cost + p.rows * DEDUPLICATE


def _across(tree: Decomposition, ordering: Ordering) -> float:
    """The full reducer's semi-joins, 2·(|p| + |q|) for an edge, and the cross-node join with projections."""
    needed = tree.needed
    cost = 0.0
    for p in tree.nodes():
        for child in p.children:
            atoms = as_set(i for q in child.subtree() for i in q.atoms)
            names = ordering.variables(atoms)
            carried = (frozenset(child.variables) & frozenset(p.variables)) | (names & needed)
            below = ordering.distinct_rows(atoms, carried, ordering.raw_rows(atoms))
            both = atoms | as_set(p.atoms)
            kept = frozenset(p.variables) | (names & needed)
            joined = ordering.distinct_rows(both, kept, ordering.raw_rows(both))
            cost += 2 * (p.rows + child.rows) * PROBE + below * DEDUPLICATE + joined * PRODUCE
    return cost
