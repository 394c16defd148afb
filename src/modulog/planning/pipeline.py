"""Program -> Plan, by a tuple of passes. The order of joins is the last: it waits for statistics, when a rule runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from modulog.language.model import Program
from modulog.planning.assign_modules import assign_modules
from modulog.planning.collapse import collapse
from modulog.planning.normalise import normalise
from modulog.planning.plan import Plan
from modulog.planning.stratify import stratify


@dataclass(frozen=True, slots=True)
class Switches:
    """What a user can turn off; `modules="off"` is the papers' plain algorithm: no collapsing, only seminaive modules."""

    modules: str = "auto"

    def __post_init__(self) -> None:
        if self.modules not in ("auto", "off"):
            raise ValueError(f'modules is "auto" or "off", not {self.modules!r}')


DEFAULT = Switches()


def _normalise(program: Program, plan: Plan, switches: Switches) -> Plan:
    return replace(plan, clauses=normalise(program.rules))


def _collapse(program: Program, plan: Plan, switches: Switches) -> Plan:
    if switches.modules == "off":
        return plan
    clauses, links = collapse(plan.clauses)
    return replace(plan, clauses=clauses, links=links)


def _stratify(program: Program, plan: Plan, switches: Switches) -> Plan:
    return replace(plan, strata=stratify(plan.clauses, (link.representative for link in plan.links.values())))


def _assign_modules(program: Program, plan: Plan, switches: Switches) -> Plan:
    return replace(plan, strata=assign_modules(plan.strata))


PASSES: tuple[Callable[[Program, Plan, Switches], Plan], ...] = (
    _normalise,
    _collapse,
    _stratify,
    _assign_modules,
)


def make_plan(program: Program, switches: Switches = DEFAULT) -> Plan:
    """Run every pass.

    >>> from modulog.language.parser import parse_program
    >>> print(make_plan(parse_program("p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?y) :- e(?x, ?y) .")))
    facts    e/2
    stratum 1: p/2 (recursive)
        p(?x, ?y) :- e(?x, ?y) .
      module seminaive
        p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .
    """
    plan = Plan((), predicates=frozenset(program.predicates()))
    for run in PASSES:
        plan = run(program, plan, switches)
    return plan
