"""Whether a decomposition pays: its cost against that of the standard plan, in the same unit, one row looked up in an index.

A simple rule is never asked: an acyclic body of few atoms is joined left to right, with variables dropped as soon as nobody needs them, about as well as
along a tree, and needs no tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from modulog.engines.protocol import Table
from modulog.planning.decompose import refusal
from modulog.planning.hypergraph import Hypergraph, as_set
from modulog.planning.hypertree import Decomposition, HypertreeNode
from modulog.planning.order_joins import (
    BUSHY_LIMIT,
    DEDUPLICATE,
    EXHAUSTIVE_LIMIT,
    PROBE,
    PRODUCE,
    Body,
    Ordering,
)
from modulog.planning.plan import Clause

FEW_VARIABLES = 3  # variables that a node has at least, where it is not a single atom
SIMPLE_LIMIT = 4  # atoms up to which an acyclic body is simple
ORDER_STEP = 100.0  # one step of the search for an order, in rows looked up
CHEAP = 200_000.0  # rows looked up in a few hundredths of a second, which is what a search for a tree takes
DOUBT = 2.0
"""By how much the plan of a body of more than `BUSHY_LIMIT` atoms costs more than estimated, for each variable more than a node of the tree has: it is one
chain, in which errors multiply from join to join (Ioannidis, Christodoulakis 1991), and where degrees are skewed they all go one way."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Estimated costs of both ways to evaluate a clause in a round, if they had to be asked for; `reason` says why the tree is not taken."""

    standard: float
    decomposed: float
    reason: str

    @property
    def pays(self) -> bool:
        return not self.reason


def is_simple(clause: Clause) -> bool:
    """Whether a rule is left to the standard plan without asking what it costs.

    >>> from modulog.language.parser import parse_program
    >>> from modulog.planning.normalise import normalise
    >>> rules = parse_program("a(?x) :- r(?x, ?y), s(?y, ?z) . b(?x) :- r(?x, ?y), s(?y, ?z), t(?z, ?x) .").rules
    >>> [is_simple(clause) for clause in normalise(rules)]
    [True, False]
    """
    return len(clause.atoms) <= SIMPLE_LIMIT and Hypergraph.of(clause.atoms).is_acyclic()


def may_be_decomposed(clause: Clause, mode: str) -> bool:
    """Whether a clause is to be decomposed, or ("auto") at least worth asking for."""
    if mode == "off" or refusal(clause):
        return False
    return mode == "all" or not is_simple(clause)


def is_cheap(body: Body, standard: Callable[[], float]) -> bool:
    """Whether the standard plan costs so little that looking for a tree would cost more: nothing, where nothing can follow.

    A recursive predicate (read in the version `all`) without facts may yet grow.
    """
    empty = [read for read in body.reads if not read.relation.size(read.version)]
    if any(read.version != "all" for read in empty):
        return True
    if empty or (body.once and not _is_ordered_soon(len(body.reads))):
        return False
    return max(_doubt(body), 1.0) * standard() < CHEAP


def order_cost(atoms: int) -> float:
    """What it costs to find the order of a body."""
    if atoms > EXHAUSTIVE_LIMIT:
        return ORDER_STEP * atoms**2
    return ORDER_STEP * (atoms * float(2**atoms) + (float(3**atoms) if atoms <= BUSHY_LIMIT else 0.0))


def _is_ordered_soon(atoms: int) -> bool:
    """Whether finding the order costs little, so that it is found before any tree."""
    return order_cost(atoms) <= order_cost(BUSHY_LIMIT)


def weigh(tree: Decomposition, body: Body, standard: Callable[[], float], unit: Table) -> Worth:
    """Compare; `body` reads the clause of the tree, atom by atom, and `standard` says what its standard plan costs.

    To find the order of a long body may cost more than the tree. In a recursive clause, which is not evaluated `once`, that was done: it began with the standard plan.
    """
    if is_simple(tree.clause):
        return Worth(0.0, 0.0, "a simple rule")
    if not tree.root.children:
        return Worth(0.0, 0.0, "one node holds the whole body")
    is_long = body.once and not _is_ordered_soon(len(body.reads))
    cost = order_cost(len(body.reads)) if is_long else 0.0
    decomposed = sum(_in_node(p, body, unit) for p in tree.nodes())
    decomposed += _across(tree, Ordering(replace(body, once=False), unit))
    largest = max(len(p.variables) for p in tree.nodes())
    if decomposed < cost or decomposed < (cost := cost + _doubt(body, largest) * standard()):
        return Worth(cost, decomposed, "")
    return Worth(cost, decomposed, "the standard plan is estimated to cost less")


def _doubt(body: Body, node: int = FEW_VARIABLES) -> float:
    """The factor by which the estimate of a standard plan is distrusted, where a node has at most so many variables.

    The plan of a short body may be as bushy as a tree, so a tree has to promise half of its cost. That of a recursive one begins with what is new, and is
    made again as predicates grow: there is no more doubt about it than about a tree.
    """
    if len(body.reads) <= BUSHY_LIMIT:
        return 0.5
    if not body.once:
        return 1.0
    variables = {v for read in body.reads for v in read.variables}
    return float(DOUBT ** max(len(variables) - node, 0))


def _in_node(p: HypertreeNode, body: Body, unit: Table) -> float:
    """Joining λ(p), in whatever order is best, and counting the rows over χ(p)."""
    cost = p.join * (PROBE + PRODUCE)
    if len(p.atoms) > 2:
        reads = tuple(body.reads[i] for i in p.atoms)
        best = Ordering(Body(reads, needed=p.variables, once=body.once), unit).best()
        cost = min(cost, best.cost - best.sorting)
    return cost + p.rows * DEDUPLICATE


def _across(tree: Decomposition, ordering: Ordering) -> float:
    """The semi-joins of the full reducer, 2·(|p| + |q|) for an edge, and the cross-node join with early projection."""
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
