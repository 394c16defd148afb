"""A stratum with its relations, its nonrecursive clauses and its modules, ready to be evaluated.

There are three kinds, and `live_stratum` chooses one. `maintenance/stratum_kinds.py` says how each is kept up
to date.

    LiveStratum    rules, nonrecursive ones and those of any number of modules
    LiveClosure    a closure that is all the recursion of its stratum; other rules derive its external facts
    LiveView       a union of relations and inverses, whose facts need not be stored

A fixpoint evaluates a `StratumGroup`: one stratum, or on a cluster several independent ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from modulog.engines.engine import Work
from modulog.engines.relation import ModuleId, Relation, Viewing
from modulog.evaluation.facts import Facts
from modulog.evaluation.observers import LoopObserver
from modulog.evaluation.statistics import StratumStatistics
from modulog.language.model import Predicate
from modulog.modules.clause import Evaluation, Prepared, prepare
from modulog.modules.decomposed_clause import DecomposedClause, decide
from modulog.modules.make_module import make_module
from modulog.modules.module import ExactModule, Module
from modulog.modules.node_table import Pool
from modulog.planning.plan import Plan, Stratum

NONRECURSIVE: ModuleId = 0
"""The source of facts that nonrecursive rules derive; modules count from one."""


def live_stratum(plan: Stratum, facts: Facts, first: ModuleId) -> LiveStratum:
    """A stratum of the plan over some facts; `first` is the number of its first module."""
    if plan.predicates[0] in facts.viewing:
        return LiveView(plan, facts, first)
    if plan.closure is not None:
        return LiveClosure(plan, facts, first)
    return LiveStratum(plan, facts, first)


class LiveStratum:
    """One stratum of the plan over the relations that hold its facts."""

    def __init__(self, stratum: Stratum, facts: Facts, first: ModuleId) -> None:
        self.plan, self.facts, self.first = stratum, facts, first
        self.predicates = stratum.predicates
        self._make_ready()

    def _make_ready(self) -> None:
        stratum, facts = self.plan, self.facts
        self.relations = [facts.relation(p) for p in stratum.predicates]
        self.external = [facts.external[p] for p in stratum.predicates if p in facts.external]
        self._copies = [self._entering(prepare(c, facts, stratum.predicates)) for c in stratum.entry]
        self.modules: list[Module] = [
            make_module(plan, number, stratum, facts)
            for number, plan in enumerate(stratum.modules, self.first)
        ]
        self._decided: list[DecomposedClause | Evaluation] = []
        self._given_up: list[DecomposedClause] = []

    def _entering(self, clause: Prepared) -> Prepared:
        """A nonrecursive clause with the relation that it derives facts of: that of its predicate."""
        return clause

    # ---- A stratum that was read from a store

    def restore(self, relations: Iterator[Relation]) -> None:
        """Use relations that were read from a store, in the order of `kept`, without those of predicates."""
        for module in self.modules:
            module.restore([next(relations) for _ in module.relations()])

    def represent(self, rows: Mapping[Predicate, int]) -> bool:
        """Represent the facts that a store has represented; False if that is impossible.

        `rows` has the number of facts of each represented predicate; the facts are computed at their first
        use.
        """
        return True

    # ---- Its clauses and relations

    @property
    def rules(self) -> list[Prepared]:
        """The nonrecursive clauses that are evaluated."""
        return self._copies

    @cached_property
    def explicit(self) -> list[Prepared]:
        """E ∩ Oˢ: clauses that copy the explicit facts of predicates, and of those collapsed into them."""
        return [self._entering(copy) for p in self.predicates for copy in self.facts.explicit_copies(p)]

    @property
    def kept(self) -> list[Relation]:
        """All relations that change with the stratum's facts: its own, external facts, those of modules."""
        return [*self.relations, *self.external, *(r for module in self.modules for r in module.relations())]

    @property
    def entry(self) -> list[Prepared]:
        """All clauses that derive facts without recursion."""
        return [*self.rules, *self.explicit]

    @property
    def decided(self) -> list[DecomposedClause | Evaluation]:
        """How each nonrecursive clause is evaluated, along a tree or by the standard plan.

        That is decided when they first run, from the sizes of what they read.
        """
        if not self._decided:
            mode, limit, engine = self.plan.decompose, self.plan.table_rows, self.facts.engine
            self._decided = [
                decide(clause, made, mode, engine, NONRECURSIVE, limit)
                for clause, made in zip(self.plan.entry, self._copies, strict=True)
            ]
        return self._decided

    @property
    def trees(self) -> list[DecomposedClause]:
        """The nonrecursive clauses that are decomposed."""
        return [tree for tree in self.decided if isinstance(tree, DecomposedClause)]

    @property
    def all_trees(self) -> list[DecomposedClause]:
        """All clauses that are decomposed now; what was not evaluated yet is not known to be."""
        inside = [tree for module in self.modules for tree in module.trees]
        return [*(tree for tree in self._decided if isinstance(tree, DecomposedClause)), *inside]

    @property
    def given_up(self) -> list[DecomposedClause]:
        """The trees that clauses had before they went back to the standard plan."""
        return [*self._given_up, *(tree for module in self.modules for tree in module.given_up)]

    def give_up_exceeded(self) -> bool:
        """Give up trees of nonrecursive clauses whose tables have too many rows; True if there were any."""
        exceeded = [tree for tree in self.trees if tree.exceeded]
        if exceeded:
            self._given_up += exceeded
            self._decided = [d.standard if d in exceeded else d for d in self.decided]
        return bool(exceeded)

    def maintained_entry(self) -> list[Prepared]:
        """As `entry`, with decomposed clauses over the tables that updates maintain."""
        pool: Pool = {}
        rules = [
            (found.tables or found.make_tables(True, pool)).crossing
            if isinstance(found, DecomposedClause)
            else made
            for made, found in zip(self._copies, self.decided, strict=True)
        ]
        return [*rules, *self.explicit]

    # ---- Evaluation

    def enter(self) -> Iterator[Work]:
        """(E ∩ Oˢ) ∪ Πₙᵣ[I]: explicit facts and what the nonrecursive rules derive, as work."""
        for clause in self.explicit:
            if clause.atoms[0].relation.size("after"):
                yield clause.evaluation(["after"], NONRECURSIVE).work()
        yield from self._evaluate_rules()

    def _evaluate_rules(self) -> Iterator[Work]:
        yield from (e.work() for e in self.decided if isinstance(e, Evaluation) and not e.empty())
        for tree in self.trees:
            if work := tree.once():
                yield work
            elif tree.given_up and not tree.standard.empty():
                yield tree.standard.work()
        self.give_up_exceeded()

    @cached_property
    def below(self) -> dict[int, Relation]:
        """The relations outside the stratum that its clauses read, by identity."""
        relations = [
            *map(self.facts.relation, self.plan.below),
            *(c.atoms[0].relation for c in self.explicit),
        ]
        return {id(relation): relation for relation in (*relations, *self._read_by_modules())}

    def _read_by_modules(self) -> Sequence[Relation]:
        """Relations that modules read besides those that their clauses name."""
        return ()

    def record_orders(self, plan: Plan, name: Callable[[int], str]) -> None:
        """Let the plan show how each clause was last evaluated."""
        entering = [e for e in self._decided if isinstance(e, Evaluation)]
        for e in (*entering, *(e for module in self.modules for e in module.evaluations())):
            plan.orders.setdefault(id(e.clause), []).append(partial(e.show, name))
        plan.trees |= {id(tree.clause): tree for tree in (*self.given_up, *self.all_trees)}


class LiveClosure(LiveStratum):
    """A closure that is all the recursion of its stratum: its external facts are a relation of their own."""

    def _make_ready(self) -> None:
        super()._make_ready()
        (module,) = self.modules
        assert isinstance(module, ExactModule)
        self.closure = module

    def _entering(self, clause: Prepared) -> Prepared:
        """A nonrecursive clause derives external facts."""
        (external,) = self.external
        return replace(clause, relation=external)

    def restore(self, relations: Iterator[Relation]) -> None:
        """Take the external facts, and what the module keeps for itself."""
        for predicate in self.predicates:
            self.facts.external[predicate] = next(relations)
        self._make_ready()
        super().restore(relations)

    def represent(self, rows: Mapping[Predicate, int]) -> bool:
        """Represent what follows from the external facts, if a store did."""
        (predicate,) = self.predicates
        return predicate not in rows or self.closure.represent_later(rows[predicate])

    def _read_by_modules(self) -> Sequence[Relation]:
        return self.closure.inputs()


class LiveView(LiveStratum):
    """A union of relations and inverses, which can show the facts of its parts instead of storing them."""

    @property
    def view(self) -> Viewing:
        """The relation, which can show the facts of its parts."""
        return self.facts.viewing[self.predicates[0]]

    @property
    def is_shown(self) -> bool:
        """Whether the facts are those of the parts, and none are stored."""
        return not self.relations[0].listed

    def consider_view(self) -> bool:
        """Compute the facts from the parts instead of listing them, if that is better; whether this is so."""
        return self.view.consider_view()

    def represent(self, rows: Mapping[Predicate, int]) -> bool:
        """Show the parts again, if a store did."""
        if self.predicates[0] in rows:
            self.view.look()
        return True

    @property
    def rules(self) -> list[Prepared]:
        """The clauses that copy the parts, unless these are shown."""
        return [] if self.is_shown else super().rules

    def maintained_entry(self) -> list[Prepared]:
        """What updates evaluate: nothing but explicit facts while the parts are shown."""
        return self.explicit if self.is_shown else super().maintained_entry()

    def enter(self) -> Iterator[Work]:
        """Show the parts, or copy their facts."""
        self.consider_view()
        yield from super().enter()

    def _evaluate_rules(self) -> Iterator[Work]:
        if not self.is_shown:
            yield from super()._evaluate_rules()


class StratumGroup:
    """The strata that one fixpoint evaluates, and how far it has come.

    That is one stratum, or several that are independent of each other: on a cluster a round costs a job
    however little it does, so such strata share their rounds (`Engine.shares_rounds`).

    Where the work of another process is resumed, `statistics` has its rounds, and `finished` says whether
    those were all.
    """

    def __init__(self, strata: Sequence[LiveStratum], facts: Facts) -> None:
        self.strata, self.facts = strata, facts
        predicates = [p for stratum in strata for p in stratum.predicates]
        self.name = ", ".join(p.name for p in predicates[:3])
        self.place = self.name  # what a cluster shows beside its jobs
        self.relations = [r for stratum in strata for r in stratum.relations]
        self.external = [r for stratum in strata for r in stratum.external]
        self.modules = [module for stratum in strata for module in stratum.modules]
        self.statistics = StratumStatistics(tuple(map(str, predicates)), bool(self.modules))
        self.finished = False

    @property
    def kept(self) -> list[Relation]:
        """Everything that changes while the strata are evaluated."""
        return [relation for stratum in self.strata for relation in stratum.kept]

    # ---- What the loop needs

    def first_delta(self, observer: LoopObserver) -> int:
        """Make the first Δ of explicit facts and nonrecursive rules, or resume one; returns its size."""
        if self.statistics.rounds:
            return sum(r.size("delta") for r in (*self.relations, *self.external))
        return self.next_delta((work for stratum in self.strata for work in stratum.enter()), observer)

    def next_delta(self, work: Iterable[Work], observer: LoopObserver) -> int:
        """One round: evaluate the work over I and Δ, let Δ join I, make the next Δ; returns its size."""
        observer.round_begins()
        with self.facts.engine.described(f"{self.place}, round {len(self.statistics.rounds)}"):
            asked = list(work)  # decomposed rules evaluate their nodes now, and that is part of the round
            self.facts.engine.run(asked, lazily=not self.modules)
            for relation in (*self.relations, *self.external):
                relation.merge()
            new, external = (sum([r.derive() for r in group]) for group in (self.relations, self.external))
        observer.round_ends(asked, new)
        return new + external

    def finish(self) -> None:
        """The fixpoint is reached: relations and modules may drop what only rounds need."""
        for relation in (*self.relations, *self.external):
            relation.rest()
        for module in self.modules:
            module.rest()
        self.finished = True

    # ---- What statistics and plans need

    def recount(self) -> None:
        """Replace the estimate for rules that were evaluated lazily by the number of facts that there are."""
        if not self.modules and self.statistics.rounds:
            self.statistics.rounds[0].facts = sum(relation.size("all") for relation in self.relations)

    def node_bytes(self) -> int:
        """What the tables of decomposed rules took, at most."""
        return sum(tree.bytes for stratum in self.strata for tree in stratum.all_trees)
