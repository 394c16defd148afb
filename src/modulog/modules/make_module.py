"""Which class handles which kind of module: where a module of your own is named."""

from __future__ import annotations

from modulog.engines.relation import ModuleId
from modulog.modules.clause import Context
from modulog.modules.exact_closure import ExactClosure
from modulog.modules.hypertree_module import HypertreeModule
from modulog.modules.module import Module
from modulog.modules.seminaive import SeminaiveModule
from modulog.modules.symmetric_transitive import SymmetricModule
from modulog.modules.transitive import TransitiveModule
from modulog.planning.plan import ModulePlan, Stratum


def make_module(plan: ModulePlan, number: ModuleId, stratum: Stratum, context: Context) -> Module:
    """The module that a plan asks for."""
    if plan.exact:
        return ExactClosure(number, plan, stratum.predicates[0], context)
    if plan.kind == "transitive":
        return TransitiveModule(number, plan, context)
    if plan.kind == "symmetric":
        return SymmetricModule(number, plan, context)
    if plan.kind == "hypertree":
        mode, limit = stratum.decompose, stratum.table_rows
        return HypertreeModule(number, plan.clauses, stratum.predicates, context, mode, limit)
    return SeminaiveModule(number, plan.clauses, stratum.predicates, context)
