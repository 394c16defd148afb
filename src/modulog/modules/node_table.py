"""The tables of a tree's nodes, kept as relations between rounds and updates (inst_p of the hypertree paper).

A table has the matches of λ(p), the atoms of its node, over the node's variables. Where several matches give
the same row, they are counted, each once (Π_p is a bag): a row goes when its number reaches zero, never
before. A table is a nonrecursive view of the relations its atoms read, so these numbers are exact also while
facts of a recursive stratum are over-deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from modulog.engines.engine import Engine, Work
from modulog.engines.relation import ModuleId, Version
from modulog.joins.decomposition import HypertreeNode
from modulog.modules.clause import Evaluation, Prepared
from modulog.modules.clause_changes import due, lost, rederivation, won
from modulog.modules.derivation_counts import Counting
from modulog.modules.seminaive import steps

if TYPE_CHECKING:
    from modulog.modules.decomposed_clause import DecomposedClause


class NodeTable:
    """A table and its changes, which are the Δ, `gone` and `come` of a relation.

    The clause derives the table's rows; `projects` says that several of its instances may give the same one.
    With `maintained`, these are counted. Once there are more than `limit` rows, or one evaluation has found
    more instances, the table is `exceeded`: it may be incomplete, and is not used.
    """

    def __init__(
        self,
        clause: Prepared,
        engine: Engine,
        source: ModuleId,
        projects: bool,
        maintained: bool,
        limit: int | None = None,
    ) -> None:
        self.limit, self.exceeded = limit, False
        self.clause, self.engine, self.source, self.relation = clause, engine, source, clause.relation
        self.recursive = any(atom.own for atom in clause.atoms)
        counts = projects and maintained
        self.counting = Counting(self.relation, [clause], engine, source) if counts else None
        self.built = self.changing = False
        self.users = 0  # the clauses that read it
        self._adding = steps(clause, source, "after", "after", counts)
        self._deleting = steps(clause, source, "kept", "either", counts)
        self._lost, self._won = lost(clause, source, counts), won(clause, source, counts)

    # ---- Whole tables

    def build(self, version: Version, own: Version | None = None) -> None:
        """Fill the empty table from the facts of a version; the stratum's own are read as `own`, if given."""
        if self.counting is not None:
            self._note(self.counting.count(self.limit))
            for table in self.counting.items():
                self.relation.schedule(table, self.source)
        else:
            everything = self.clause.whole(version, self.source, own=own)
            if not everything.empty():
                self._run([everything.work()])
        self.relation.derive()
        self.merge()
        self._note_size()
        self.relation.rest()
        self.built = True

    def begin(self) -> None:
        """Begin an update; a table that reads nothing of its own stratum is brought up to date at once."""
        self.relation.begin()
        self.changing = True
        if self.counting is not None:
            self.counting.begin()
        if not self.recursive:
            self.lose()
            self.merge()
            self.win()
            self.merge()
            self.relation.rest()

    # ---- Changes: each makes the Δ of the table; `merge` lets it join what is there, or leave it

    def add(self) -> None:
        """inst_p^{I:Δ⁺}: new rows that use a fact of Δ."""
        self._come(self._adding)

    def delete(self) -> None:
        """inst_p^{I:Δ⁻}: rows that lose their last match with the leaving Δ."""
        self._leave(self._deleting)

    def lose(self) -> None:
        """Rows that lose their last match with what changed below the stratum."""
        self._leave(self._lost)

    def win(self) -> None:
        """New rows that what changed below the stratum brings."""
        self._come(self._won)

    def merge(self) -> None:
        """Let Δ join the table, or leave it."""
        self.relation.merge()

    def _come(self, evaluations: Sequence[Evaluation]) -> None:
        self._schedule(evaluations, 1)
        self.relation.derive()
        self._note_size()

    def _leave(self, evaluations: Sequence[Evaluation]) -> None:
        self._schedule(evaluations, -1)
        if self.relation.derive(leaving=True) and self.counting is not None:
            self.relation.spare(self.counting.positive("delta"))

    def _schedule(self, evaluations: Sequence[Evaluation], sign: int) -> None:
        found = due(evaluations)
        if found:
            counting = self.counting
            self._run([e.work() for e in found] if counting is None else counting.change(found, sign))

    def _run(self, work: Sequence[Work]) -> None:
        self.engine.run(work, limit=self.limit)
        self._note(sum(w.rows or 0 for w in work))

    def _note_size(self) -> None:
        if self.limit is not None:
            self._note(self.relation.size("all"))

    def _note(self, rows: int) -> None:
        self.exceeded = self.exceeded or (self.limit is not None and rows > self.limit)

    # ---- The end of an update

    def commit(self) -> None:
        """Keep the table as the update has left it."""
        if self.changing:
            self.relation.commit()
        if self.counting is not None:
            self.counting.commit()
        self.changing = False

    def rollback(self) -> None:
        """Restore the table from before the update."""
        if self.changing:
            self.relation.rollback()
        if self.counting is not None:
            self.counting.rollback()
        self.changing = False

    def memory(self) -> int:
        """The bytes of the rows and their numbers."""
        counters = None if self.counting is None else self.counting.counters
        return self.relation.memory().bytes + (0 if counters is None else counters.memory().bytes)


Pool = dict[object, NodeTable]
"""Tables by what they hold: the heads of one rule share theirs."""


class TreeTables:
    """The tables of a clause's nodes, and the clause that joins them.

    A node with a single atom reads that atom's relation and has no table.
    """

    def __init__(self, clause: DecomposedClause, maintained: bool, pool: Pool) -> None:
        self.maintained = maintained
        tables = [self._table(clause, p, pool) if clause.atom_of(p) is None else None for p in clause.nodes]
        self.by_node = list(zip(clause.nodes, tables, strict=True))
        self.nodes = [table for table in tables if table is not None]
        self.crossing, self.source = clause.crossing(tables), clause.source
        self._steps: dict[tuple[Version, Version], list[Evaluation]] = {}

    def steps(self, below: Version, absent: Version) -> list[Evaluation]:
        """Cross-node evaluations: in turn each recursive table restricted to its Δ.

        The tables before it are read without their Δ, those after it with it (`seminaive.py`).
        """
        key = below, absent
        if key not in self._steps:
            self._steps[key] = steps(self.crossing, self.source, below, absent)
        return self._steps[key]

    @cached_property
    def lost(self) -> list[Evaluation]:
        """Evaluations that find what changes below the stratum take away."""
        return lost(self.crossing, self.source)

    @cached_property
    def won(self) -> list[Evaluation]:
        """Evaluations that find what changes below the stratum bring."""
        return won(self.crossing, self.source)

    @cached_property
    def rederivation(self) -> Evaluation:
        """The evaluation that finds over-deleted heads which the tables still give."""
        return rederivation(self.crossing, self.source)

    def _table(self, clause: DecomposedClause, p: HypertreeNode, pool: Pool) -> NodeTable:
        engine, relation = clause.engine, clause.prepared.relation
        asked = clause.node_clause(p, relation)
        places = [(id(a.relation), a.args) for a in (*asked.atoms, *asked.negations)]
        key = (*places, len(asked.atoms), asked.conditions, p.table)
        if key not in pool:
            own = replace(asked, relation=engine.relation(f"{relation.name} node", len(p.table)))
            projects, limit = clause.projects(p), clause.most(p)
            pool[key] = NodeTable(own, engine, clause.source, projects, self.maintained, limit)
        pool[key].users += 1
        return pool[key]

    @property
    def built(self) -> bool:
        """Whether every table was filled."""
        return all(table.built for table in self.nodes)

    def fill(self, version: Version, own: Version | None = None) -> None:
        """Fill all tables from the facts of a version, or until one has too many rows.

        The stratum's own facts are read in the version `own`, if it is given.
        """
        for table in self.nodes:
            if not table.built:
                table.build(version, own)
            if table.exceeded:
                return

    def begin(self) -> None:
        """Begin an update; the first one fills the tables with what held before it."""
        self.fill("before")
        for table in self.nodes:
            if table.built and not table.changing and not table.exceeded:
                table.begin()

    @property
    def recursive(self) -> list[NodeTable]:
        """The tables that change with the stratum's own facts."""
        return [table for table in self.nodes if table.recursive]

    def rest(self) -> None:
        """The rounds are over: let the last Δ join the tables."""
        for table in self.recursive:
            table.merge()
            table.relation.rest()

    def memory(self) -> int:
        """The bytes of all tables; of a table that several clauses share, an equal part."""
        return sum(table.memory() // table.users for table in self.nodes)
