"""Program -> Plan, by a tuple of passes. The order of joins is the last: it waits for statistics, when a rule runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from modulog.engines.protocol import REPRESENTABLE
from modulog.errors import OptionError
from modulog.language.model import Program
from modulog.language.triples import bridges
from modulog.planning.assign_modules import assign_modules
from modulog.planning.assign_storage import assign_storage
from modulog.planning.collapse import collapse
from modulog.planning.find_views import find_views
from modulog.planning.normalise import normalise
from modulog.planning.plan import Plan
from modulog.planning.stratify import stratify

CHOICES = {
    "modules": ("auto", "off"),
    "maintenance": ("auto", "dred", "dredc", "recompute"),
    "storage": ("auto", "plain", "compact"),
    "decompose": ("auto", "all", "off"),
}


@dataclass(frozen=True, slots=True)
class Switches:
    """What a user can choose.

    `modules="off"` is the papers' plain algorithm: no collapsing, only seminaive modules. `maintenance` is how updates are done: "dred" and
    "dredc" are the papers' baselines, "recompute" computes every stratum that a change reaches again.
    `storage="plain"` lists every fact; "auto" represents closures, components, unions and inverses where a list would be much larger, "compact"
    wherever that is possible. `decompose` is which bodies are evaluated along hypertree decompositions: where that is estimated to pay, all of two
    atoms or more that no closure takes, or none.
    A decomposed rule goes back to the standard plan when a table of its nodes gets more than `table_rows` rows; with "auto" the default is what was
    estimated and some more, with "all" there is none.
    A recursive stratum whose rules create values may need at most `value_rounds` rounds and give at most `value_facts` facts.
    """

    modules: str = "auto"
    maintenance: str = "auto"
    value_rounds: int = 10_000
    value_facts: int = 10_000_000
    storage: str = "auto"
    decompose: str = "auto"
    table_rows: int | None = None

    @property
    def compact(self) -> bool:
        """Whether facts may be represented rather than listed."""
        return self.modules != "off" and self.storage != "plain"

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if (chosen := getattr(self, name)) not in known:
                listed = " or ".join(f'"{choice}"' for choice in known)
                raise OptionError(f"{name} is {listed}, not {chosen!r}")
        for name in ("value_rounds", "value_facts", "table_rows"):
            number = getattr(self, name)
            if number is None and name == "table_rows":
                continue
            if type(number) is not int or number < 1:
                raise OptionError(f"{name} is a number above zero, not {number!r}")


DEFAULT = Switches()
LISTED = "listed: this engine has no views of unions and inverses"


def _normalise(program: Program, plan: Plan, switches: Switches) -> Plan:
    return replace(plan, clauses=normalise((*program.rules, *bridges(program))))


def _collapse(program: Program, plan: Plan, switches: Switches) -> Plan:
    if switches.modules == "off":
        return plan
    clauses, links = collapse(plan.clauses)
    return replace(plan, clauses=clauses, links=links)


def _find_views(program: Program, plan: Plan, switches: Switches) -> Plan:
    if not switches.compact:
        return plan
    if "views" not in plan.represents:
        if switches.storage == "compact":
            _, views, _ = find_views(plan.clauses, True)
            plan.storage.update(dict.fromkeys(views, lambda: LISTED))
        return plan
    clauses, views, owners = find_views(plan.clauses, switches.storage == "compact")
    return replace(plan, clauses=clauses, views=views, owners=owners)


def _stratify(program: Program, plan: Plan, switches: Switches) -> Plan:
    gathering = {link.representative for link in plan.links.values()} | set(plan.owners)
    return replace(plan, strata=stratify(plan.clauses, sorted(gathering)))


def _assign_modules(program: Program, plan: Plan, switches: Switches) -> Plan:
    strata = assign_modules(plan.strata, switches.modules != "off", switches.decompose)
    return replace(plan, strata=tuple(replace(s, table_rows=switches.table_rows) for s in strata))


def _assign_storage(program: Program, plan: Plan, switches: Switches) -> Plan:
    chosen = switches.storage if switches.compact else "plain"
    return replace(plan, strata=assign_storage(plan.strata, plan.views, chosen, plan.represents))


PASSES: tuple[Callable[[Program, Plan, Switches], Plan], ...] = (
    _normalise,
    _collapse,
    _find_views,
    _stratify,
    _assign_modules,
    _assign_storage,
)


def make_plan(
    program: Program, switches: Switches = DEFAULT, represents: frozenset[str] = REPRESENTABLE
) -> Plan:
    """Run every pass, for an engine that can represent some kinds of relations.

    >>> from modulog.language.parser import parse_program
    >>> print(make_plan(parse_program("p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?y) :- e(?x, ?y) .")))
    facts    e/2
    stratum 1: p/2 (recursive)
        p(?x, ?y) :- e(?x, ?y) .
      module right-linear closure
        p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .
    """
    plan = Plan((), predicates=frozenset(program.predicates()), represents=represents)
    for run in PASSES:
        plan = run(program, plan, switches)
    return plan
