"""A stratum at work: its relations, its nonrecursive clauses made ready, and its modules. It lives as long as its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from modulog.engines.protocol import ModuleId, Relation, Work
from modulog.language.model import Predicate
from modulog.materialisation.facts import Facts
from modulog.modules.clauses import Evaluation, Prepared, prepare
from modulog.modules.decomposed import DecomposedClause, Pool, decide
from modulog.modules.exact import ExactClosure
from modulog.modules.hypertree import HypertreeModule
from modulog.modules.protocol import Module
from modulog.modules.registry import make_module
from modulog.planning.plan import Plan, Stratum

NONRECURSIVE: ModuleId = 0
"""The source of facts that nonrecursive rules derive; modules count from one."""


class LiveStratum:
    """What evaluation and maintenance need of one stratum; `first` is the number of its first module."""

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

    @property
    def rules(self) -> list[Prepared]:
        """The nonrecursive clauses; a view evaluates none."""
        return [] if self.is_view else self._copies

    @property
    def is_view(self) -> bool:
        """Whether the facts are shown rather than stored."""
        (predicate, *_) = self.predicates
        return predicate in self.facts.viewing and not self.relations[0].listed

    def consider_view(self) -> bool:
        """Become a view, if the relation finds that worth while."""
        view = self.facts.viewing.get(self.predicates[0])
        return view is not None and view.consider_view()

    def restore(self, relations: Iterator[Relation]) -> None:
        """Take what a store kept: external facts, and what the modules keep for themselves."""
        for predicate in self.predicates:
            if predicate in self.facts.external:
                self.facts.external[predicate] = next(relations)
        self._make_ready()
        for module in self.modules:
            module.restore([next(relations) for _ in module.relations()])

    def represent(self, rows: Mapping[Predicate, int]) -> bool:
        """What a store represents, with the number of its facts, is represented again; nothing is read yet. False if that cannot be."""
        (predicate, *_) = self.predicates
        if predicate not in rows:
            return True
        if predicate in self.facts.viewing:
            self.facts.viewing[predicate].look()
        closures = (module for module in self.modules if isinstance(module, ExactClosure))
        return all(module.represent_later(rows[predicate]) for module in closures)

    def _entering(self, clause: Prepared) -> Prepared:
        """Nonrecursive clauses derive the external facts of a closure, others the facts of the predicate itself."""
        return self.facts.entering(clause)

    @cached_property
    def explicit(self) -> list[Prepared]:
        """Explicit facts, of the predicates and of those that collapsed into them, as clauses that copy them."""
        return [self._entering(copy) for p in self.predicates for copy in self.facts.explicit_copies(p)]

    @property
    def kept(self) -> list[Relation]:
        """Everything that changes when the stratum's facts do: its relations, external facts, and what its modules keep."""
        return [*self.relations, *self.external, *(r for module in self.modules for r in module.relations())]

    @property
    def entry(self) -> list[Prepared]:
        """Everything that derives facts without recursion."""
        return [*self.rules, *self.explicit]

    @property
    def decided(self) -> list[DecomposedClause | Evaluation]:
        """How each nonrecursive clause is evaluated: along a tree, or by the standard plan; decided when they first run."""
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
        """Every clause that is known to be decomposed; one that never ran is not."""
        inside = [tree for m in self.modules if isinstance(m, HypertreeModule) for tree in m.trees]
        return [*(tree for tree in self._decided if isinstance(tree, DecomposedClause)), *inside]

    @property
    def given_up(self) -> list[DecomposedClause]:
        """The trees that clauses had before they went back to the standard plan."""
        return [
            *self._given_up,
            *(t for m in self.modules if isinstance(m, HypertreeModule) for t in m.given_up),
        ]

    def give_up_exceeded(self) -> bool:
        """Give up the trees of nonrecursive clauses whose tables have got too many rows; says whether there were any."""
        exceeded = [tree for tree in self.trees if tree.exceeded]
        self._given_up += exceeded
        self._decided = [d.standard if d in exceeded else d for d in self.decided]
        return bool(exceeded)

    def maintained_entry(self) -> list[Prepared]:
        """As `entry`, with decomposed clauses over the tables that updates maintain."""
        pool: Pool = {}
        if self.is_view:
            return self.explicit
        rules = [
            (found.tables or found.make_tables(True, pool)).crossing
            if isinstance(found, DecomposedClause)
            else made
            for made, found in zip(self._copies, self.decided, strict=True)
        ]
        return [*rules, *self.explicit]

    def enter(self) -> Iterator[Work]:
        """Explicit facts and nonrecursive consequences, as work."""
        self.consider_view()
        for clause in self.explicit:
            if clause.atoms[0].relation.size("after"):
                yield clause.evaluation(["after"], NONRECURSIVE).work()
        if self.is_view:
            return
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
        clauses = (*self.plan.entry, *self.plan.recursive)
        read = {a.predicate for c in clauses for a in (*c.atoms, *c.negations)} - set(self.predicates)
        relations = [*map(self.facts.relation, read), *(c.atoms[0].relation for c in self.explicit)]
        relations += [r for m in self.modules if isinstance(m, ExactClosure) for r in m.inputs()]
        return {id(relation): relation for relation in relations}

    def record_orders(self, plan: Plan, name: Callable[[int], str]) -> None:
        """Let the plan show how each clause was last evaluated."""
        entering = [e for e in self._decided if isinstance(e, Evaluation)]
        for e in (*entering, *(e for module in self.modules for e in module.evaluations())):
            plan.orders.setdefault(id(e.clause), []).append(partial(e.show, name))
        plan.trees |= {id(tree.clause): tree for tree in (*self.given_up, *self.all_trees)}
