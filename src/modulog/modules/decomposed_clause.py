"""A clause evaluated along its hypertree decomposition, until a node's table gets far too many rows.

Without recursion a materialisation evaluates each node once and keeps nothing. Tables are made for the rounds
of a recursive stratum, and given up when it is done; at the first update they are made again, with numbers of
matches, and from then on they are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from modulog.algebra.expressions import Condition, Project, Rows
from modulog.engines.engine import Engine, Work
from modulog.engines.relation import ModuleId, Relation, Version
from modulog.joins.decompose import decompose
from modulog.joins.decomposition import Decomposition, HypertreeNode
from modulog.joins.decomposition_cost import is_cheap, weigh
from modulog.joins.hypergraph import may_be_decomposed
from modulog.joins.order import Body, order
from modulog.language.model import Variable
from modulog.modules.clause import Evaluation, Occurrence, Prepared
from modulog.modules.node_table import NodeTable, Pool, TreeTables
from modulog.modules.tree_join import Active, Crossing, heads
from modulog.planning.plan import Clause

ID_BYTES = 4
EXCESS = 8  # how many times the rows that were estimated a table may have before the tree is given up
FEW_ROWS = 100_000  # rows that it may have in any case; like the number above a choice, not a measurement


def decide(
    clause: Clause,
    prepared: Prepared,
    mode: str,
    engine: Engine,
    source: ModuleId,
    limit: int | None = None,
) -> DecomposedClause | Evaluation:
    """The clause along its cheapest tree, or its standard evaluation where that is expected to be cheaper.

    `mode` is "auto" (as said), "all" (a tree wherever there is one) or "off" (none). `limit` is the most rows
    that a table of the tree may have; without one, "auto" allows what is estimated and some more.
    """
    versions: list[Version] = ["all" if atom.own else "after" for atom in prepared.atoms]
    absent: list[Version] = ["after"] * len(prepared.negations)
    standard = prepared.evaluation(versions, source, absent)
    if not may_be_decomposed(clause, mode):
        return standard
    if "all" in versions:  # from the second round on, each evaluation begins with what is new
        standard.body = replace(standard.body, once=False)
    if mode != "all" and is_cheap(standard.body, standard.estimate):
        return standard
    sizes = {
        atom: place.relation.estimate(version)
        for atom, place, version in zip(clause.atoms, prepared.atoms, versions, strict=True)
    }
    recursive = [i for i, atom in enumerate(prepared.atoms) if atom.own]
    spelled, prepared = _spelled_out(clause, prepared)
    sizes |= dict(zip(spelled.atoms, map(sizes.__getitem__, clause.atoms), strict=True))
    tree, _ = decompose(spelled, sizes.__getitem__, recursive)
    assert tree is not None
    if mode != "all" and not weigh(tree, standard.body, standard.estimate, prepared.unit).pays:
        return standard
    bounded = mode != "all" or limit is not None
    return DecomposedClause(clause, prepared, tree, engine, source, standard, limit, bounded)


def _spelled_out(clause: Clause, prepared: Prepared) -> tuple[Clause, Prepared]:
    """The clause with names for anonymous arguments of recursive atoms, so that a node keeps them.

    `joins/decompose.py` says why it must.
    """
    atoms, places = list(clause.atoms), list(prepared.atoms)
    for i, (atom, place) in enumerate(zip(atoms, places, strict=True)):
        if place.own and place.projected:
            names = [f"_ {i} {j}" for j in range(len(place.args))]  # no variable of a program has a space
            args = tuple(names[j] if a is None else a for j, a in enumerate(place.args))
            terms = tuple(
                Variable(names[j]) if a is None else t
                for j, (a, t) in enumerate(zip(place.args, atom.terms, strict=True))
            )
            atoms[i], places[i] = replace(atom, terms=terms), replace(place, args=args)
    return replace(clause, atoms=tuple(atoms)), replace(prepared, atoms=tuple(places))


def expected_rows(p: HypertreeNode, projects: bool) -> float:
    """How many rows a node is estimated to find, with repetitions if several matches may give one row."""
    return max(p.join, p.rows) if projects else p.rows


class DecomposedClause:
    """A clause and its tree; `tables` while they are kept. `standard` is its evaluation without a tree.

    `given_up` says why the tree is not used any more. `seen` are then rows that a table has had: for its
    atoms and variables, at least how many.
    """

    def __init__(
        self,
        clause: Clause,
        prepared: Prepared,
        tree: Decomposition,
        engine: Engine,
        source: ModuleId,
        standard: Evaluation,
        limit: int | None = None,
        bounded: bool = False,
    ) -> None:
        self.clause, self.prepared, self.tree = clause, prepared, tree
        self.engine, self.source, self.standard = engine, source, standard
        self.limit, self.bounded = limit, bounded
        self.given_up = ""
        self.seen: dict[tuple[tuple[int, ...], tuple[str, ...]], int] = {}
        self.nodes = list(tree.nodes())
        number = {id(p): i for i, p in enumerate(self.nodes)}
        above = {id(child): number[id(p)] for p in self.nodes for child in p.children}
        self.parents = tuple(above.get(id(p), -1) for p in self.nodes)
        self.tables: TreeTables | None = None
        self.bytes = 0  # what the nodes took at most while nothing was kept

    def __str__(self) -> str:
        return str(self.tree)

    # ---- Giving the tree up

    def most(self, p: HypertreeNode) -> int | None:
        """The most rows that the table of a node may have; None if that does not matter."""
        if not self.bounded or self.limit is not None:
            return self.limit
        return max(FEW_ROWS, int(EXCESS * expected_rows(p, self.projects(p))))

    def give_up(self, p: HypertreeNode) -> None:
        """A node got more rows than it may have: the standard plan is taken from now on."""
        rows = expected_rows(p, self.projects(p))
        self.seen[p.atoms, p.table] = self.most(p) or 0
        names = ", ".join(f"?{v}" for v in p.table)
        self.given_up = f"more than {self.most(p):,} rows of {{{names}}}, ~{rows:,.0f} were expected"
        self.forget()

    @property
    def exceeded(self) -> bool:
        """Whether the table of some node has got too many rows; the tree is given up then."""
        for p, table in self.tables.by_node if self.tables is not None else ():
            if table is not None and table.exceeded:
                self.give_up(p)
                break
        return bool(self.given_up)

    # ---- The clauses that a tree makes of one

    def node_clause(self, p: HypertreeNode, relation: Relation) -> Prepared:
        """The clause that derives the rows of a node."""
        return replace(
            self.prepared,
            relation=relation,
            head=p.table,
            atoms=tuple(self.prepared.atoms[i] for i in p.atoms),
            negations=tuple(self.prepared.negations[i] for i in p.negations),
            conditions=self._conditions(p.comparisons),
            computed=(),
        )

    def projects(self, p: HypertreeNode) -> bool:
        """Whether several matches of the node's atoms may give the same row."""
        atoms = [self.prepared.atoms[i] for i in p.atoms]
        names = {a for atom in atoms for a in atom.args if isinstance(a, str)}
        return len(names) > len(p.table) or any(atom.projected for atom in atoms)

    def atom_of(self, p: HypertreeNode) -> Occurrence | None:
        """The only atom of a node, if its relation can serve as the node's table.

        It cannot if constants or repeated variables choose among its facts.
        """
        if len(p.atoms) > 1 or p.negations or p.comparisons:
            return None
        atom = self.prepared.atoms[p.atoms[0]]
        names = [a for a in atom.args if a is not None]
        return atom if len(set(names)) == len(names) and all(isinstance(a, str) for a in names) else None

    def crossing(self, tables: Sequence[NodeTable | None]) -> Crossing:
        """The clause that joins the tables."""
        made, tree = self.prepared, self.tree
        return Crossing(
            made.label,
            made.relation,
            made.head,
            tuple(
                self.prepared.atoms[p.atoms[0]]
                if table is None
                else Occurrence(table.relation, p.table, table.recursive)
                for p, table in zip(self.nodes, tables, strict=True)
            ),
            tuple(made.negations[i] for i in tree.negations),
            self._conditions(tree.comparisons),
            made.computed,
            made.unit,
            self.engine,
            self.parents,
        )

    def _conditions(self, comparisons: Sequence[int]) -> tuple[Condition, ...]:
        computed = self.clause.computed
        tests = [i for i, c in enumerate(self.clause.comparisons) if c.left not in computed]
        return tuple(self.prepared.conditions[tests.index(i)] for i in comparisons if i in tests)

    # ---- Evaluation

    def once(self) -> Work | None:
        """The whole clause as work, keeping no tables; None if nothing follows, or the tree is given up."""
        active, taken = list[Active](), 0
        for p in self.nodes:
            whole = self.node_clause(p, self.prepared.relation).whole("after", self.source)
            if whole.empty():
                return None
            if atom := self.atom_of(p):
                active.append(Active(atom.read("after"), atom.relation.size("after")))
                continue
            rows = order(whole.body, whole.unit)
            if len(self.nodes) == 1:
                active.append(Active(rows, 1))
                break
            most, found = self.most(p), Project(rows, p.table, "set" if self.projects(p) else "keep")
            table = self.engine.collect(found, most)
            if most is not None and len(table) > most:
                self.give_up(p)
            if not len(table) or self.given_up:
                return None
            active.append(Active(Rows(table), len(table)))
            taken += ID_BYTES * len(table) * len(p.table)
            self.bytes = max(self.bytes, taken)
        made, tree = self.prepared, self.tree
        absent = tuple(made.negations[i].read("after") for i in tree.negations)
        names = tuple(a for a in made.head if isinstance(a, str))
        late = Body((), absent, self._conditions(tree.comparisons), names, computed=made.computed)
        found = heads(self.engine, active, self.parents, late, made.head)
        return Work(made.relation, found, self.source, made.label)

    def make_tables(self, maintained: bool, pool: Pool) -> TreeTables:
        """Empty tables, or those of the pool; with numbers if they are to be `maintained`."""
        self.tables = TreeTables(self, maintained, pool)
        return self.tables

    def forget(self) -> None:
        """Drop the tables: facts were computed without them, or they are no longer needed."""
        if self.tables is not None:
            self.bytes = max(self.bytes, self.tables.memory())
        self.tables = None

    def commit(self) -> None:
        """Keep the tables as the update has left them."""
        for table in self.tables.nodes if self.tables is not None else ():
            table.commit()

    def rollback(self) -> None:
        """The tables are as before; if they were being made, there are none."""
        if self.tables is not None and not self.tables.built:
            self.tables = None
        for table in self.tables.nodes if self.tables is not None else ():
            table.rollback()
