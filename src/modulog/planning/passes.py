"""Makes the plan of a program by the passes in `PASSES`.

Join orders are not part of it: they are chosen when a rule is evaluated and the sizes of the relations are
known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args, get_origin, get_type_hints

from modulog.engines.schemes import REPRESENTABLE
from modulog.errors import OptionError
from modulog.language.model import Program
from modulog.planning.assign_modules import assign_modules
from modulog.planning.assign_storage import assign_storage, find_views
from modulog.planning.merge_equivalent import collapse
from modulog.planning.normalise import normalise
from modulog.planning.plan import Plan
from modulog.planning.stratify import stratify


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Switches:
    """How rules are planned and evaluated, for `Reasoner(…, switches=…)`; mostly to compare algorithms.

    Results are the same whatever is switched; the defaults are almost always right.

    Args:
        modules: "off" is the papers' plain algorithm: predicates are not merged, all modules are seminaive.
        maintenance: How updates are done: "dred" and "dredc" are the papers' baselines, "recompute" computes
            every stratum that a change reaches again.
        storage: "plain" lists every fact; "auto" stores closures, components, unions and inverses in a
            compact form where a list would be much larger, "compact" wherever that is possible.
        decompose: Which bodies are evaluated along hypertree decompositions: those for which it is estimated
            to be cheaper ("auto"), all of at least two atoms that are in no closure ("all"), or none ("off").
        table_rows: A decomposed rule goes back to the standard plan if the table of a node gets more rows; by
            default, the limit is somewhat above the estimate with "auto", and there is none with "all".
        value_rounds: A recursive stratum whose rules create values (`?y = ?x + 1`) stops with an error if it
            needs more rounds.
        value_facts: The same, if it derives more facts.

    >>> Switches(storage="plain")
    Switches(storage='plain')
    >>> Switches(storage="plane")
    Traceback (most recent call last):
    modulog.errors.OptionError: storage is "auto" or "plain" or "compact", not 'plane'
    """

    modules: Literal["auto", "off"] = "auto"
    maintenance: Literal["auto", "dred", "dredc", "recompute"] = "auto"
    storage: Literal["auto", "plain", "compact"] = "auto"
    decompose: Literal["auto", "all", "off"] = "auto"
    table_rows: int | None = None
    value_rounds: int = 10_000
    value_facts: int = 10_000_000

    def __repr__(self) -> str:
        chosen = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return (
            f"Switches({', '.join(f'{name}={value!r}' for name, value, usual in chosen if value != usual)})"
        )

    @property
    def compact(self) -> bool:
        """Whether facts may be stored in a compact form instead of as a list."""
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


CHOICES = {
    name: get_args(hint) for name, hint in get_type_hints(Switches).items() if get_origin(hint) is Literal
}
"""The values of the switches that have only a few."""

DEFAULT = Switches()
LISTED = "listed: this engine represents no closures, unions or inverses"


def _normalise(program: Program, plan: Plan, switches: Switches) -> Plan:
    return replace(plan, clauses=normalise(program.all_rules))


def _collapse(program: Program, plan: Plan, switches: Switches) -> Plan:
    if switches.modules == "off":
        return plan
    clauses, links = collapse(plan.clauses)
    return replace(plan, clauses=clauses, links=links)


def _find_views(program: Program, plan: Plan, switches: Switches) -> Plan:
    if not switches.compact:
        return plan
    if "views" not in plan.represents:
        _, views, _ = find_views(plan.clauses, switches.storage == "compact")
        plan.storage.update(dict.fromkeys(views, lambda: LISTED))
        return plan
    clauses, views, owners = find_views(plan.clauses, switches.storage == "compact")
    return replace(plan, clauses=clauses, views=views, owners=owners)


def _stratify(program: Program, plan: Plan, switches: Switches) -> Plan:
    without_rules = {link.representative for link in plan.links.values()} | set(plan.owners)
    return replace(plan, strata=stratify(plan.clauses, sorted(without_rules)))


def _assign_modules(program: Program, plan: Plan, switches: Switches) -> Plan:
    strata = assign_modules(plan.strata, switches.modules != "off", switches.decompose)
    return replace(plan, strata=tuple(replace(s, table_rows=switches.table_rows) for s in strata))


def _assign_storage(program: Program, plan: Plan, switches: Switches) -> Plan:
    chosen = switches.storage if switches.compact else "plain"
    strata = assign_storage(plan.strata, plan.views, chosen, plan.represents)
    for wanted, found in zip(assign_storage(plan.strata, plan.views, chosen), strata, strict=True):
        plan.storage.update(dict.fromkeys(wanted.schemes.keys() - found.schemes.keys(), lambda: LISTED))
    return replace(plan, strata=strata)


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
    """The plan of a program; `represents` are the kinds of compact storage that the engine has.

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
