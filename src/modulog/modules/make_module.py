"""Makes the modules that a plan asks for: `MAKERS` is where a module of your own is named."""

from __future__ import annotations

from collections.abc import Callable

from modulog.engines.relation import ModuleId
from modulog.modules.clause import Context
from modulog.modules.exact_closure import ExactClosure
from modulog.modules.hypertree_module import HypertreeModule
from modulog.modules.module import Module
from modulog.modules.seminaive import SeminaiveModule
from modulog.modules.symmetric_transitive import SymmetricModule
from modulog.modules.transitive import TransitiveModule
from modulog.planning.plan import ModulePlan, Stratum


def _hypertree(plan: ModulePlan, number: ModuleId, stratum: Stratum, context: Context) -> Module:
    mode, limit = stratum.decompose, stratum.table_rows
    return HypertreeModule(number, plan.clauses, stratum.predicates, context, mode, limit)


def _seminaive(plan: ModulePlan, number: ModuleId, stratum: Stratum, context: Context) -> Module:
    return SeminaiveModule(number, plan.clauses, stratum.predicates, context)


MAKERS: dict[str, Callable[[ModulePlan, ModuleId, Stratum, Context], Module]] = {
    "hypertree": _hypertree,
    "seminaive": _seminaive,
    "symmetric": lambda plan, number, _, context: SymmetricModule(number, plan, context),
    "transitive": lambda plan, number, _, context: TransitiveModule(number, plan, context),
}
"""For each kind of module the function that makes it from its plan, its number, its stratum and the facts."""


def make_module(plan: ModulePlan, number: ModuleId, stratum: Stratum, context: Context) -> Module:
    """The module that a plan asks for."""
    if plan.exact:
        return ExactClosure(number, plan, context)
    return MAKERS[plan.kind](plan, number, stratum, context)
